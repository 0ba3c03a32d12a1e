package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Close implements ecr.Till (MONEY B.13).
func (d *Drive) Close(ctx context.Context) (ecr.Totals, error) {
	totals, err := d.endDay(ctx)
	return totals, d.inLanguage(err)
}

func (d *Drive) endDay(ctx context.Context) (ecr.Totals, error) {
	if !d.ready.Load() {
		return ecr.Totals{}, refuse(ecr.NotReady, "starting")
	}
	if !d.closing.CompareAndSwap(false, true) {
		return ecr.Totals{}, refuse(ecr.EODImpossible, "end of day is running")
	}
	defer d.closing.Store(false)
	d.desk.Lock()   // whoever is in Begin has journalled its sale
	d.desk.Unlock() //nolint:staticcheck // the lock is the wait
	until := d.boot() + closeBound
	waited := map[wire.Key]bool{} // found unconfirmed: their undo has to be proven
	for {
		changed := d.watchChange()
		open, err := d.settleForClose(ctx, waited)
		if err != nil {
			return ecr.Totals{}, err
		}
		if open == "" {
			totals, ok, err := d.close(ctx, waited)
			if err != nil || ok {
				return totals, err
			}
			continue
		}
		if pause(ctx, until-d.boot(), changed) || ctx.Err() != nil {
			return ecr.Totals{}, refuse(ecr.EODImpossible, "%s", open)
		}
	}
}

// settleForClose undoes what is unconfirmed and names something that is not settled yet; "" = all is.
func (d *Drive) settleForClose(ctx context.Context, waited map[wire.Key]bool) (string, error) {
	var open string
	var steps []step
	err := d.db.Write(ctx, func(tx store.Tx) error {
		open, steps = "", nil
		rows, err := d.active(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Quarantined {
				continue
			}
			if r.State.Phase == checkout.Unconfirmed && !d.isHeld(r.Key) {
				waited[r.Key] = true
				effects, err := d.transit(tx, r, checkout.Event{Name: checkout.EndOfDay})
				if err != nil {
					return err
				}
				steps = append(steps, step{r, effects, d.nextSeq()})
			}
			if blocks(r, waited) {
				open = title(r) + " is not settled"
			}
		}
		return nil
	})
	if err != nil {
		return "", d.stored(err)
	}
	for _, s := range steps {
		d.perform(s.row, s.effects, s.seq)
	}
	return open, nil
}

// blocks says whether a sale keeps the batch open.
func blocks(r *Row, waited map[wire.Key]bool) bool {
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
func (d *Drive) close(ctx context.Context, waited map[wire.Key]bool) (totals ecr.Totals, ok bool, err error) {
	var steps []step
	err = d.db.Write(ctx, func(tx store.Tx) error {
		ok, steps = false, nil
		rows, err := d.active(tx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if blocks(r, waited) {
				return nil
			}
		}
		if totals, err = d.totals(tx); err != nil {
			return err
		}
		if totals.Trace, err = nextTrace(tx); err != nil {
			return err
		}
		report, err := json.Marshal(totals)
		if err != nil {
			return fmt.Errorf("close batch: %w", err)
		}
		if _, err := tx.Exec(`INSERT INTO checkout_batches (number, closed_ms, report) VALUES (?, ?, ?)`, totals.Batch, d.now().UnixMilli(), report); err != nil {
			return fmt.Errorf("close batch: %w", err)
		}
		sales, err := many(d.db, tx, confirmedIn+` ORDER BY id`, totals.Batch, string(checkout.Confirmed))
		if err != nil {
			return err
		}
		for _, r := range sales {
			if r.Quarantined {
				continue
			}
			effects, err := d.transit(tx, r, checkout.Event{Name: checkout.BatchClosed})
			if err != nil {
				return err
			}
			steps = append(steps, step{r, effects, d.nextSeq()})
		}
		if d.audit != nil {
			detail := fmt.Sprintf("%d transactions", totals.Count)
			if err := d.audit(tx, "batch.close", fmt.Sprintf("batch %d", totals.Batch), detail, int64(totals.Net), totals.Currency); err != nil {
				return err
			}
		}
		ok = true
		return setCounter(tx, "batch", int64(totals.Batch)+1)
	})
	if err != nil {
		return ecr.Totals{}, false, d.stored(err)
	}
	for _, s := range steps {
		d.perform(s.row, s.effects, s.seq)
	}
	return totals, ok, nil
}

// Turnover implements ecr.Till.
func (d *Drive) Turnover(ctx context.Context) (ecr.Totals, error) {
	var t ecr.Totals
	err := d.db.Read(ctx, func(r store.Reader) error {
		var err error
		if t, err = d.totals(r); err != nil {
			return err
		}
		trace, err := counter(r, "trace", 0)
		t.Trace = int(trace)
		return err
	})
	return t, d.stored(err)
}

// totals adds up the open batch.
func (d *Drive) totals(r store.Reader) (ecr.Totals, error) {
	open, err := batch(r)
	if err != nil {
		return ecr.Totals{}, err
	}
	t := ecr.Totals{Batch: open, Time: d.now(), Currency: d.cfg.Currency}
	rows, err := many(d.db, r, `batch = ? AND receipt != 0 ORDER BY id`, open)
	if err != nil {
		return t, err
	}
	place := map[string]int{}
	for _, row := range rows {
		if row.altered || row.Aside != "" && !row.Closed {
			t.Exceptions = append(t.Exceptions, fmt.Sprintf("receipt %d is quarantined: its row was changed from outside, or was put back", row.Receipt))
			continue
		}
		if t.FirstReceipt == 0 {
			t.FirstReceipt = row.Receipt
		}
		t.LastReceipt = row.Receipt
		if !checkout.Good(row.State) {
			continue
		}
		i, ok := place[row.Method.Name+row.Currency]
		if !ok {
			i = len(t.Methods)
			place[row.Method.Name+row.Currency] = i
			t.Methods = append(t.Methods, ecr.MethodTotal{
				Method: row.Method.Name, Label: row.Method.Label, CardType: ecr.CardType(row.Method.Name), Currency: row.Currency,
			})
		}
		m := &t.Methods[i]
		t.Count++
		sign := money.Minor(1)
		if row.Kind == ecr.Payment {
			m.Payments++
			m.PaymentSum, err = money.Add(m.PaymentSum, row.Amount)
		} else {
			sign = -1
			m.Refunds++
			m.RefundSum, err = money.Add(m.RefundSum, row.Amount)
		}
		if err != nil {
			return t, fmt.Errorf("totals: %w", err)
		}
		if t.Net, err = money.Add(t.Net, sign*row.Amount); err != nil {
			return t, fmt.Errorf("totals: %w", err)
		}
	}
	lines, err := d.exceptions(r, open)
	t.Exceptions = append(t.Exceptions, lines...)
	return t, err
}

// exceptions lists what the merchant has to know: what was raised in the batch, and what is still on its way.
func (d *Drive) exceptions(r store.Reader, open int) ([]string, error) {
	var out []string
	entries, err := readEntries(r, `loud = 1 AND batch = ? ORDER BY id`, open)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		out = append(out, e.Text)
	}
	rows, err := d.active(r)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		switch {
		case row.Quarantined:
			out = append(out, fmt.Sprintf("sale %s is quarantined", row.Key))
		case row.State.Phase == checkout.Reversing:
			out = append(out, title(row)+": being undone, carried over")
		case row.State.Phase == checkout.Unconfirmed:
			out = append(out, title(row)+": not acknowledged by the register")
		case row.State.Phase == checkout.Forward:
			out = append(out, title(row)+": in progress")
		case row.State.Settling:
			out = append(out, title(row)+": approved, not settled yet")
		}
	}
	return out, nil
}

// Health implements ecr.Till.
func (d *Drive) Health(ctx context.Context) ecr.Health {
	defs, state := d.methods()
	h := ecr.Health{
		Ready: d.ready.Load() && len(defs) > 0, NoMethods: len(defs) == 0, Offline: d.offline.Load(), TerminalID: d.cfg.TerminalID,
		Currency: d.cfg.Currency, Version: d.cfg.Version, Lines: []string{fmt.Sprintf("payment methods: %d, %s", len(defs), state)},
	}
	if h.Offline {
		h.Lines = append(h.Lines, "the backend does not answer")
		d.askAgain()
	}
	err := d.db.Read(ctx, func(r store.Reader) error {
		rows, err := d.active(r)
		if err != nil {
			return err
		}
		for _, row := range rows {
			h.Busy = h.Busy || !row.Quarantined && checkout.Open(row.State)
		}
		open, err := batch(r)
		if err != nil {
			return err
		}
		lines, err := d.exceptions(r, open)
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
		d.offline.Store(err != nil && !errors.Is(err, &wire.Error{Code: wire.NotFound}))
	}
	return d.Health(ctx), err
}

// askAgain contacts a backend that did not answer last time, beside the caller, so that the next Health knows better: between
// two sales nothing else asks.
func (d *Drive) askAgain() {
	if d.refresh == nil || !d.asking.CompareAndSwap(false, true) {
		return
	}
	d.later(func(ctx context.Context) {
		defer d.asking.Store(false)
		once, cancel := context.WithTimeout(ctx, statusTimeout)
		defer cancel()
		err := d.refresh(once)
		if ctx.Err() == nil {
			d.offline.Store(err != nil && !errors.Is(err, &wire.Error{Code: wire.NotFound}))
		}
		pause(ctx, askAgainPause, nil)
	})
}
