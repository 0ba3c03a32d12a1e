package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"posagent/agent/checkout"
	"posagent/store"
)

// Numbers are the last ones that were given, and the highest id of a sale. Zero = none was.
type Numbers struct{ Receipt, Trace, Batch, Sale int64 }

// Given reads the numbers of the journal.
func Given(r store.Reader) (n Numbers, err error) {
	err = r.QueryRow(`SELECT COALESCE((SELECT value FROM checkout_counters WHERE name = 'receipt'), 0),
		COALESCE((SELECT value FROM checkout_counters WHERE name = 'trace'), 0),
		COALESCE((SELECT value FROM checkout_counters WHERE name = 'batch'), 1),
		COALESCE((SELECT MAX(id) FROM checkout_sales), 0)`).Scan(&n.Receipt, &n.Trace, &n.Batch, &n.Sale)
	if err != nil {
		return n, fmt.Errorf("numbers given: %w", err)
	}
	return n, nil
}

// GoOn closes the open batch and lets receipt, trace and batch numbers go on behind all that the
// journal whose place this one takes may have given, in the caller's commit: those are on slips that
// this one does not hold. It keeps which numbers they are. Where the mark of that journal is not known,
// another box may go on from the same copy, or has: batch and trace go on at a place of their own, so that
// R<batch>/<receipt> and a trace name one payment only.
func GoOn(tx store.Tx, db store.DB, past Past, now time.Time) error {
	own, err := Given(tx)
	if err != nil {
		return err
	}
	more, apart := int64(0), int64(0)
	if !past.Known {
		apart = rand.Int64N(numbersApart)
		if more, err = unseen(tx, past, now); err != nil {
			return err
		}
	}
	j := New(Options{DB: db, Now: func() time.Time { return now }})
	if err := j.closeUntold(tx, int(own.Batch)); err != nil {
		return fmt.Errorf("close batch %d: %w", own.Batch, err)
	}
	beyond := func(own, later, last int64) span {
		s := span{from: own, last: last}.upTo(later)
		s.count += more
		return s
	}
	seen := past.Seen
	lost := Lost{
		receipts: beyond(own.Receipt, later(own, seen, own.Receipt, seen.Receipt, receiptsInBatch), receiptsInBatch),
		traces:   beyond(own.Trace, later(own, seen, own.Trace, seen.Trace, lastTrace), lastTrace),
	}
	if lost.traces.count >= receiptsInBatch { // so many may have been receipts
		lost.receipts.count = max(lost.receipts.count, lost.traces.count)
	}
	lost.traces.count += apart
	return errors.Join(
		setCounter(tx, "receipt", lost.receipts.end()), setCounter(tx, "trace", lost.traces.end()),
		setCounter(tx, "batch", max(seen.Batch, own.Batch)+more+apart+1), lost.keep(tx),
	)
}

// numbersApart is among how many batch and trace numbers a journal begins that was restored where its mark is not.
const numbersApart = 100_000

// later returns the one of two last numbers behind which the next is given. The journal with the later batch gave it: the other may be
// a new box's, which knows nothing of the terminal's earlier days. In one batch it is the higher one, unless the numbers, which end at
// last, have begun again at 1 in between.
func later(ours, theirs Numbers, own, seen, last int64) int64 {
	switch {
	case seen == 0, theirs.Batch < ours.Batch:
		return own
	case theirs.Batch == ours.Batch && own > seen && own-seen < last/2:
		return own
	}
	return seen
}

// lastLost is the counter with the highest id of a sale that this journal had when it took a lost
// one's place.
const lastLost = "last_lost"

// KeepLast remembers which sales this journal has from before it took a lost one's place, in the
// caller's commit: the newest of a line need not be what its register asked for last.
func KeepLast(tx store.Tx) error {
	n, err := Given(tx)
	if err != nil {
		return err
	}
	return setCounter(tx, lastLost, n.Sale)
}

// BeforeLoss says whether a sale is from before this journal took a lost one's place; nil asks for
// one that it does not have.
func BeforeLoss(r store.Reader, row *Row) (bool, error) {
	last, err := counter(r, lastLost, -1)
	return err == nil && (row == nil || row.ID <= last), err
}

// closeUntold closes a batch without a register that asked for it. One without receipts leaves no
// report.
func (j *Journal) closeUntold(tx store.Tx, open int) error {
	sales, err := j.many(tx, `batch = ? AND receipt != 0 ORDER BY id`, open)
	if err != nil || len(sales) == 0 {
		return err
	}
	j.opt.Currency = sales[0].Currency
	totals, err := j.totals(tx)
	if err != nil {
		return err
	}
	if err := j.storeReport(tx, totals, nil); err != nil {
		return err
	}
	for _, r := range sales {
		if r.Quarantined || r.State.Phase != checkout.Confirmed {
			continue
		}
		if _, err := j.Transit(tx, r, checkout.Event{Name: checkout.BatchClosed}); err != nil {
			return err
		}
	}
	return nil
}
