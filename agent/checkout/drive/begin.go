package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"posagent/agent/catalog"
	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Begin implements ecr.Desk.
func (d *Drive) Begin(ctx context.Context, req ecr.Request) (ecr.Sale, error) {
	sale, err := d.begin(ctx, req)
	return sale, d.inLanguage(err)
}

func (d *Drive) begin(ctx context.Context, asked ecr.Request) (ecr.Sale, error) {
	req := d.kept(asked)
	req.Currency = cmp.Or(req.Currency, d.cfg.Currency)
	if err := d.resumedBy(ctx); err != nil {
		if sale, ok := d.joinEnded(ctx, req, asked); ok {
			return sale, nil
		}
		return ecr.Sale{}, err
	}
	d.desk.Lock()
	defer d.desk.Unlock()
	known, reuse, err := d.known(ctx, req, asked)
	switch { // before anything else is judged: what was done under its id is told whatever the terminal can do now
	case err != nil:
		return ecr.Sale{}, err
	case known != "":
		sale, err := d.joinKnown(ctx, known)
		return sale, d.stored(err)
	case req.Repeat:
		return ecr.Sale{}, ecr.ErrNone
	}
	if err := d.barring(); err != nil {
		if sale, ok := d.joinRepeated(ctx, req); ok {
			return sale, nil
		}
		return ecr.Sale{}, err
	}
	if reserved, ok := d.db.(interface{ Reserved(context.Context) error }); ok {
		if err := reserved.Reserved(ctx); err != nil {
			if sale, ok := d.joinUnwritten(ctx, req); ok {
				return sale, nil
			}
			d.log.Error("nothing accepted", "error", err)
			if errors.Is(err, store.ErrDisplaced) {
				return ecr.Sale{}, refuse(ecr.NotStored, "the journal was removed or replaced")
			}
			return ecr.Sale{}, refuse(ecr.NotStored, "the journal cannot be written")
		}
	}
	if err := d.acceptable(req); err != nil {
		return ecr.Sale{}, err
	}
	a := &accepting{d: d, req: req, wrote: asked.Sequence, key: d.keyOf(asked, reuse), reuse: reuse}
	if req.Kind == ecr.Payment {
		if err := a.choose(); err != nil {
			return ecr.Sale{}, err
		}
	}
	sale, err := a.accept(ctx)
	if no := (refusal{}); errors.As(err, &no) && no.Code == ecr.NotStored {
		if sale, ok := d.joinUnwritten(ctx, req); ok {
			return sale, nil
		}
	}
	return sale, err
}

// barring says why nothing new may begin now; nil = it may.
func (d *Drive) barring() error {
	if d.isClosing() {
		return refuse(ecr.NotReady, "end of day is running")
	}
	if d.resting {
		return refuse(ecr.NotReady, "the terminal restarts")
	}
	switch d.barred() {
	case Unconfirmed:
		return refuse(ecr.NotReady, "the operator has not confirmed this terminal yet")
	case Replaced:
		return refuse(ecr.NotReady, "this box is not the terminal any more")
	}
	return nil
}

// resumedBy waits for a while until every sale of the journal has been taken up: a request may
// repeat one of them, and refused it would be taken for one that was never accepted.
func (d *Drive) resumedBy(ctx context.Context) error {
	if !d.ready.Load() {
		t := time.NewTimer(holdBegin)
		defer t.Stop()
		select {
		case <-d.resumed:
		case <-t.C:
			return refuse(ecr.Resuming, "older sales are being resumed")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !d.ready.Load() { // it has stopped
		return refuse(ecr.NotReady, "stopping")
	}
	return nil
}

// acceptable checks what can be checked without the journal.
func (d *Drive) acceptable(req ecr.Request) error {
	c, known := money.Lookup(req.Currency)
	switch {
	case req.Currency != d.cfg.Currency:
		return refuse(ecr.WrongCurrency, "this terminal takes %s", d.cfg.Currency)
	case !known || !c.Payable():
		return refuse(ecr.WrongCurrency, "%s cannot be paid with", req.Currency)
	case req.Amount < 0, req.Amount > 999_999_999_999:
		return refuse(ecr.AmountWrong, "amount out of range")
	}
	if _, err := money.ToHundredths(req.Amount, c); err != nil {
		return refuse(ecr.AmountWrong, "the backend takes whole hundredths only")
	}
	var sum money.Minor
	for _, l := range req.Lines {
		total, err := money.Add(sum, l.Gross)
		if err != nil {
			return refuse(ecr.AmountWrong, "order lines out of range")
		}
		sum = total
	}
	if len(req.Lines) > 0 && req.Kind == ecr.Payment && sum != req.Amount {
		return refuse(ecr.AmountWrong, "the order lines come to %s", perform.Amount(d.cfg.Language, sum, req.Currency))
	}
	switch req.Kind {
	case ecr.Payment, ecr.Reversal:
	case ecr.Refund:
		if req.Amount == 0 {
			return refuse(ecr.AmountWrong, "a refund needs an amount")
		}
	default:
		return refuse(ecr.Impossible, "unknown kind of sale")
	}
	return nil
}

// sameBody compares what makes a request with an id of its own the same: type, amount, currency,
// original and reference.
func sameBody(row *journal.Row, req ecr.Request) bool {
	return sameKind(row, req) && (req.Amount == 0 || row.Amount == req.Amount) && row.Currency == req.Currency &&
		(req.Kind == ecr.Payment || row.Asked == askedFor(req)) && row.State.Till.Reference == req.Reference
}

// stored turns an error of the journal into a refusal.
func (d *Drive) stored(err error) error {
	var r *ecr.Refusal
	switch {
	case err == nil, errors.As(err, &r), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, journal.ErrQuarantined):
		return refuse(ecr.SystemError, "%s", ecr.HeldText(d.cfg.Language))
	}
	d.log.Error("nothing accepted", "error", err)
	return refuse(ecr.NotStored, "the journal cannot be written")
}

// accepting is one request on its way into the journal.
type accepting struct {
	d      *Drive
	req    ecr.Request
	wrote  string // the register's id, as it wrote it
	key    wire.Key
	reuse  int64           // of the register's id
	offers []checkout.Pick // payments
	pick   int             // of offers: the one that is taken where nobody chooses
	asks   bool            // the customer or the cashier has to answer before the payment can start
	join   wire.Key        // set inside the transaction: the refund or reversal it repeats
	no     error           // likewise: refused, but what the request meant for older sales stays
	steps  []journal.Step  // likewise: effects of everything that was changed, in order
}

// choose picks the method of a payment.
func (a *accepting) choose() error {
	defs, state := a.d.methods()
	switch {
	case state == catalog.Unknown:
		return refuse(ecr.NotReady, "the payment methods are not known yet")
	case state == catalog.NoMethods, len(defs) == 0:
		return refuse(ecr.NoMethod, "this merchant has no payment method")
	}
	person := a.d.person()
	a.offers = checkout.Offer(defs, a.d.wish(a.req, person))
	choose := person && a.d.cfg.Choose
	switch {
	case a.req.Amount == 0 && (!person || !a.d.cfg.OpenAmount && !a.req.AskAmount):
		return refuse(ecr.AmountWrong, "a payment needs an amount")
	case len(a.offers) == 0 && a.req.Amount == 0:
		return refuse(ecr.AmountWrong, "no payment method starts without an amount")
	case len(a.offers) == 0:
		return a.d.noOffer(defs, a.req)
	case !choose && severalFit(a.req, a.offers):
		return refuse(ecr.NoMethod, "several payment methods take the customer's code: name one")
	}
	a.pick = checkout.Default(a.offers, a.req.CardType != 0 || a.req.Method != "")
	if !choose {
		a.offers, a.pick = a.offers[a.pick:a.pick+1], 0
	}
	pick := a.offers[a.pick]
	a.asks = person && (a.req.Amount == 0 || len(a.offers) > 1 || pick.Asks())
	probe := &journal.Row{Key: a.key, Amount: max(1, a.req.Amount), Currency: a.req.Currency, Method: pick.Method, Reference: journal.ReferenceOf(a.key)}
	body, err := a.d.payRequest(probe, pick, sent(a.req, pick), a.req.Lines, 1)
	if err == nil && a.req.Amount != 0 {
		err = aapay.Validate(aapay.Payment, body)
	}
	if err != nil {
		a.d.log.Warn("request refused", "error", err)
		return refuse(ecr.Processing, "the request cannot be sent")
	}
	return nil
}

// accept writes everything in one commit, then starts.
func (a *accepting) accept(ctx context.Context) (ecr.Sale, error) {
	d := a.d
	sale, _ := d.sales.Join(a.key)
	err := d.db.Write(ctx, func(tx store.Tx) error {
		a.join, a.no, a.steps = "", nil, nil
		return a.write(tx)
	})
	switch {
	case err != nil: // nothing of it is durable, so nothing of it may be performed
		a.steps = nil
	case a.no != nil:
		err = a.no
	}
	if err != nil || a.join != "" {
		d.sales.Drop(a.key)
	}
	for _, s := range a.steps {
		d.p.Do(s)
	}
	switch {
	case err != nil:
		return ecr.Sale{}, d.stored(err)
	case a.join != "":
		return d.joinKnown(ctx, a.join)
	}
	row := a.steps[len(a.steps)-1].Row
	if a.req.Kind != ecr.Payment {
		if a.asks {
			d.askLater(ctx, a, row)
		} else {
			d.p.Later(func(ctx context.Context) { d.p.Withdrawal(ctx, a.key) })
		}
		d.p.Later(func(ctx context.Context) { d.p.ForwardBound(ctx, row) })
		return sale, nil
	}
	d.p.Later(func(ctx context.Context) { d.p.AnswerInTime(ctx, row) })
	if a.asks {
		d.askLater(ctx, a, row)
	}
	return sale, nil
}

func (a *accepting) write(tx store.Tx) error {
	d := a.d
	rows, err := d.j.Active(tx)
	if err != nil {
		return err
	}
	if a.req.Kind != ecr.Payment {
		key, err := a.repeats(tx, rows)
		switch {
		case err != nil:
			return err
		case key != "" && a.req.Sequence != "": // its own it would have found: the end of another request is not told under its id
			return refuse(ecr.StillRunning, "the same refund or reversal was begun under another id: ask for that one")
		case key != "":
			a.join = key
			return journal.AskedAgain(tx, a.req.Line, key)
		}
	}
	for _, r := range rows {
		if !r.Quarantined && checkout.Open(r.State) {
			return refuse(ecr.Busy, "%s is running", r.Title())
		}
	}
	if a.join = a.left(rows); a.join != "" {
		return d.j.JoinID(tx, a.join, a.req.Line, a.req.Sequence, a.reuse)
	}
	if err := a.goOn(tx, rows); err != nil {
		return err
	}
	if a.req.Kind == ecr.Payment {
		return a.writePayment(tx)
	}
	err = a.writeForward(tx)
	if no := (refusal{}); errors.As(err, &no) { // what the command meant for unconfirmed sales is kept
		a.no = no
		return nil
	}
	return err
}

func (a *accepting) writePayment(tx store.Tx) error {
	d := a.d
	pick := a.offers[a.pick]
	terms := d.terms(pick, a.req)
	terms.Ask, terms.Till = a.asks, a.till()
	var err error
	if terms.ReadFirst, err = journal.UsedBefore(tx, a.req.Sequence); err != nil {
		return err
	}
	row, err := d.newRow(tx, a.req, a.key, a.reuse)
	if err != nil {
		return err
	}
	row.Method = pick.Method
	state, effects := checkout.Start(terms, d.boot())
	row.State = state
	req, err := d.payRequest(row, pick, sent(a.req, pick), a.req.Lines, row.Batch)
	if err != nil {
		return refuse(ecr.AmountWrong, "the amount cannot be sent")
	}
	if err := d.j.SealRequest(tx, row, req); err != nil {
		return err
	}
	if err := d.j.Insert(tx, row); err != nil {
		return err
	}
	text := fmt.Sprintf("%s by %s accepted from %s", journal.Amount(row.Amount, row.Currency), row.Method.Name, row.Line)
	if err := d.j.Note(tx, row.Key, false, text); err != nil {
		return err
	}
	a.steps = append(a.steps, d.j.Step(row, effects))
	return nil
}

// newRow is a row with what every sale has.
func (d *Drive) newRow(tx store.Tx, req ecr.Request, key wire.Key, reuse int64) (*journal.Row, error) {
	row, err := d.j.NewRow(tx, req, key)
	switch {
	case errors.Is(err, journal.ErrFull):
		return nil, refuse(ecr.NotStored, "no receipt number is left: end of day needed")
	case err != nil:
		return nil, err
	}
	row.Reuse = reuse
	return row, nil
}

// terms are those of a payment by a pick.
func (d *Drive) terms(pick checkout.Pick, req ecr.Request) checkout.Terms {
	t := checkout.TermsOf(pick, d.cfg.TimeoutUnit, cmp.Or(req.Patience, d.cfg.Patience), req.Progress)
	t.StaleEnds = d.cfg.StaleEnds
	return t
}

// till is what a sale keeps of the register that asks.
func (a *accepting) till() checkout.Till {
	req := a.req
	t := checkout.Till{Trace: req.Trace, Reference: req.Reference, Patience: req.Patience, Grace: req.Grace, Keep: req.Keep, ByTCP: req.ByTCP}
	if req.Sequence != a.wrote {
		t.Spelled = a.d.j.Spell(a.key, a.wrote)
	}
	return t
}

// params are the answers to a pick's prompts, as initialize carries them.
func params(pick checkout.Pick, ans Answer) (list []aapay.KeyValue) {
	for _, p := range pick.Prompts {
		list = append(list, aapay.KeyValue{Key: strconv.Itoa(int(p.ID)), Value: ans.Answers[p.ID]})
	}
	return list
}

// tillReference is the till's own name of the purchase as the backend may have it: "" where it has none, or one that is no plain text.
func tillReference(r *journal.Row) string {
	if ref := wire.MaskReference(intent.MaskedName(r.State.Till.Reference)); wire.PlainText(ref, 255) {
		return ref
	}
	return ""
}

// payRequest is the body of initialize (S1 2.4).
func (d *Drive) payRequest(r *journal.Row, pick checkout.Pick, ans Answer, lines []ecr.Item, batch int) (aapay.Request, error) {
	amount, err := r.Hundredths()
	if err != nil {
		return aapay.Request{}, err
	}
	req := aapay.Request{
		MerchantID: d.cfg.MerchantID, Method: r.Method.Name, PurchaseAmount: amount, Consumer: &aapay.Consumer{ConsumerID: r.Reference},
		Batch: int64(batch), TerminalReference: r.Reference, Trigger: aapay.TriggerQR,
	}
	if pick.Trigger == methods.Manual {
		req.Trigger = aapay.TriggerManual
		req.Consumer.ConsumerID = ans.ConsumerID
	}
	req.Params = params(pick, ans)
	if d.cfg.Language != "" {
		req.AdditionalProperties = append(req.AdditionalProperties, aapay.KeyValue{Key: "language", Value: d.cfg.Language})
	}
	if d.cfg.Country != "" {
		req.AdditionalProperties = append(req.AdditionalProperties, aapay.KeyValue{Key: "country", Value: d.cfg.Country})
	}
	req.ECR2NAA = &aapay.ECR2NAA{Ver: d.cfg.Version, Reference: tillReference(r), Lang: d.cfg.Language}
	if len(lines) == 0 {
		return req, nil
	}
	c, _ := money.Lookup(r.Currency)
	order := &aapay.Order{Amount: amount.TotalAmount, Currency: r.Currency, Reference: r.Reference}
	for _, l := range lines {
		unit, err1 := money.ToHundredths(l.UnitPrice, c)
		gross, err2 := money.ToHundredths(l.Gross, c)
		tax, err3 := money.ToHundredths(l.Tax, c)
		if err := errors.Join(err1, err2, err3); err != nil {
			return aapay.Request{}, fmt.Errorf("order line %s: %w", l.Name, err)
		}
		order.Items = append(order.Items, aapay.Item{
			ItemNo: l.ItemNo, Name: l.Name, Unit: l.Unit, Quantity: l.Quantity, UnitPrice: unit, TaxRate: l.TaxRate, TaxAmount: tax,
			GrossTotalAmount: gross, NetTotalAmount: gross - tax,
		})
	}
	req.ECR2NAA.Order = order
	return req, nil
}
