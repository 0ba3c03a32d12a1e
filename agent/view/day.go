package view

import (
	"context"
	"fmt"
	"math"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Turnover is what a day's sales came to in one currency. It counts what the totals of an end of day
// count, without sales that were set aside or changed from outside.
type Turnover struct {
	Currency string
	Payments Figure
	Refunds  Figure // reversals too
	Net      int64  // minor units
}

// Day is the sales of the terminal's own day, and the newest ones of any day.
type Day struct {
	Since  time.Time
	Totals []Turnover
	More   bool   // there are more sales than are looked through, so the totals are of the newest alone
	Newest []Sale // the newest first, at most 20
	Open   []Sale // those that are not at their end and not among the newest, whatever came since
}

// What a day looks through. Most days need the first read alone.
const (
	dayFirst  = 100
	dayAtMost = 1000
	newestOf  = 20
)

// Day reads the sales since midnight, the caller's own where it reaches no others. wire.Forbidden where the caller may not see sales; it fails
// where the journal cannot be read, or where a sum is too large.
func (h *Daemon) Day(ctx context.Context) (v Day, err error) {
	if err := wire.Allow(ctx, "", wire.MaySales); err != nil {
		return v, err
	}
	now := h.Now().Local()
	v.Since = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local)
	var which journal.Which
	if caller := wire.CallerOf(ctx); caller.Own {
		which.OneLine, which.Line = true, LineOf(caller.Name)
	}
	err = h.DB.Read(ctx, func(r store.Reader) error { return v.read(r, which) })
	return v, err
}

func (v *Day) read(r store.Reader, which journal.Which) error {
	v.Totals, v.Newest, v.Open = nil, nil, nil // the read may run again
	since := v.Since.UnixMilli()
	var rows []*journal.Row
	for _, most := range []int{dayFirst, dayAtMost} {
		var err error
		which.Limit = most
		if rows, err = journal.Listed(r, which); err != nil {
			return err
		}
		v.More = len(rows) == most && rows[most-1].CreatedMS >= since
		if !v.More {
			break
		}
	}
	for i, row := range rows {
		if i < newestOf {
			v.Newest = append(v.Newest, SaleOf(row))
		}
		counts := row.Receipt != 0 && !row.Quarantined && row.Good()
		if row.CreatedMS < since || !counts {
			continue
		}
		if err := v.turnover(row.Currency).add(row.Kind, row.Amount); err != nil {
			return fmt.Errorf("sales of the day: %w", err)
		}
	}
	if len(rows) <= newestOf {
		return nil
	}
	which.Stage, which.Before, which.Limit = journal.Open, rows[newestOf-1].ID, math.MaxInt32
	open, err := journal.Listed(r, which)
	for _, row := range open {
		v.Open = append(v.Open, SaleOf(row))
	}
	return err
}

func (v *Day) turnover(currency string) *Turnover {
	for i := range v.Totals {
		if v.Totals[i].Currency == currency {
			return &v.Totals[i]
		}
	}
	v.Totals = append(v.Totals, Turnover{Currency: currency})
	return &v.Totals[len(v.Totals)-1]
}

func (t *Turnover) add(kind ecr.Kind, amount money.Minor) error {
	to, sign := &t.Payments, money.Minor(1)
	if kind != ecr.Payment {
		to, sign = &t.Refunds, -1
	}
	sum, err := money.Add(money.Minor(to.Sum), amount)
	if err != nil {
		return err
	}
	net, err := money.Add(money.Minor(t.Net), sign*amount)
	to.Count, to.Sum, t.Net = to.Count+1, int64(sum), int64(net)
	return err
}
