package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/offline"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// ReferenceOf is the terminalReference of an operation: as random as its Key, and never a receipt or trace number (MONEY B.8).
func ReferenceOf(key wire.Key) string { return strings.ReplaceAll(string(key), "-", "") }

// repeats finds the refund or reversal in progress that a request repeats.
func repeats(rows []*Row, req ecr.Request, last wire.Key) wire.Key {
	for _, r := range rows {
		if !r.Quarantined && r.State.Phase == checkout.Forward && r.Kind == req.Kind && sameForward(r, req, last) {
			return r.Key
		}
	}
	return ""
}

// sameForward compares what the register said; where it named no original, the last payment has to be the same one still.
func sameForward(r *Row, req ecr.Request, last wire.Key) bool {
	return r.Asked == askedFor(req) && (r.Asked != "" || r.Original == last) && (req.Amount == 0 || req.Amount == r.Amount)
}

// askedFor is how the register named the original.
func askedFor(req ecr.Request) string {
	if req.Kind == ecr.Reversal {
		return "R" + strconv.Itoa(req.Receipt)
	}
	return req.Original
}

// untold finds a refund or reversal that has ended, whose end the register does not have, and which it asks for again: one told "in
// progress", or the line's last sale where its telling was lost.
func (a *accepting) untold(tx store.Reader) (wire.Key, error) {
	rows, err := many(a.d.db, tx, `line = ? AND kind = ? AND active = 0 AND (told = ? OR told IN ('', ?) AND
		id = (SELECT MAX(id) FROM checkout_sales WHERE line = ?)) ORDER BY id DESC LIMIT 20`,
		a.req.Line, string(a.req.Kind), toldInProgress, string(ecr.Lost), a.req.Line)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if !r.Quarantined && sameForward(r, a.req, a.last) {
			return r.Key, nil
		}
	}
	return "", nil
}

// joinUnwritten joins the refund or reversal that a request repeats while the journal cannot be written: refused, it would be taken
// for one that is not carried out. ok is false where it repeats none.
func (d *Drive) joinUnwritten(ctx context.Context, req ecr.Request) (sale ecr.Sale, ok bool) {
	if req.Kind == ecr.Payment || d.normalise(&req) != nil {
		return ecr.Sale{}, false
	}
	var key wire.Key
	err := d.db.Read(ctx, func(r store.Reader) error {
		a := &accepting{d: d, req: req}
		last, err := a.lastNamed(r)
		if err != nil {
			return err
		}
		a.last = last
		rows, err := d.active(r)
		if err != nil {
			return err
		}
		if key = repeats(rows, req, last); key == "" {
			key, err = a.untold(r)
		}
		return err
	})
	if err != nil || key == "" {
		return ecr.Sale{}, false
	}
	sale, w := d.join(key)
	row, err := d.row(ctx, key) // after joining: what ends it now tells this one too
	switch {
	case err != nil:
		if d.take(key, w) {
			d.released(key)
		}
		return ecr.Sale{}, false
	case row.State.Phase == checkout.Forward:
		d.later(func(ctx context.Context) { d.forwardBound(ctx, row) })
	case decided(row) && d.take(row.Key, w):
		d.give(row.Key, w, d.outcome(row, row.Told != "" && row.Told != toldInProgress))
	}
	return sale, true
}

// lastNamed is the payment that a refund without an original speaks of; "" where it names one, or there is none.
func (a *accepting) lastNamed(r store.Reader) (wire.Key, error) {
	if askedFor(a.req) != "" {
		return "", nil
	}
	last, err := a.d.lastPayment(r)
	if err != nil && !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrQuarantined) {
		return "", err
	}
	return last.Key, nil
}

// lastPayment is the payment a refund that names none speaks of.
func (d *Drive) lastPayment(r store.Reader) (*Row, error) {
	return d.one(r, `kind = ? AND receipt != 0 ORDER BY id DESC LIMIT 1`, string(ecr.Payment))
}

// original finds the payment a refund or reversal speaks of.
func (a *accepting) original(tx store.Tx) (*Row, error) {
	d, req := a.d, a.req
	open, err := batch(tx)
	if err != nil {
		return nil, err
	}
	inBatch := func(batch, n int) (*Row, error) {
		return d.one(tx, byReceipt+` ORDER BY id DESC LIMIT 1`, batch, n)
	}
	var row *Row
	switch {
	case req.Kind == ecr.Reversal:
		row, err = inBatch(open, req.Receipt)
	case req.Original == "":
		if !d.cfg.RefundLast {
			return nil, refuse(ecr.NoOriginal, "%s", ecr.NameOriginal(d.cfg.Language))
		}
		row, err = d.lastPayment(tx)
	case strings.HasPrefix(req.Original, "R"):
		batch, receipt, ok := receiptNamed(req.Original[1:])
		switch {
		case !ok:
			return nil, refuse(ecr.NotReversible, "%q names no receipt: R<receipt> or R<batch>/<receipt>", req.Original)
		case batch != 0:
			row, err = inBatch(batch, receipt)
		default:
			row, err = d.newest(tx, open, receipt)
		}
	case strings.HasPrefix(req.Original, "T"):
		n, convert := strconv.ParseInt(req.Original[1:], 10, 64)
		if convert != nil || n == 0 {
			return nil, refuse(ecr.NotReversible, "%q names no transaction", req.Original)
		}
		row, err = d.byTransactionID(tx, n)
	default:
		return nil, refuse(ecr.NotReversible, "%q names no original", req.Original)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		if err := unsaid(tx); err != nil {
			return nil, err
		}
		return nil, refuse(ecr.NotReversible, "the original is not known")
	case errors.Is(err, ErrQuarantined):
		return nil, refuse(ecr.NotReversible, "the original is not known")
	case err != nil:
		return nil, err
	}
	return row, reversible(row, req)
}

// receiptNamed reads <receipt> or <batch>/<receipt>; batch is 0 where none is named.
func receiptNamed(s string) (batch, receipt int, ok bool) {
	first, second, two := strings.Cut(s, "/")
	if two {
		var err error
		if batch, err = strconv.Atoi(first); err != nil || batch <= 0 {
			return 0, 0, false
		}
		first = second
	}
	receipt, err := strconv.Atoi(first)
	return batch, receipt, err == nil && receipt > 0 && receipt <= receiptsInBatch
}

// newest finds the payment that was given a receipt number last, in whatever batch: numbers go on over the batches. ErrUnknown.
func (d *Drive) newest(tx store.Reader, open, receipt int) (*Row, error) {
	return d.one(tx, `id = (SELECT MAX(s.id) FROM (SELECT number FROM checkout_batches UNION SELECT ?) b
		CROSS JOIN checkout_sales s ON s.batch = b.number AND s.receipt = ? AND s.receipt != 0 AND s.kind = ?)`, open, receipt, string(ecr.Payment))
}

// byTransactionID finds the payment with a transactionId. Two services may use the same number: then it names no payment.
func (d *Drive) byTransactionID(tx store.Tx, id int64) (*Row, error) {
	rows, err := many(d.db, tx, byTransaction+` AND kind = ? ORDER BY id DESC LIMIT 2`, id, string(ecr.Payment))
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, ErrUnknown
	case len(rows) == 2 && (rows[0].Method.Name == offline.MethodPaylink) != (rows[1].Method.Name == offline.MethodPaylink):
		return nil, refuse(ecr.NotReversible, "T%d names two payments: name the receipt", id)
	case rows[0].Quarantined:
		return nil, ErrQuarantined
	}
	return rows[0], nil
}

// reversible applies the ledger of the original (MONEY B.7).
func reversible(o *Row, req ecr.Request) error {
	undone := o.Receipt != 0 && o.State.Result == ecr.Aborted
	switch {
	case o.Kind != ecr.Payment:
		return refuse(ecr.NotReversible, "only payments can be taken back")
	case req.Kind == ecr.Reversal && (o.Reversed || undone):
		return refuse(ecr.AlreadyReversed, "already reversed")
	case o.State.Phase != checkout.Confirmed && o.State.Phase != checkout.Done, o.State.Result != ecr.Approved:
		return refuse(ecr.NotReversible, "the original is not an acknowledged payment")
	case req.Kind == ecr.Reversal && o.Debited != 0:
		return refuse(ecr.NotReversible, "refunded in part")
	case req.Kind == ecr.Reversal && req.Amount != 0 && req.Amount != o.Amount:
		return refuse(ecr.AmountWrong, "the original had another amount")
	case req.Kind == ecr.Refund && req.Amount > o.Amount-o.Debited:
		return refuse(ecr.AmountWrong, "more than is left of the original: %s", amountText(o.Amount-o.Debited, o.Currency))
	case req.Currency != o.Currency:
		return refuse(ecr.WrongCurrency, "the original was in %s", o.Currency)
	}
	return nil
}

// writeForward debits the ledger, stores the sale and accepts its operation, in one commit.
func (a *accepting) writeForward(tx store.Tx) error {
	d := a.d
	orig, err := a.original(tx)
	if err != nil {
		return err
	}
	row, err := d.newRow(tx, a.req, a.key)
	if err != nil {
		return err
	}
	if a.req.Kind == ecr.Reversal {
		row.Amount = orig.Amount
	}
	row.Method, row.Original, row.Asked, row.OriginalTrace = orig.Method, orig.Key, askedFor(a.req), orig.Trace
	typ, ref := aapay.Reversal, orig.Reference
	if a.req.Kind == ecr.Refund || !methods.Supports(orig.Method, methods.Reversal) {
		typ, ref = aapay.Refund, strconv.FormatInt(orig.State.TransactionID, 10)
	}
	if typ == aapay.Refund && (!methods.Supports(orig.Method, methods.Refund) || orig.State.TransactionID == 0) {
		return refuse(ecr.NotReversible, "the method cannot give money back")
	}
	terms := checkout.Terms{Kind: a.req.Kind, Limits: checkout.LimitsOf(orig.Method, d.cfg.TimeoutUnit, d.cfg.Patience, false)}
	row.State, _ = checkout.Start(terms, d.boot())
	orig.Debited += row.Amount
	orig.Reversed = orig.Reversed || a.req.Kind == ecr.Reversal
	if err := d.update(tx, orig); err != nil {
		return err
	}
	op, err := d.operation(row, row.Key, typ, ref, orig.Reference)
	if err != nil {
		return err
	}
	op.Note = title(row)
	if err := d.box.Accept(tx, op); err != nil {
		return fmt.Errorf("accept %s: %w", row.Key, err)
	}
	if err := d.insert(tx, row); err != nil {
		return err
	}
	if err := d.note(tx, row.Key, false, fmt.Sprintf("%s of receipt %d accepted from %s", title(row), orig.Receipt, row.Line)); err != nil {
		return err
	}
	if err := d.note(tx, orig.Key, false, fmt.Sprintf("%s asked for", title(row))); err != nil {
		return err
	}
	a.steps = append(a.steps, step{row: row, seq: d.nextSeq()})
	return nil
}

// operation is an undo, refund or reversal for the outbox.
func (d *Drive) operation(r *Row, key wire.Key, typ aapay.Type, original, aggregate string) (outbox.New, error) {
	amount, err := d.amount(r)
	if err != nil {
		return outbox.New{}, err
	}
	ref := ReferenceOf(key)
	p := offline.UndoPayload{
		Request: aapay.Request{
			MerchantID: d.cfg.MerchantID, Method: r.Method.Name, PurchaseAmount: amount, Consumer: &aapay.Consumer{ConsumerID: ref},
			TerminalReference: ref, OriginalReference: original, Trigger: aapay.TriggerManual,
		},
		Window: r.State.Limits.Window(),
	}
	for _, c := range r.Method.OKCodes {
		if strings.EqualFold(string(c.Type), string(typ)) {
			p.OKWords = append(p.OKWords, c.Value)
		}
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return outbox.New{}, fmt.Errorf("operation of %s: %w", r.Key, err)
	}
	kind := offline.KindOf(r.Method.Name, typ == aapay.Refund)
	return outbox.New{Key: key, Kind: kind, Aggregate: aggregate, Payload: payload, AmountMin: int64(r.Amount), Currency: r.Currency}, nil
}

// release gives a debited amount back to the original, after the backend's final no.
func (d *Drive) release(tx store.Tx, r *Row) error {
	orig, err := d.byKey(tx, r.Original)
	if errors.Is(err, ErrQuarantined) { // its row is never written again
		return d.note(tx, r.Key, true, title(r)+" was refused by the backend, but its original is quarantined")
	}
	if err != nil {
		return err
	}
	orig.Debited -= r.Amount
	if r.Kind == ecr.Reversal {
		orig.Reversed = false
	}
	if err := d.update(tx, orig); err != nil {
		return err
	}
	if r.State.Code == ecr.NoConnection {
		return d.note(tx, orig.Key, false, title(r)+" was withdrawn: nothing was sent")
	}
	return d.note(tx, orig.Key, false, title(r)+" was refused by the backend")
}

// withdrawn is why an operation was never sent.
const withdrawn = "not done: no connection"

// withdrawal ends a refund or reversal of which nothing has left the terminal for 30 s, or once the register has asked for its
// abort (MONEY A.2). An attempt that is under way is waited for. One that had a connection makes it the outbox's for good.
func (d *Drive) withdrawal(ctx context.Context, key wire.Key) {
	for until := d.boot() + withdrawAfter; ; {
		changed := d.watchChange()
		if row, err := d.row(ctx, key); err == nil && row.State.Phase != checkout.Forward || hopeless(err) {
			return
		}
		if d.isUnwanted(key) || pause(ctx, until-d.boot(), changed) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	for n := 0; ; n++ {
		if err := d.box.Withdraw(ctx, key, nil, withdrawn); err == nil || hopeless(err) {
			return
		}
		if row, err := d.row(ctx, key); err == nil && row.State.Phase != checkout.Forward {
			return
		}
		wait := 250 * time.Millisecond
		if n > 500 { // two minutes
			wait = 20 * time.Second
		}
		if !pause(ctx, wait, nil) {
			return
		}
	}
}

// unwanted notes that a register has asked for the abort of a refund or reversal while an attempt was under way.
func (d *Drive) unwanted(key wire.Key) {
	d.mu.Lock()
	d.live(key).unwanted = true
	d.mu.Unlock()
	d.announce()
}

func (d *Drive) isUnwanted(key wire.Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lives[key]
	return l != nil && l.unwanted
}

// forwardBound answers "in progress" when the register cannot wait any longer. Where the journal cannot be written the register is
// told all the same: it is no end, and the journal hears of it later.
func (d *Drive) forwardBound(ctx context.Context, row *Row) {
	key := row.Key
	until := d.boot() + d.cfg.Patience - answerLead
	for {
		changed := d.watchChange()
		if row, err := d.row(ctx, key); err == nil && row.State.Phase != checkout.Forward {
			return
		}
		if pause(ctx, until-d.boot(), changed) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	for told := false; ; {
		once, cancel := context.WithTimeout(ctx, storeRetry)
		now, err := d.markInProgress(once, key)
		cancel()
		switch {
		case err == nil && now.State.Phase == checkout.Forward && !told:
			d.tellInterim(now)
		case err != nil && ctx.Err() == nil && !told:
			d.tellInterim(row)
			told = true
		}
		if err == nil {
			return
		}
		d.log.Error("in progress not journalled", "sale", key, "error", err)
		if hopeless(err) || !pause(ctx, storeRetry, nil) {
			return
		}
	}
}

// markInProgress journals that the register is told "in progress", where that is still so.
func (d *Drive) markInProgress(ctx context.Context, key wire.Key) (*Row, error) {
	var row *Row
	err := d.db.Write(ctx, func(tx store.Tx) error {
		var err error
		if row, err = d.byKey(tx, key); err != nil || row.State.Phase != checkout.Forward {
			return err
		}
		row.Told = toldInProgress
		if err := d.note(tx, key, false, "the register is told that it is in progress"); err != nil {
			return err
		}
		return d.update(tx, row)
	})
	return row, err
}

func (d *Drive) row(ctx context.Context, key wire.Key) (*Row, error) {
	var row *Row
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		row, err = d.byKey(r, key)
		return err
	})
	return row, err
}
