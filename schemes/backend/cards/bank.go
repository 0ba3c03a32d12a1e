package cards

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// card is the payment type of cards.
const card = webhooks.TypeCard

// refused makes a business refusal; its text is the catalogue's.
func refused(op, reason string) error {
	for _, p := range payments.Problems() {
		if p.Reason == reason {
			return payments.Refused(op, reason, strings.ToLower(p.Title[:1])+p.Title[1:])
		}
	}
	return payments.Refused(op, reason, reason)
}

// past says that a card is no longer good: its last day is the last of its month.
func past(year, month int32, nowMS int64) bool {
	now := time.UnixMilli(nowMS).UTC()
	return int(year)*12+int(month) < now.Year()*12+int(now.Month())
}

// cardMeans takes a card in: only those of the table, with a date that is not past. The number goes into the vault.
func (c *Cards) cardMeans(tx store.Tx, op string, pan wire.PAN, year, month int32, now int64) (*means, scenario.Card, error) {
	row, ok := scenario.CardOf(pan.Reveal())
	switch {
	case !ok:
		return nil, row, payments.Refused(op, payments.CardNotAccepted, "not a test card; see: posagent backend cards")
	case past(year, month, now):
		return nil, row, refused(op, payments.CardExpired)
	}
	mac, err := c.keep(tx, pan, now)
	return &means{Method: row.Brand, PayType: card, Row: row.Name, Card: mac, Masked: pan.Masked(), Year: year, Month: month}, row, err
}

// keep puts a number into the vault, once, and gives its keyed hash.
func (c *Cards) keep(tx store.Tx, pan wire.PAN, now int64) (string, error) {
	const table = "cards_card"
	mac := hex.EncodeToString(c.DB.MAC(table, "pan", pan.Reveal()))
	var n int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM cards_card WHERE mac = ?`, mac).Scan(&n)
	if err != nil || n > 0 {
		return mac, err
	}
	sealed, err := c.DB.Seal(tx, store.Cell{Table: table, Key: mac, Column: "pan"}, []byte(pan.Reveal()))
	if err == nil {
		_, err = tx.Exec(`INSERT INTO cards_card (mac, masked, pan, created_ms) VALUES (?, ?, ?, ?)`, mac, pan.Masked(), sealed, now)
	}
	if err != nil {
		return "", fmt.Errorf("store card: %w", err)
	}
	return mac, nil
}

// chosen is what a customer pays with, and what it costs extra.
type chosen struct {
	*means
	fee int32
}

// identify judges what the customer filled in.
func (c *Cards) identify(tx store.Tx, p *payment, g given, now int64) (m chosen, err error) {
	if g.Card == nil {
		return p.elsewhere(g)
	}
	var row scenario.Card
	if m.means, row, err = c.cardMeans(tx, opPage, g.Card.PAN, g.Card.ExpiryYear, g.Card.ExpiryMonth, now); err != nil {
		return m, err
	}
	var ok bool
	if m.fee, ok = p.accepts(m.Method, row, g.Card.PAN.Reveal()); !ok || p.Details == payments.Sofort {
		return m, refused(opPage, payments.CardNotAccepted)
	}
	return m, nil
}

// elsewhere judges a way of paying that is no card: one of those the page offers.
func (p *payment) elsewhere(g given) (m chosen, err error) {
	m.means = &means{Method: g.Method, PayType: webhooks.TypeA2A}
	switch iban := g.IBAN.Reveal(); {
	case g.Method == sofort:
	case g.Method == wallet:
		m.PayType = webhooks.TypeWallet
	case g.Method == invoice:
		m.PayType = webhooks.TypeInvoice
	case g.Method == sepa && len(iban) > 6:
		m.Masked = maskIBAN(iban)
	default:
		return m, refused(opPage, payments.PaymentDetailsMissing)
	}
	for _, c := range p.choices() {
		if c.Method == g.Method {
			m.fee = c.Fee
			return m, nil
		}
	}
	return m, refused(opPage, payments.CardNotAccepted)
}

func maskIBAN(s string) string { return s[:2] + strings.Repeat("*", len(s)-6) + s[len(s)-4:] }

// invoiced says that the page may offer an invoice.
func (p *payment) invoiced() bool { return len(p.Order.Basket) > 0 && p.private != nil }

// accepts goes through the merchant's action list (S0 2.4.3): a rejecting entry that fits refuses; where any entry allows,
// one must fit. A card's bin is its number; without one only the method's name counts.
func (p *payment) accepts(method string, row scenario.Card, bin string) (fee int32, ok bool) {
	if p.Order.Config == nil {
		return 0, true
	}
	allows, fits := false, false
	for _, a := range p.Order.Config.PaymentMethodActionInfoList {
		reject := a.Action == "Reject"
		allows = allows || !reject
		match := a.PaymentMethod == "" || a.PaymentMethod == method
		if row.Name == "" && reject { // an offer: a rejection of some cards only rejects no method
			match = match && a.PaymentMethod != "" && (a.CardType == "" || a.CardType == "All") && a.CardOrigin == "" && a.Bin == 0 && a.CardProductType != "Corporate" && a.CardProductType != "Private"
		}
		if row.Name != "" {
			match = match && (a.CardType == "" || a.CardType == "All" || (a.CardType == "Debit") == row.Debit) &&
				(a.CardOrigin == "" || a.CardOrigin == row.Origin || a.CardOrigin == "International" && row.Origin != "Domestic") &&
				a.CardProductType != "Corporate" && (a.Bin == 0 || strings.HasPrefix(bin, strconv.Itoa(int(a.Bin))))
		}
		switch {
		case match && reject:
			return 0, false
		case match && !fits:
			fits, fee = true, a.Fee
		}
	}
	return fee, fits || !allows
}

// choices are the methods the page offers, in the order of payments.Methods.
func (p *payment) choices() []choice {
	var list []choice
	for _, m := range payments.Methods() {
		fee, ok := p.accepts(m, scenario.Card{}, "")
		if !ok || p.Details == payments.Sofort && m != sofort || p.Details == payments.InitialToken && (m == sepa || m == sofort || m == wallet) {
			continue
		}
		ch := choice{Method: m, Fee: fee}
		seen := false
		for _, row := range scenario.Cards() { // a card's fee hangs on more than its brand
			if fee, ok := p.accepts(m, row, row.PAN); row.Brand == m && ok {
				if !seen || fee < ch.Fee {
					ch.Fee = fee
				}
				seen, ch.Most = true, max(ch.Most, fee)
			}
		}
		if ch.Most <= ch.Fee {
			ch.Most = 0
		}
		if cfg := p.Order.Config; cfg != nil {
			for _, a := range cfg.PaymentMethodActionInfoList {
				if a.PaymentMethod == m && a.Name != "" {
					ch.Name = a.Name
				}
			}
		}
		list = append(list, ch)
	}
	if p.invoiced() && p.Details == "" {
		list = append(list, choice{Method: invoice})
	}
	return list
}

// verdict is the bank's word on a reservation, "" = approved.
func (p *payment) verdict(now int64) string {
	switch do := p.do(); {
	case p.Means != nil && p.Means.PayType == card && past(p.Means.Year, p.Means.Month, now) || do == scenario.OldCard:
		return payments.CardExpired
	case do == scenario.HardDecline:
		return payments.HardDecline
	case do == scenario.SoftDecline && p.Tries == 0, do == scenario.NoFunds, do == scenario.ReserveFails:
		return payments.PaymentReserveMethodFailed
	}
	return ""
}

// process does what the merchant asked to be done as soon as the means are known (S0 2.4).
func (c *Cards) process(tx store.Tx, p *payment, now int64) error {
	if p.Processing == "" || p.Processing == payments.ProcessNone {
		return nil
	}
	if p.Processing == payments.ProcessVerify {
		if reason := p.verdict(now); reason != "" {
			return c.refuse(tx, p, p.Amount, refused("payments.create", reason), now)
		}
		return nil
	}
	sale := p.Processing == payments.ProcessSale
	if sale && p.do() == scenario.CaptureFails { // a sale is one thing: nothing stays reserved
		return c.refuseCharge(tx, p, newOp(p, capture, p.Amount, "", "", now), nil, now)
	}
	if err := c.reserve(tx, p, newOp(p, authorize, p.Amount, p.Order.Description, "", now), now); err != nil || !sale {
		return err
	}
	return c.take(tx, p, newOp(p, capture, p.Amount, p.Order.Description, "", now), nil, now)
}

// refuse records that a reservation was refused, tells, and gives the refusal back.
func (c *Cards) refuse(tx store.Tx, p *payment, amount int32, why error, now int64) error {
	p.Tries++
	if err := c.tellMove(tx, p, now, webhooks.ReservationFailed, &operation{amount: amount}, why, nil); err != nil {
		return err
	}
	return why
}

// reserve holds money (S0 3 rule 1).
func (c *Cards) reserve(tx store.Tx, p *payment, o *operation, now int64) error {
	const op = "payments.authorize"
	to, reason := next(p.state, Reserve)
	switch {
	case reason != "":
		return refused(op, reason)
	case o.amount > p.Amount || o.amount <= 0:
		return refused(op, payments.OverCharge)
	case !payable(p.Currency):
		return refused(op, payments.CurrencyNotPayable)
	}
	if reason := p.verdict(now); reason != "" {
		return c.refuse(tx, p, o.amount, refused(op, reason), now)
	}
	if err := journal.OpenFee(tx, Service, p.id, p.Currency, money.Minor(p.Amount), money.Minor(p.Fee)); err != nil {
		return err
	}
	if err := post(tx, o, now, books.Authorize, o.amount); err != nil {
		return err
	}
	p.state, p.PageMS, p.HoldMS, p.Reason = to, 0, now+c.opt.Hold.Milliseconds(), ""
	if p.do() == scenario.Lapse {
		p.HoldMS = now + lapseTime.Milliseconds()
	}
	if err := o.insert(tx); err != nil {
		return err
	}
	return c.tellReserved(tx, p, o, now)
}

// take collects what is reserved (S0 3 rule 2).
func (c *Cards) take(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	const op = "payments.capture"
	to, reason := next(p.state, Capture)
	if reason != "" {
		return refused(op, reason)
	}
	l, err := ledger(tx, p.id)
	switch {
	case err != nil:
		return err
	case l.Reserved == 0:
		return refused(op, payments.AlreadyCharged)
	case o.amount > int32(l.Reserved):
		return refused(op, payments.OverCharge)
	case p.Means.PayType == webhooks.TypeInvoice && len(basket) == 0 && p.state == Reserved && p.Processing != payments.ProcessSale:
		return refused(op, payments.OrderItemsMissing)
	case !fits(basket, o.amount):
		return differs(op)
	case p.do() == scenario.CaptureFails:
		return c.refuseCharge(tx, p, o, basket, now)
	}
	if err := post(tx, o, now, books.Capture, o.amount); err != nil {
		return err
	}
	if p.state = to; o.amount == int32(l.Reserved) {
		p.HoldMS = 0
	}
	if p.Charge == "" {
		p.Charge = o.ref
	}
	if err := o.insert(tx); err != nil {
		return err
	}
	return c.tellMove(tx, p, now, webhooks.ChargeCreated, o, nil, basket)
}

// fits says whether a basket, where there is one, is what moves. The contract sees to it only where the call names an amount.
func fits(basket []payments.BasketItem, amount int32) bool {
	total, err := payments.BasketTotal(basket)
	return len(basket) == 0 || err == nil && total.Fits(money.Minor(amount))
}

func differs(op string) error {
	return &wire.Error{Code: wire.Invalid, Reason: payments.AmountDiffersFromOrderItems, Op: op, Msg: "basket: its total is not what is left"}
}

func (c *Cards) refuseCharge(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	why := refused("payments.capture", payments.PaymentMethodChargeFailed)
	if err := c.tellMove(tx, p, now, webhooks.ChargeFailed, o, why, basket); err != nil {
		return err
	}
	return why
}

// void gives the reservation up (S0 3 rule 3).
func (c *Cards) void(tx store.Tx, p *payment, o *operation, now int64) error {
	const op = "payments.cancel"
	to, reason := next(p.state, Cancel)
	if reason != "" {
		return refused(op, reason)
	}
	l, err := ledger(tx, p.id)
	if err != nil {
		return err
	}
	o.amount = int32(l.Reserved)
	var why error
	name := webhooks.CancelCreated
	if p.do() == scenario.CancelFails {
		why, name = payments.Refused(op, "", "cancellation refused by the bank"), webhooks.CancelFailed
	} else {
		if err := post(tx, o, now, books.Close, 0); err != nil {
			return err
		}
		p.state, p.HoldMS = to, 0
		if err := o.insert(tx); err != nil {
			return err
		}
	}
	if err := c.tellMove(tx, p, now, name, o, why, nil); err != nil {
		return err
	}
	return why
}

// giveBack begins a refund.
func (c *Cards) giveBack(tx store.Tx, p *payment, o *operation, basket []payments.BasketItem, now int64) error {
	const op = "payments.refund"
	to, reason := next(p.state, Refund)
	if reason != "" {
		return refused(op, reason)
	}
	l, err := ledger(tx, p.id)
	if err != nil {
		return err
	}
	if o.amount == 0 {
		o.amount = int32(l.Rest())
	}
	switch {
	case l.Rest() == 0:
		return refused(op, payments.PaymentAlreadyRefunded)
	case !fits(basket, o.amount):
		return differs(op)
	case p.do() == scenario.RefundNo:
		why := refused(op, payments.RefundFailed)
		if err := c.tellMove(tx, p, now, webhooks.RefundFailed, o, why, basket); err != nil {
			return err
		}
		return why
	}
	err = post(tx, o, now, books.BeginRefund, o.amount)
	if errors.Is(err, books.ErrRest) {
		return refused(op, payments.InvalidRefundAmount)
	}
	if err != nil {
		return err
	}
	p.state, o.state, o.due = to, pending, now+refundTime.Milliseconds()
	p.Refunding++
	if p.RefundMS == 0 || o.due < p.RefundMS {
		p.RefundMS = o.due
	}
	if err := o.insert(tx); err != nil {
		return err
	}
	return c.tellMove(tx, p, now, webhooks.RefundInitiated, o, nil, basket)
}
