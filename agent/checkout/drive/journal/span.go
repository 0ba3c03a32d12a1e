package journal

import (
	"fmt"
	"time"

	"posagent/store"
)

// Past is what is known of the journal whose place this one takes.
type Past struct {
	Seen   Numbers // the last numbers that a mark has seen
	Known  bool    // the mark is that journal's own: it gave no numbers behind those
	LastMS int64   // unix ms, when this journal was last written before; 0 = not known
}

// leastSpan is how many numbers a journal may have given at the least, where its mark is not known.
const leastSpan = 1000

// The counters of a span: the numbers behind from, so many of them, may have been given by a journal
// whose place this one took.
const (
	spanReceipt, spanReceipts = "span_receipt", "span_receipts"
	spanTrace, spanTraces     = "span_trace", "span_traces"
	// spanOpen is 1 until a person has released what such a journal may have given, were it money alone.
	spanOpen = "span_open"
)

// span is a row of numbers that begin again at 1 behind last.
type span struct{ from, count, last int64 }

// holds says whether a number is one of the span's.
func (s span) holds(n int64) bool {
	if s.count >= s.last {
		return true
	}
	behind := (n - s.from + s.last) % s.last
	return behind >= 1 && behind <= s.count
}

// end is the last number of the span.
func (s span) end() int64 {
	if s.count == 0 {
		return s.from
	}
	return (s.from+s.count-1)%s.last + 1
}

// longer is the span with so many more numbers, all there are at the most.
func (s span) longer(more int64) span {
	s.count = min(s.count+more, s.last)
	return s
}

// upTo is the span that goes on to a later number.
func (s span) upTo(n int64) span {
	s.count += (n - s.end() + s.last) % s.last
	return s
}

// Lost are the numbers that a journal whose place this one took may have given.
type Lost struct {
	receipts, traces span
	open             bool
}

// LostNumbers reads them.
func LostNumbers(r store.Reader) (l Lost, err error) {
	l = Lost{receipts: span{last: receiptsInBatch}, traces: span{last: lastTrace}}
	open := int64(0)
	for name, n := range map[string]*int64{
		spanReceipt: &l.receipts.from, spanReceipts: &l.receipts.count, spanTrace: &l.traces.from, spanTraces: &l.traces.count, spanOpen: &open,
	} {
		if *n, err = counter(r, name, 0); err != nil {
			return l, err
		}
	}
	l.open = open == 1 || l.Any() // an older program kept numbers alone
	return l, nil
}

// Any says that there are such numbers, and that no person has released them.
func (l Lost) Any() bool { return l.receipts.count > 0 || l.traces.count > 0 }

// Open says that no person has released what that journal may have given. Where its mark has seen each number, it may have given money
// back all the same: a refund has a number only once it has ended.
func (l Lost) Open() bool { return l.open }

// Receipt says whether a receipt number may be one of them.
func (l Lost) Receipt(n int) bool { return l.receipts.count > 0 && l.receipts.holds(int64(n)) }

// Trace says the same of a trace number.
func (l Lost) Trace(n int) bool { return l.traces.count > 0 && l.traces.holds(int64(n)) }

// keep stores them: with those of an earlier loss, and all between, where there are any.
func (l Lost) keep(tx store.Tx) error {
	was, err := LostNumbers(tx)
	if err != nil {
		return err
	}
	join := func(was, now span) span {
		if was.count == 0 {
			return now
		}
		was = was.upTo(now.from)
		was.count += now.count
		return was
	}
	l.receipts, l.traces = join(was.receipts, l.receipts), join(was.traces, l.traces)
	for name, n := range map[string]int64{spanReceipt: l.receipts.from, spanReceipts: min(l.receipts.count, l.receipts.last),
		spanTrace: l.traces.from, spanTraces: min(l.traces.count, l.traces.last), spanOpen: 1} {
		if err := setCounter(tx, name, n); err != nil {
			return err
		}
	}
	return nil
}

// ReleaseNumbers lets bare numbers name payments again, and payments from before be given back without a word, in the caller's commit;
// false = they did.
func ReleaseNumbers(tx store.Tx) (bool, error) {
	l, err := LostNumbers(tx)
	if err != nil || !l.Open() {
		return false, err
	}
	_, err = tx.Exec(`DELETE FROM checkout_counters WHERE name IN (?, ?, ?, ?, ?, ?, ?, ?)`,
		spanReceipt, spanReceipts, spanTrace, spanTraces, spanOpen, spanSince, spanDaily, spanGiven)
	return true, err
}

// unseen is how many numbers a journal may have given since its last write: the busiest day's, for
// each day since, as the wall clock has it until a true time is heard (Widen). Where that cannot tell
// how long it is, all there are.
func unseen(tx store.Tx, past Past, now time.Time) (int64, error) {
	since := now.Sub(time.UnixMilli(past.LastMS))
	if past.LastMS == 0 || since < 0 {
		return lastTrace, nil
	}
	daily, err := busiestDay(tx)
	if err != nil {
		return 0, err
	}
	more := spanFor(since, daily)
	return more, assume(tx, past, daily, more)
}

// spanFor is how many numbers a journal gives at most in a time.
func spanFor(since time.Duration, daily int64) int64 {
	const day = 24 * time.Hour
	days := int64((since + day - 1) / day)
	return min(max(leastSpan, daily*(days+1)), lastTrace)
}

// busiestDay counts the numbers of the day on which most were given.
func busiestDay(r store.Reader) (int64, error) {
	var busiest int64 // a receipt and a closing have a trace number each
	if err := r.QueryRow(`SELECT COALESCE(MAX(n), 0) FROM (SELECT SUM(n) AS n FROM (
		SELECT decided_ms / 86400000 AS day, COUNT(*) AS n FROM checkout_sales WHERE receipt != 0 GROUP BY day
		UNION ALL SELECT closed_ms / 86400000, COUNT(*) FROM checkout_batches GROUP BY 1) GROUP BY day)`).Scan(&busiest); err != nil {
		return 0, fmt.Errorf("busiest day: %w", err)
	}
	most, err := busiestBatch(r)
	if err != nil {
		return 0, err
	}
	return max(busiest, most), nil
}

// busiestBatch counts the receipts of the largest batch that was closed: its sales may be purged.
func busiestBatch(r store.Reader) (most int64, err error) {
	numbers, err := store.Column[int](r, `SELECT number FROM checkout_batches`)
	for _, n := range numbers {
		t, fault := Report(r, n)
		if fault != nil {
			return 0, fault
		}
		most = max(most, int64(t.Count))
	}
	return most, err
}
