package journal

import (
	"fmt"
	"time"

	"posagent/store"
)

// The counters of a span whose length a wall clock has said: the clock of a box may be wrong by as much
// as nobody knows (MONEY B.12), and the span is to be no shorter than the true time makes it (B.10).
const (
	spanSince = "span_since" // unix ms, when the journal was last written before
	spanDaily = "span_daily" // numbers of the busiest day
	spanGiven = "span_given" // numbers that the span has for the days since
)

// assume keeps what the length of a span rests on, together with that of an earlier one that no true
// time has confirmed.
func assume(tx store.Tx, past Past, daily, more int64) error {
	since, err := counter(tx, spanSince, 0)
	if err != nil {
		return err
	}
	if since == 0 || past.LastMS < since {
		since = past.LastMS
	}
	for name, n := range map[string]func(was int64) int64{
		spanSince: func(int64) int64 { return since },
		spanDaily: func(was int64) int64 { return max(was, daily) },
		spanGiven: func(was int64) int64 { return was + more },
	} {
		was, err := counter(tx, name, 0)
		if err == nil {
			err = setCounter(tx, name, n(was))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Assumed says that the length of the span of lost numbers rests on a wall clock.
func Assumed(r store.Reader) (bool, error) {
	since, err := counter(r, spanSince, 0)
	return since > 0, err
}

// Widen makes the span of lost numbers as long as a true time says, in the caller's commit, and lets
// numbers go on behind it; it returns by how many. A span that is long enough stays. Numbers that this
// journal has given meanwhile, and that the other one may have given too, name no payment by themselves
// then.
func Widen(tx store.Tx, at time.Time) (more int64, err error) {
	var since, daily, given int64
	for name, n := range map[string]*int64{spanSince: &since, spanDaily: &daily, spanGiven: &given} {
		if *n, err = counter(tx, name, 0); err != nil {
			return 0, err
		}
	}
	l, err := LostNumbers(tx)
	if err != nil || since == 0 {
		return 0, err
	}
	if _, err := tx.Exec(`DELETE FROM checkout_counters WHERE name IN (?, ?, ?)`, spanSince, spanDaily, spanGiven); err != nil {
		return 0, fmt.Errorf("lost numbers: %w", err)
	}
	more = spanFor(at.Sub(time.UnixMilli(since)), daily) - given
	if more <= 0 || !l.Any() { // a person has released them
		return 0, nil
	}
	own, err := Given(tx)
	if err != nil {
		return 0, err
	}
	l.receipts, l.traces = l.receipts.longer(more), l.traces.longer(more)
	for name, n := range map[string]int64{spanReceipts: l.receipts.count, spanTraces: l.traces.count} {
		if err := setCounter(tx, name, n); err != nil {
			return 0, err
		}
	}
	if l.Receipt(int(own.Receipt)) {
		err = setCounter(tx, "receipt", l.receipts.end())
	}
	if err == nil && l.Trace(int(own.Trace)) {
		err = setCounter(tx, "trace", l.traces.end())
	}
	return more, err
}
