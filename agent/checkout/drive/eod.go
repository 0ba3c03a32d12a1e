package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
)

// closing is an end of day that runs. Each register that asks for it meanwhile is told what it comes
// to: "not closed" is never told of a day that another one closes (MONEY A.8).
type closing struct {
	until  time.Duration // boot clock: it is given up then; of the asker that waits for the shortest time
	done   chan struct{} // closed with what it has come to
	askers []ecr.Asker   // who is told what it comes to
	totals ecr.Totals
	err    error
}

var _ ecr.Closer = (*Drive)(nil)

// Close implements ecr.Till.
func (d *Drive) Close(ctx context.Context) (ecr.Totals, error) { return d.CloseFor(ctx, ecr.Asker{}) }

// CloseFor implements ecr.Closer.
func (d *Drive) CloseFor(ctx context.Context, by ecr.Asker) (ecr.Totals, error) {
	by.Line, by.ID = intent.KeptName(d.db, by.Line), intent.KeptName(d.db, by.ID)
	if by.Line != "" {
		if t, err := d.ClosedBy(ctx, by); !errors.Is(err, ecr.ErrNone) {
			return t, err
		}
	}
	until := d.boot() + closeBound
	if end, ok := ctx.Deadline(); ok {
		until = min(until, d.boot()+time.Until(end))
	}
	d.mu.Lock()
	c, joined := d.closing, d.closing != nil
	if joined {
		c.until = min(c.until, until)
	} else {
		c = &closing{until: until, done: make(chan struct{})}
		d.closing = c
	}
	c.askers = append(c.askers, by)
	d.mu.Unlock()
	if joined {
		d.sales.Announce()
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ecr.Totals{}, ctx.Err()
			}
			<-c.done // a commit takes long: what it comes to is not known before
		case <-c.done:
		}
		if c.err == nil && by.Line != "" { // it may have come after the commit
			if err := d.db.Write(ctx, func(tx store.Tx) error { return d.j.AskedFor(tx, c.totals.Batch, by) }); err != nil {
				return ecr.Totals{}, d.stored(err)
			}
		}
		return c.totals, c.err
	}
	totals, err := d.endDay(ctx, c)
	if errors.Is(err, context.DeadlineExceeded) { // it never had its turn
		err = refuse(ecr.EODImpossible, "the journal cannot be written")
	}
	c.totals, c.err = totals, d.inLanguage(err)
	d.mu.Lock()
	d.closing = nil
	d.mu.Unlock()
	close(c.done)
	return c.totals, c.err
}

// ClosedBy implements ecr.Closer.
func (d *Drive) ClosedBy(ctx context.Context, by ecr.Asker) (t ecr.Totals, err error) {
	by.Line, by.ID = intent.KeptName(d.db, by.Line), intent.KeptName(d.db, by.ID)
	err = d.db.Read(ctx, func(r store.Reader) error {
		t, err = d.j.ClosedBy(r, by)
		return err
	})
	if errors.Is(err, journal.ErrUnknown) {
		return t, ecr.ErrNone
	}
	return t, d.stored(err)
}

// DayTold implements ecr.Closer.
func (d *Drive) DayTold(ctx context.Context, line string, batch int) error {
	return d.db.Write(ctx, func(tx store.Tx) error { return d.j.DayTold(tx, intent.KeptName(d.db, line), batch) })
}

// askersOf are those that an end of day is told to so far.
func (d *Drive) askersOf(c *closing) []ecr.Asker {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(c.askers)
}

// isClosing says whether an end of day runs.
func (d *Drive) isClosing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closing != nil
}

// left is how long an end of day may wait still.
func (d *Drive) left(c *closing) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return c.until - d.boot()
}

func (d *Drive) endDay(ctx context.Context, c *closing) (ecr.Totals, error) {
	if !d.ready.Load() {
		return ecr.Totals{}, refuse(ecr.NotReady, "starting")
	}
	d.desk.Lock() // a request in Begin has journalled its sale
	resting := d.resting
	d.desk.Unlock()
	if resting {
		return ecr.Totals{}, refuse(ecr.EODImpossible, "the terminal restarts")
	}
	waited := map[wire.Key]bool{} // found unconfirmed: their undo has to be proven
	for {
		changed := d.sales.Changed()
		open, err := d.settleForClose(ctx, waited)
		if err != nil {
			return ecr.Totals{}, err
		}
		if open == "" {
			totals, ok, err := d.close(ctx, c, waited)
			if err != nil || ok {
				return totals, err
			}
			continue
		}
		if perform.Pause(ctx, d.left(c), changed) || ctx.Err() != nil {
			return ecr.Totals{}, refuse(ecr.EODImpossible, "%s", open)
		}
	}
}

// settleForClose undoes what is unconfirmed and names something that is not settled yet; "" = all
// is.
func (d *Drive) settleForClose(ctx context.Context, waited map[wire.Key]bool) (string, error) {
	var open string
	var steps []journal.Step
	err := d.db.Write(ctx, func(tx store.Tx) error {
		open, steps = "", nil
		rows, err := d.j.Active(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Quarantined {
				continue
			}
			if r.State.Phase == checkout.Unconfirmed && !d.sales.Held(r.Key) {
				waited[r.Key] = true
				s, err := d.j.Transit(tx, r, checkout.Event{Name: checkout.EndOfDay})
				if err != nil {
					return err
				}
				steps = append(steps, s)
			}
			if blocks(r, waited) {
				open = r.Title() + " is not settled"
			}
		}
		return nil
	})
	if err != nil {
		return "", d.stored(err)
	}
	for _, s := range steps {
		d.p.Do(s)
	}
	return open, nil
}

// blocks says whether a sale keeps the batch open.
func blocks(r *journal.Row, waited map[wire.Key]bool) bool {
	switch {
	case r.Quarantined:
		return false
	case checkout.Open(r.State), r.State.Phase == checkout.Unconfirmed:
		return true
	case r.State.Phase == checkout.Forward:
		return !r.State.Excepted // in doubt: a person decides, not the end of day
	}
	return r.State.Phase == checkout.Reversing && waited[r.Key]
}

// close ends the batch if nothing has come up meanwhile.
func (d *Drive) close(ctx context.Context, c *closing, waited map[wire.Key]bool) (totals ecr.Totals, ok bool, err error) {
	var steps []journal.Step
	err = d.db.Write(ctx, func(tx store.Tx) error {
		ok, steps = false, nil
		if by := d.askersOf(c)[0]; by.Line != "" { // it may have asked twice, and the other has closed the day meanwhile
			if totals, err = d.j.ClosedBy(tx, by); !errors.Is(err, journal.ErrUnknown) {
				ok = err == nil
				return err
			}
		}
		rows, err := d.j.Active(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if blocks(r, waited) {
				return nil
			}
		}
		totals, steps, err = d.closeBatch(tx, d.askersOf(c)...)
		ok = err == nil
		return err
	})
	if err != nil {
		return ecr.Totals{}, false, d.stored(err)
	}
	for _, s := range steps {
		d.p.Do(s)
	}
	return totals, ok, nil
}

// closeBatch closes the open batch in the caller's commit, with all that belongs to that.
func (d *Drive) closeBatch(tx store.Tx, by ...ecr.Asker) (ecr.Totals, []journal.Step, error) {
	totals, steps, err := d.j.CloseBatch(tx, by...)
	if err == nil && d.closed != nil {
		err = d.closed(tx, totals.Batch)
	}
	if err == nil && d.audit != nil {
		err = d.audit(tx, "batch.close", fmt.Sprintf("batch %d", totals.Batch), fmt.Sprintf("%d transactions", totals.Count), int64(totals.Net), totals.Currency)
	}
	return totals, steps, err
}

// Turnover implements ecr.Till.
func (d *Drive) Turnover(ctx context.Context) (ecr.Totals, error) {
	var t ecr.Totals
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		t, err = d.j.Turnover(r)
		return err
	})
	return t, d.stored(err)
}

// Health implements ecr.Till.
func (d *Drive) Health(ctx context.Context) ecr.Health {
	defs, state := d.methods()
	h := ecr.Health{
		Ready: d.ready.Load() && len(defs) > 0, NoMethods: len(defs) == 0, Offline: d.p.Offline(), TerminalID: d.cfg.TerminalID,
		Currency: d.cfg.Currency, Version: d.cfg.Version, Time: d.now(), Lines: []string{fmt.Sprintf("payment methods: %d, %s", len(defs), state)},
	}
	if h.Offline {
		h.Lines = append(h.Lines, "the backend does not answer")
		d.askAgain()
	}
	err := d.db.Read(ctx, func(r store.Reader) error {
		rows, err := d.j.Active(r)
		if err != nil {
			return err
		}
		for _, row := range rows {
			h.Busy = h.Busy || !row.Quarantined && checkout.Open(row.State)
		}
		open, err := journal.Batch(r)
		if err != nil {
			return err
		}
		lines, err := d.j.Exceptions(r, open)
		h.Lines = append(h.Lines, lines...)
		return err
	})
	if err != nil {
		h.Ready = false
		h.Lines = append(h.Lines, "journal: "+err.Error())
	}
	return h
}

// Check implements ecr.Till.
func (d *Drive) Check(ctx context.Context) (ecr.Health, error) {
	var err error
	if d.refresh != nil {
		if err = d.refresh(ctx); err != nil {
			err = fmt.Errorf("ask the backend: %w", err)
		}
		d.p.SetOffline(err != nil && !errors.Is(err, &wire.Error{Code: wire.NotFound}))
	}
	return d.Health(ctx), err
}

// askAgain contacts a backend that did not answer last time, beside the caller, so that the next
// Health knows better: between two sales nothing else asks.
func (d *Drive) askAgain() {
	if d.refresh == nil || !d.asking.CompareAndSwap(false, true) {
		return
	}
	d.p.Later(func(ctx context.Context) {
		defer d.asking.Store(false)
		once, cancel := context.WithTimeout(ctx, refreshTimeout)
		defer cancel()
		err := d.refresh(once)
		if ctx.Err() == nil {
			d.p.SetOffline(err != nil && !errors.Is(err, &wire.Error{Code: wire.NotFound}))
		}
		perform.Pause(ctx, askAgainPause, nil)
	})
}
