package payments

import (
	"strconv"
	"strings"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// given is what the customer filled in. Either Card, or Method: sepa (with IBAN), sofort, wallet or invoice.
type given struct {
	Card   *payments.CardDetails
	Method string
	IBAN   wire.Secret
	IP     string // of the customer
}

// choice is a method the page offers. A card's fee and acceptance depend on the card, too.
type choice struct {
	Method string // of payments.Methods, or invoice
	Name   string // the merchant's own name for it, may be ""
	Fee    int32  // minor units; of the cheapest test card of a card scheme
	Most   int32  // of the dearest, where that is more; 0 otherwise
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
