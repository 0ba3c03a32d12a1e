package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/live"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// Outcome is what a register is told of a row as it stands.
func (p *Performer) Outcome(r *journal.Row, repeat bool) ecr.Outcome {
	s := r.State
	if r.Held() {
		return p.heldOutcome(r)
	}
	o := ecr.Outcome{
		Sale: string(r.Key), Sequence: p.j.Spelled(r), Kind: r.Kind, Result: s.Result, Code: s.Code, Text: publicText(s, p.cfg.Language), Amount: r.Amount, Currency: r.Currency,
		OriginalTrace: r.OriginalTrace, TerminalID: p.cfg.TerminalID, Method: r.Method.Name, Label: r.Method.Label, Repeat: repeat,
		Time: time.UnixMilli(r.DecidedMS), Settling: s.Phase == checkout.Reversing || s.Settling,
	}
	o.ToldFor, o.ToldLeast = p.toldFor(r)
	if s.TransactionID != 0 {
		o.TransactionID = fmt.Sprint(s.TransactionID)
	}
	switch s.Result {
	case "": // only a refund or reversal is told before its end
		o.Result, o.Code, o.Text, o.Settling, o.Time = ecr.InProgress, ecr.StillRunning, "in progress", true, p.now()
	case ecr.Aborted:
		if r.Undone() {
			o.Text = words(p.cfg.Language, "paid, not acknowledged: the money goes back", "bezahlt, nicht bestätigt: das Geld geht zurück")
		}
	case ecr.Approved:
		o.Receipt, o.Batch, o.Trace = r.Receipt, r.Batch, r.Trace
		o.MerchantCopy = MerchantCopy(r)
		o.Payer, o.Info, o.Loyalty = s.Payer, message(r), s.Loyalty
	}
	return o
}

// message is what the provider says to the customer; "" where it says the method's name alone, which stands there already.
func message(r *journal.Row) string {
	if r.State.Info == r.Method.Label {
		return ""
	}
	return r.State.Info
}

// heldOutcome is what is told of a sale that a person has to look at: nothing that could be taken for
// an end.
func (p *Performer) heldOutcome(r *journal.Row) ecr.Outcome {
	return ecr.Outcome{
		Sale: string(r.Key), Sequence: p.j.Spelled(r), Kind: r.Kind, Result: ecr.InProgress, Code: ecr.OnHold, Text: ecr.HeldText(p.cfg.Language),
		Amount: r.Amount, Currency: r.Currency, TerminalID: p.cfg.TerminalID, Method: r.Method.Name, Label: r.Method.Label, Settling: true, Time: p.now(),
	}
}

// toldFor is how long ago a register acknowledged the outcome of a row, 0 where none did. What was told
// in another boot is at least as old as this one; a wall clock says nothing of it, for a box may start
// with any. least says that no true time was known, then or now.
func (p *Performer) toldFor(r *journal.Row) (ago time.Duration, least bool) {
	s := r.State
	switch {
	case r.Told != string(ecr.Told):
		return 0, false
	case s.ToldBoot == p.bootID:
		return max(1, p.boot()-s.ToldAt), false
	}
	ago = max(1, p.boot())
	at, known := p.trusted()
	if !known || s.ToldMS == 0 {
		return ago, true
	}
	return max(ago, at.Sub(time.UnixMilli(s.ToldMS))), false
}

// MerchantCopy says whether the method of a sale asks for a receipt for the merchant.
func MerchantCopy(r *journal.Row) bool { return methods.ReceiptRequired(r.Method, txnType(r.Kind)) }

func txnType(k ecr.Kind) methods.TransactionType {
	switch k {
	case ecr.Refund:
		return methods.Refund
	case ecr.Reversal:
		return methods.Reversal
	}
	return methods.Payment
}

// Join joins a sale and answers at once where it is decided.
func (p *Performer) Join(ctx context.Context, key wire.Key) (ecr.Sale, error) {
	sale, w := p.sales.Join(key)
	if o := p.sales.ToldAborted(key); o != nil && p.sales.Take(key, w) {
		p.give(key, w, *o)
		return sale, nil
	}
	row, err := p.hold(ctx, key, w)
	if err != nil {
		return ecr.Sale{}, err
	}
	switch w := row.waiter; {
	case w != nil:
		p.give(key, w, p.Outcome(row.Row, row.Told != "" && row.Told != journal.ToldInProgress))
	case checkout.Running(row.State):
		p.Later(func(ctx context.Context) { p.ForwardBound(ctx, row.Row) })
	}
	return sale, nil
}

// held is a row read by hold; waiter is nil when the outcome is still to come, or was given
// meanwhile.
type held struct {
	*journal.Row
	waiter *live.Waiter
}

// hold reads a sale in the order of the commits and, where it is decided, takes the waiter out for
// telling: from then on neither the grace timer nor the next command touches the sale, until
// Delivered.
func (p *Performer) hold(ctx context.Context, key wire.Key, w *live.Waiter) (held, error) {
	var h held
	taken := false
	err := p.db.Write(ctx, func(tx store.Tx) error {
		row, err := p.j.ByKey(tx, key)
		if err != nil && !errors.Is(err, journal.ErrQuarantined) {
			return err
		}
		if err := journal.SeeOperation(tx, row); err != nil {
			return err
		}
		h = held{Row: row}
		if decided(row) && (taken || p.sales.Take(key, w)) {
			taken, h.waiter = true, w
		}
		return nil
	})
	if err != nil && (taken || p.sales.Take(key, w)) {
		p.sales.Released(key, false)
	}
	return h, err
}

func decided(row *journal.Row) bool { return row.State.Result != "" || row.Held() }

// JoinUnwritten joins a sale while the journal cannot be written; ok is false where it cannot be read
// either, and of an approval that may be undone before it is told.
func (p *Performer) JoinUnwritten(ctx context.Context, key wire.Key) (sale ecr.Sale, ok bool) {
	sale, w := p.sales.Join(key)
	row, err := p.j.Sale(ctx, key) // after joining: what ends it now tells this one too
	if err == nil {
		err = p.db.Read(ctx, func(r store.Reader) error { return journal.SeeOperation(r, row) })
	}
	switch {
	case err != nil && !errors.Is(err, journal.ErrQuarantined), row.State.Phase == checkout.Approved, row.State.Phase == checkout.Unconfirmed:
		if p.sales.Take(key, w) {
			p.sales.Released(key, false)
			return ecr.Sale{}, false
		}
		return sale, true // it was told meanwhile
	case decided(row):
		if p.sales.Take(row.Key, w) {
			p.give(row.Key, w, p.Outcome(row, row.Told != "" && row.Told != journal.ToldInProgress))
		}
	case checkout.Running(row.State):
		p.Later(func(ctx context.Context) { p.ForwardBound(ctx, row) })
	}
	return sale, true
}

// give ends a waiter with the outcome, which is journalled.
func (p *Performer) give(key wire.Key, w *live.Waiter, o ecr.Outcome) {
	w.Give(o)
	p.Later(func(ctx context.Context) { p.holdBound(ctx, key) })
}

// tell gives the outcome to every waiter. Where no caller waits for an approval the register does
// not have it.
func (p *Performer) tell(row *journal.Row) {
	waiters, alone := p.sales.TakeAll(row.Key)
	if len(waiters) == 0 || !p.showResult(row) { // without them it is an old sale, and no customer stands before the screen
		p.leaveScreen(row.Key)
	}
	for _, w := range waiters {
		p.give(row.Key, w, p.Outcome(row, false))
	}
	switch key := row.Key; {
	case alone && row.State.Phase == checkout.Approved:
		p.Later(func(ctx context.Context) { p.ApplyWithRetry(ctx, key, checkout.Event{Name: checkout.Lost}) })
	case alone && row.Kind != ecr.Payment && row.Told == "":
		p.Later(func(ctx context.Context) { p.unheard(ctx, key) })
	}
}

// unheard raises the alert about an end that no caller waits for. One that asks for it meanwhile is
// told it, which takes the alert back.
func (p *Performer) unheard(ctx context.Context, key wire.Key) {
	for {
		err := p.db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
			row, err := p.j.ByKey(tx, key)
			if err == nil && row.Told == "" {
				err = p.j.Unheard(tx, row)
			}
			return err
		})
		if err == nil || journal.IsPermanent(err) {
			return
		}
		p.log.Error("an untold end is no alert yet", "sale", key, "error", err)
		if !Pause(ctx, StoreRetry, nil) {
			return
		}
	}
}

// tellInterim answers every waiter with "in progress"; it was journalled before.
func (p *Performer) tellInterim(row *journal.Row) {
	for _, w := range p.sales.TakeInterim(row) {
		p.give(row.Key, w, p.Outcome(row, false))
	}
}

// ForwardBound answers "in progress" when the register cannot wait any longer. Where the journal
// cannot be written the register is told all the same: it is no end, and the journal hears of it
// later.
func (p *Performer) ForwardBound(ctx context.Context, row *journal.Row) {
	key := row.Key
	until := p.boot() + cmp.Or(row.State.Till.Patience, p.cfg.Patience) - answerLead
	for {
		changed := p.sales.Changed()
		if row, err := p.j.Sale(ctx, key); err == nil && !checkout.Running(row.State) {
			return
		}
		if Pause(ctx, until-p.boot(), changed) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	for told := false; ; {
		once, cancel := context.WithTimeout(ctx, StoreRetry)
		now, err := p.markInProgress(once, key)
		cancel()
		switch {
		case err == nil && checkout.Running(now.State) && !told:
			p.tellInterim(now)
		case err != nil && ctx.Err() == nil && !told:
			p.tellInterim(row)
			told = true
		}
		if err == nil {
			return
		}
		p.log.Error("in progress not journalled", "sale", key, "error", err)
		if journal.IsPermanent(err) || !Pause(ctx, StoreRetry, nil) {
			return
		}
	}
}

// markInProgress journals that the register is told "in progress", where that is still so.
func (p *Performer) markInProgress(ctx context.Context, key wire.Key) (*journal.Row, error) {
	var row *journal.Row
	err := p.db.Write(ctx, func(tx store.Tx) error {
		var err error
		if row, err = p.j.ByKey(tx, key); err != nil || !checkout.Running(row.State) {
			return err
		}
		if err := journal.SeeOperation(tx, row); err != nil {
			return err
		}
		row.Told = journal.ToldInProgress
		if err := p.j.Note(tx, key, false, "the register is told that it is in progress"); err != nil {
			return err
		}
		return p.j.Update(tx, row)
	})
	return row, err
}

// holdBound ends a telling that no register reports on.
func (p *Performer) holdBound(ctx context.Context, key wire.Key) {
	deadline := p.boot() + holdMax
	for {
		changed := p.sales.Changed()
		if !p.sales.Held(key) {
			return
		}
		left := deadline - p.boot()
		if left <= 0 {
			break
		}
		if Pause(ctx, left, changed) {
			break
		}
		if ctx.Err() != nil {
			return
		}
	}
	for p.sales.Held(key) {
		what := p.sales.Heard(key)
		p.log.Error("nobody said whether the outcome was told, or it could not be journalled", "sale", key, "counts", what)
		_, err := p.Delivered(context.WithoutCancel(ctx), string(key), what)
		if err == nil || journal.IsPermanent(err) {
			return
		}
		p.log.Error("delivery waits for the store", "sale", key, "error", err)
		if !Pause(ctx, StoreRetry, nil) {
			return
		}
	}
}

// progress shows a step to every waiter.
func (p *Performer) progress(key wire.Key, s ecr.Step) { p.sales.SetProgress(key, p.stepText(s)) }

// AtTerminal tells the register that a person is asked at the terminal.
func (p *Performer) AtTerminal(key wire.Key) { p.progress(key, ecr.StepAsking) }

// stepText is a step with what a customer is told of it.
func (p *Performer) stepText(s ecr.Step) ecr.Progress {
	switch s {
	case ecr.StepAsking:
		return ecr.Progress{Step: s, Text: words(p.cfg.Language, "Please enter at the terminal", "Bitte am Terminal eingeben")}
	case ecr.StepShowCode:
		return ecr.Progress{Step: s, Text: words(p.cfg.Language, "Scan the code", "Bitte Code scannen")}
	case ecr.StepConfirm:
		return ecr.Progress{Step: s, Text: words(p.cfg.Language, "Confirm in the app", "Bitte in der App bestätigen")}
	case ecr.StepApp:
		return ecr.Progress{Step: s, Text: words(p.cfg.Language, "Waiting for the customer's app", "Warten auf die App des Kunden")}
	case ecr.StepExpired:
		return ecr.Progress{Step: s, Text: words(p.cfg.Language, "Code expired. Not scanned? Cancel and start again", "Code abgelaufen. Nicht gescannt? Abbrechen und neu beginnen")}
	}
	return ecr.Progress{Step: s}
}

// Delivered records what became of telling a sale.
func (p *Performer) Delivered(ctx context.Context, id string, what ecr.Delivery) (ecr.Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	key := wire.Key(id)
	name, ok := map[ecr.Delivery]checkout.Name{ecr.Told: checkout.Told, ecr.Refused: checkout.Refused, ecr.Lost: checkout.Lost}[what]
	if !ok && what != ecr.Interim {
		return ecr.Outcome{}, fmt.Errorf("delivery %q is not known", what)
	}
	defer p.sales.Announce()
	if o := p.sales.ToldAborted(key); o != nil { // the journal hears of it when it can
		p.sales.Released(key, false)
		return *o, nil
	}
	if interim := p.sales.ToldInterim(key, what); interim != nil { // no end; it may have ended meanwhile: that is for the repetition of the request
		p.sales.Released(key, true)
		return p.Outcome(interim, false), nil
	}
	if what == ecr.Interim { // that it is held, or "in progress", which was given up meanwhile
		row, err := p.j.Sale(ctx, key)
		if err == nil {
			err = p.db.Read(ctx, func(r store.Reader) error { return journal.SeeOperation(r, row) })
		}
		if err != nil && !errors.Is(err, journal.ErrQuarantined) {
			return ecr.Outcome{}, fmt.Errorf("delivered %s: %w", id, err)
		}
		if row.Held() {
			p.sales.Released(key, false)
		}
		return p.Outcome(row, false), nil
	}
	var s journal.Step
	var held *journal.Row
	err := p.db.Write(ctx, func(tx store.Tx) error {
		row, err := p.j.ByKey(tx, key)
		if held = nil; row.Held() { // no end was told
			held = row
			return nil
		}
		if err != nil {
			return err
		}
		if row.State.Result == "" && checkout.Running(row.State) {
			s = p.j.Step(row, nil)
			return nil
		}
		again := row.Told == string(ecr.Told)
		if !again {
			row.Told = string(what)
			if what == ecr.Told {
				row.State.ToldAt, row.State.ToldBoot = p.boot(), p.bootID
				if at, known := p.trusted(); known {
					row.State.ToldMS = at.UnixMilli()
				}
			}
		}
		s, err = p.j.Transit(tx, row, checkout.Event{Name: name})
		if err != nil || again {
			return err
		}
		hear := p.j.Unheard
		if what == ecr.Told {
			hear = p.j.Heard
		}
		if err := hear(tx, row); err != nil {
			return err
		}
		text := fmt.Sprintf("register told %s: %s", row.State.Result, what)
		return p.j.Note(tx, key, false, text)
	})
	switch {
	case err == nil, journal.IsPermanent(err):
		p.sales.Released(key, false) // not before: what is not journalled yet must not be undone meanwhile
	default:
		p.sales.Unrecorded(key, what)
	}
	if err != nil {
		return ecr.Outcome{}, fmt.Errorf("delivered %s: %w", id, err)
	}
	if held != nil {
		return p.heldOutcome(held), nil
	}
	p.Do(s)
	return p.Outcome(s.Row, false), nil
}

// graceOver undoes an approval that was never acknowledged, unless it is being told just now. done
// is false when the timer has to come again.
func (p *Performer) graceOver(ctx context.Context, key wire.Key) (done bool, err error) {
	var s journal.Step
	busy := false
	err = p.db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
		if busy = p.sales.Held(key); busy {
			return nil
		}
		row, err := p.j.ByKey(tx, key)
		if err != nil {
			return err
		}
		s, err = p.j.Transit(tx, row, checkout.Event{Name: checkout.GraceOver})
		return err
	})
	if err != nil || busy {
		return false, err
	}
	p.Do(s)
	p.mu.Lock()
	tell := p.onUndo[s.Row.Line]
	p.mu.Unlock()
	if tell != nil && s.Row.State.Phase == checkout.Reversing {
		tell()
	}
	return true, nil
}

// OnUndo says what is told to a line when the grace timer takes an approval of it back.
func (p *Performer) OnUndo(line string, tell func()) {
	p.mu.Lock()
	p.onUndo[line] = tell
	p.mu.Unlock()
}
