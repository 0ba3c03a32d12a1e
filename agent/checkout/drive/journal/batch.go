package journal

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/store"
)

// CloseBatch closes the open batch in the caller's commit, and notes who asked for it. It returns its
// totals and what the sales of it have come to.
func (j *Journal) CloseBatch(tx store.Tx, by ...ecr.Asker) (totals ecr.Totals, steps []Step, err error) {
	if totals, err = j.totals(tx); err != nil {
		return totals, nil, err
	}
	if totals.Trace, err = nextTrace(tx); err != nil {
		return totals, nil, err
	}
	if err := j.storeReport(tx, totals, by); err != nil {
		return totals, nil, fmt.Errorf("close batch: %w", err)
	}
	sales, err := j.many(tx, confirmedIn+` ORDER BY id`, totals.Batch, string(checkout.Confirmed))
	if err != nil {
		return totals, nil, err
	}
	for _, r := range sales {
		if r.Quarantined {
			continue
		}
		s, err := j.Transit(tx, r, checkout.Event{Name: checkout.BatchClosed})
		if err != nil {
			return totals, nil, err
		}
		steps = append(steps, s)
	}
	return totals, steps, setCounter(tx, "batch", int64(totals.Batch)+1)
}

func (j *Journal) storeReport(tx store.Tx, totals ecr.Totals, by []ecr.Asker) error {
	run, err := outbox.Running(tx)
	if err != nil {
		return err
	}
	day := closedDay{Totals: totals, RunMS: run}
	for _, a := range by {
		day.ask(a)
	}
	report, err := json.Marshal(day)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO checkout_batches (number, closed_ms, report) VALUES (?, ?, ?)`, totals.Batch, j.opt.Now().UnixMilli(), report)
	return err
}

// Report reads the totals of a batch as it was closed. It returns ErrUnknown.
func Report(r store.Reader, batch int) (t ecr.Totals, err error) {
	var report []byte
	err = r.QueryRow(`SELECT report FROM checkout_batches WHERE number = ?`, batch).Scan(&report)
	if errors.Is(err, sql.ErrNoRows) {
		return t, ErrUnknown
	}
	if err == nil {
		err = json.Unmarshal(report, &t)
	}
	if err != nil {
		return t, fmt.Errorf("report of batch %d: %w", batch, err)
	}
	return t, nil
}

// LastClosed is the number of the batch that was closed last. It returns ErrUnknown where none was.
func LastClosed(r store.Reader) (n int, err error) {
	err = r.QueryRow(`SELECT COALESCE(MAX(number), 0) FROM checkout_batches`).Scan(&n)
	if err == nil && n == 0 {
		err = ErrUnknown
	}
	return n, err
}

// Turnover adds up the open batch as it stands.
func (j *Journal) Turnover(r store.Reader) (ecr.Totals, error) {
	t, err := j.totals(r)
	if err != nil {
		return t, err
	}
	trace, err := counter(r, "trace", 0)
	t.Trace = int(trace)
	return t, err
}

// totals adds up the open batch. The count and the net are those of the terminal's currency: what
// has another one is summed apart (MONEY D.15).
func (j *Journal) totals(r store.Reader) (ecr.Totals, error) {
	open, err := Batch(r)
	if err != nil {
		return ecr.Totals{}, err
	}
	t := ecr.Totals{Batch: open, Time: j.opt.Now(), Currency: j.opt.Currency}
	rows, err := j.many(r, `batch = ? AND receipt != 0 ORDER BY id`, open)
	if err != nil {
		return t, err
	}
	place := map[string]int{}
	var apart beside
	for _, row := range rows {
		if row.altered || row.Aside != "" && !row.Closed {
			t.Exceptions = append(t.Exceptions, fmt.Sprintf("receipt %d is quarantined: its row was changed from outside, or waits for a person", row.Receipt))
			continue
		}
		if t.FirstReceipt == 0 {
			t.FirstReceipt = row.Receipt
		}
		t.LastReceipt = row.Receipt
		if !row.Good() {
			if row.Undone() && row.State.Phase == checkout.Done { // the cashier may count it
				t.Exceptions = append(t.Exceptions, row.Title()+": undone after its approval")
			}
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
		count, net := &t.Count, &t.Net
		if row.Currency != t.Currency {
			count, net = apart.in(row.Currency)
		}
		*count++
		if *net, err = money.Add(*net, sign*row.Amount); err != nil {
			return t, fmt.Errorf("totals: %w", err)
		}
	}
	t.Exceptions = append(t.Exceptions, apart.lines()...)
	lines, err := j.Exceptions(r, open)
	t.Exceptions = append(t.Exceptions, lines...)
	return t, err
}

// beside are the sums of a batch in currencies that are not the terminal's: what was on its way as
// that was changed, and what a program before this one took.
type beside []*sum

type sum struct {
	currency string
	count    int
	net      money.Minor
}

// in are the count and the net of a currency.
func (b *beside) in(currency string) (*int, *money.Minor) {
	for _, s := range *b {
		if s.currency == currency {
			return &s.count, &s.net
		}
	}
	s := &sum{currency: currency}
	*b = append(*b, s)
	return &s.count, &s.net
}

func (b beside) lines() (list []string) {
	for _, s := range b {
		list = append(list, fmt.Sprintf("%d transaction(s) in %s besides, %s in all: not in the sum", s.count, s.currency, Amount(s.net, s.currency)))
	}
	return list
}

// Exceptions lists what the merchant has to know: what was raised in the batch, and what is still
// on its way.
func (j *Journal) Exceptions(r store.Reader, open int) ([]string, error) {
	var out []string
	entries, err := readEntries(r, `loud = 1 AND batch = ? ORDER BY id`, open)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		out = append(out, e.Text)
	}
	rows, err := j.Active(r)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		switch {
		case row.Quarantined:
			out = append(out, fmt.Sprintf("sale %s is quarantined", row.Key))
		case row.State.Phase == checkout.Held:
			out = append(out, row.Title()+": held, a person decides")
		case row.State.Phase == checkout.Reversing:
			out = append(out, row.Title()+": being undone, carried over")
		case row.State.Phase == checkout.Unconfirmed:
			out = append(out, row.Title()+": not acknowledged by the register")
		case row.State.Phase == checkout.Forward:
			out = append(out, row.Title()+": in progress")
		case row.State.Settling:
			out = append(out, row.Title()+": approved, not settled yet")
		}
	}
	ended, err := j.Untold(r)
	for _, row := range ended {
		if !row.Quarantined { // it has a line of its own
			out = append(out, row.UntoldEnd())
		}
	}
	return out, err
}
