package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// sold puts a day of approved payments into a journal.
func sold(t *testing.T, db store.DB, n int, at time.Time) {
	t.Helper()
	j := New(Options{DB: db, Now: func() time.Time { return at }})
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i := range n {
			r := &Row{Key: wire.Key(fmt.Sprintf("0198c0de-0000-7000-8000-%06d%06d", at.Unix()/3600%1e6, i)), Kind: ecr.Payment, Line: "tcp", Amount: 500, Currency: "EUR",
				DecidedMS: at.UnixMilli(), State: checkout.State{Kind: ecr.Payment, Phase: checkout.Confirmed, Result: ecr.Approved}}
			if err := j.giveReceipt(tx, r); err != nil {
				return err
			}
			if err := j.Insert(tx, r); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestField2_M3NumbersGoOnBeyondTheLostSpan: a journal that is restored where its mark is not gave the
// numbers of the lost days again, to other customers. It goes on behind all that can have been given:
// the busiest day's for each day since the backup and one more, 1,000 at least; all there are where the
// clock cannot tell.
func TestField2_M3NumbersGoOnBeyondTheLostSpan(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		days   []int // sales of each day, up to the day of the backup
		past   Past
		more   int64
		within []int // receipts that may have been given
		beyond []int
	}{
		"a quiet terminal":             {[]int{2}, Past{LastMS: now.UnixMilli()}, 1000, []int{3, 1002}, []int{1, 2, 1003, 9999}},
		"a busy one, two days ago":     {[]int{600, 10}, Past{LastMS: now.Add(-2 * day).UnixMilli()}, 1800, []int{611, 2410}, []int{610, 2411}},
		"a part of a day counts":       {[]int{600}, Past{LastMS: now.Add(-day - time.Second).UnixMilli()}, 1800, []int{601, 2400}, []int{600, 2401}},
		"a clock before the backup":    {[]int{2}, Past{LastMS: now.Add(time.Hour).UnixMilli()}, lastTrace, []int{1, 2, 3, 9999}, nil},
		"no time is known":             {[]int{2}, Past{}, lastTrace, []int{1, 2, 3, 9999}, nil},
		"longer than there are":        {[]int{600}, Past{LastMS: now.Add(-30 * day).UnixMilli()}, 600 * 31, []int{1, 600, 601, 9999}, nil},
		"another box's mark, far on":   {[]int{2}, Past{Seen: Numbers{Receipt: 50, Trace: 50, Batch: 1}, LastMS: now.UnixMilli()}, 1000, []int{3, 50, 1050}, []int{2, 1051}},
		"its own mark, nothing lost":   {[]int{2}, Past{Seen: Numbers{Receipt: 2, Trace: 2, Batch: 1}, Known: true}, 0, nil, []int{1, 2, 3}},
		"its own mark":                 {[]int{2}, Past{Seen: Numbers{Receipt: 7, Trace: 9, Batch: 2}, Known: true}, 0, []int{3, 7}, []int{1, 2, 8}},
		"its own mark, once around":    {[]int{2}, Past{Seen: Numbers{Receipt: 7, Trace: 20_000, Batch: 30}, Known: true}, 0, []int{1, 2, 3, 9999}, nil},
		"its own mark, begun at 1":     {[]int{20}, Past{Seen: Numbers{Receipt: 5, Trace: 10_010, Batch: 2}, Known: true}, 0, []int{21, 9999, 5}, nil},
		"its own mark says it is ours": {nil, Past{Seen: Numbers{Receipt: 3, Trace: 3, Batch: 1}, Known: true}, 0, []int{1, 3}, []int{4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
			for i, n := range c.days {
				sold(t, db, n, now.Add(-time.Duration(len(c.days)+40-i)*day))
			}
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
				own, err := Given(tx)
				require.NoError(t, err)
				require.NoError(t, GoOn(tx, db, c.past, now))
				n, err := Given(tx)
				require.NoError(t, err)
				if behind := max(own.Batch, c.past.Seen.Batch) + c.more + 1; c.past.Known {
					require.Equal(t, behind, n.Batch, "so does the batch")
				} else {
					require.GreaterOrEqual(t, n.Batch, behind, "so does the batch")
					require.Less(t, n.Batch, behind+numbersApart)
				}
				l, err := LostNumbers(tx)
				require.NoError(t, err)
				for _, r := range c.within {
					require.True(t, l.Receipt(r), r)
				}
				for _, r := range c.beyond {
					require.False(t, l.Receipt(r), r)
				}
				require.Equal(t, len(c.within) > 0, l.Any())
				if l.Any() && l.receipts.count < receiptsInBatch {
					require.False(t, l.Receipt(int(n.Receipt)%receiptsInBatch+1), "the next receipt is no lost one")
					require.True(t, l.Receipt(int(n.Receipt)))
					require.False(t, l.Trace(int(n.Trace)%lastTrace+1))
				}
				require.True(t, l.Open())
				for _, first := range []bool{true, false} {
					released, err := ReleaseNumbers(tx)
					require.NoError(t, err)
					require.Equal(t, first, released)
				}
				l, err = LostNumbers(tx)
				require.False(t, l.Open() || l.Any() || l.Receipt(3) || l.Trace(3))
				return err
			}))
		})
	}
}

// TestField4_B10OneCopyOnTwoBoxesGivesNoNameTwice: a backup was restored on a spare, sold there, and was restored on the next box. Both
// began in the same batch behind the same receipt, so R<batch>/<receipt> of the spare's slip named a payment of another customer, which was
// refunded; a trace named the other's last payment. A third is asked, because two may meet by chance. The kind: whatever a journal numbers
// itself behind a copy. A receipt by itself names nothing without the amount (B.10), local numbers are in offline, and a mark that is its own
// leaves no gap.
func TestField4_B10OneCopyOnTwoBoxesGivesNoNameTwice(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	first, traces := map[[2]int]bool{}, map[int]bool{}
	for range 3 {
		db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
		sold(t, db, 2, now)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			require.NoError(t, GoOn(tx, db, Past{LastMS: now.UnixMilli()}, now))
			r := &Row{Key: "next"}
			require.NoError(t, New(Options{DB: db}).giveReceipt(tx, r))
			first[[2]int{r.Batch, r.Receipt}], traces[r.Trace] = true, true
			return nil
		}))
	}
	require.Greater(t, len(first), 1, "%v", first)
	require.Greater(t, len(traces), 1, "%v", traces)
}

// A second loss keeps the numbers of the first, and all between.
func TestField2_M3ASecondLossKeepsTheFirst(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
	sold(t, db, 2, now)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return GoOn(tx, db, Past{LastMS: now.UnixMilli()}, now) }))
	sold(t, db, 5, now.Add(time.Hour)) // 1003 to 1007
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, GoOn(tx, db, Past{LastMS: now.UnixMilli()}, now))
		l, err := LostNumbers(tx)
		require.NoError(t, err)
		for n, lost := range map[int]bool{2: false, 3: true, 1002: true, 1007: true, 1008: true, 2007: true, 2008: false} {
			require.Equal(t, lost, l.Receipt(n), n)
		}
		return nil
	}))
}

// TestField3_E6AClockBehindMakesNoSpanShorter: a box without a battery restores a backup with a clock that stands shortly after it, and
// the numbers of the days between were given again, to other customers. The first true time widens the span, once, and numbers go on behind
// it. One that is long enough, one that a person has released, and the numbers of a time before stay as they are.
func TestField3_E6AClockBehindMakesNoSpanShorter(t *testing.T) {
	const day = 24 * time.Hour
	backup := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		clock   time.Duration // of the start, behind the backup
		truth   time.Duration
		sells   int // before the true time is heard
		release bool
		more    int64
		lost    []int // receipts that may have been given by the journal before
		own     []int
		next    int64 // receipt
	}{
		"minutes after the backup":      {clock: time.Minute, truth: 3 * day, more: 1200, lost: []int{601, 1800, 1801, 3000}, own: []int{600, 3001}, next: 3001},
		"and sold meanwhile":            {clock: time.Minute, truth: 3 * day, sells: 5, more: 1200, lost: []int{601, 1801, 1805, 3000}, own: []int{3001}, next: 3001},
		"and sold more than that":       {clock: time.Minute, truth: 2 * day, sells: 605, more: 600, lost: []int{1801, 2400}, own: []int{2401, 2405}, next: 2406},
		"longer than there are numbers": {clock: time.Minute, truth: 90 * day, more: 600*91 - 1200, lost: []int{1, 600, 9999}},
		"the clock was right":           {clock: 2*day - time.Hour, truth: 2 * day, lost: []int{601, 2400}, own: []int{2401}, next: 2401},
		"the clock was ahead":           {clock: 5 * day, truth: 2 * day, lost: []int{601, 4200}, own: []int{4201}, next: 4201},
		"released by a person":          {clock: time.Minute, truth: 3 * day, release: true, own: []int{601, 3000}, next: 1801},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, append(outbox.Schema(), Schema()...)...)
			sold(t, db, 600, backup)
			write := func(fn func(tx store.Tx) error) {
				t.Helper()
				require.NoError(t, db.Write(t.Context(), fn))
			}
			now := backup.Add(c.clock)
			write(func(tx store.Tx) error { return GoOn(tx, db, Past{LastMS: backup.UnixMilli()}, now) })
			if c.sells > 0 {
				sold(t, db, c.sells, now.Add(time.Hour))
			}
			write(func(tx store.Tx) error {
				assumed, err := Assumed(tx)
				require.True(t, assumed)
				if err == nil && c.release {
					_, err = ReleaseNumbers(tx)
				}
				return err
			})
			for _, want := range []int64{c.more, 0} {
				write(func(tx store.Tx) error {
					more, err := Widen(tx, backup.Add(c.truth))
					require.Equal(t, want, more)
					return err
				})
			}
			write(func(tx store.Tx) error {
				assumed, err := Assumed(tx)
				require.NoError(t, err)
				require.False(t, assumed)
				l, err := LostNumbers(tx)
				require.NoError(t, err)
				for _, n := range c.lost {
					require.True(t, l.Receipt(n), n)
				}
				for _, n := range c.own {
					require.False(t, l.Receipt(n), n)
				}
				r := &Row{Key: "next"}
				require.NoError(t, New(Options{DB: db}).giveReceipt(tx, r))
				if c.next > 0 {
					require.EqualValues(t, c.next, r.Receipt)
					require.False(t, l.Trace(r.Trace))
				}
				return nil
			})
		})
	}
}
