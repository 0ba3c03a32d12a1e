package daily

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// shop is a journal, a backend, a till's file and a daily comparison, on a clock that the test turns.
type shop struct {
	t    *testing.T
	db   store.Journal
	file string

	mu     sync.Mutex
	jump   time.Duration // of the wall clock, before the bubble's own
	status map[string]aapay.Status
	away   error
	asked  int
	busy   bool
	sane   bool
	noted  []string
	audit  []string

	n    int
	d    *Daily
	stop func()
}

// noon is when each test begins: the time of day at which a list is due is 03:00.
var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// open runs a test in a bubble, with a terminal that is not started.
func open(t *testing.T, test func(t *testing.T, x *shop)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		x := &shop{t: t, file: filepath.Join(dir, "till.csv"), status: map[string]aapay.Status{}, sane: true, stop: func() {}}
		x.db = storetest.OpenAt(t, filepath.Join(dir, "agent.db"), slices.Concat(outbox.Schema(), journal.Schema(), Schema())...)
		x.jump = time.Until(noon)
		test(t, x)
		x.stop()
		require.NoError(t, x.db.Close())
	})
}

func (x *shop) now() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Now().Add(x.jump)
}

// Status implements reconcile.Backend.
func (x *shop) Status(_ context.Context, id, _ string) (aapay.Status, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked++
	if x.away != nil {
		return aapay.Status{}, x.away
	}
	if st, ok := x.status[id]; ok {
		return st, nil
	}
	return aapay.Status{}, wire.Errorf(wire.NotFound, "aapay.status", "transaction not found")
}

// start starts the comparison, as a terminal's start does.
func (x *shop) start() {
	x.d = New(Options{
		DB: x.db, Backend: x, File: x.file, At: 3 * time.Hour, Currency: "EUR", Zone: time.UTC, Now: x.now,
		Sane: func(time.Time) bool { x.mu.Lock(); defer x.mu.Unlock(); return x.sane },
		Busy: func() bool { x.mu.Lock(); defer x.mu.Unlock(); return x.busy },
		Noted: func(_ store.Tx, v Run) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.noted = append(x.noted, v.Sentence())
			return nil
		},
		Audit: func(_ store.Tx, deed, subject, detail string, amount int64, currency string) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.audit = append(x.audit, fmt.Sprint(deed, " ", detail, " ", amount, currency))
			return nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- x.d.Run(ctx) }()
	x.stop = func() { cancel(); require.NoError(x.t, <-ended); x.stop = func() {} }
	x.pass(time.Minute)
}

// pass lets time pass.
func (x *shop) pass(d time.Duration) { <-time.After(d); synctest.Wait() }

// until lets time pass up to a time of the wall clock.
func (x *shop) until(at time.Time) {
	require.Positive(x.t, at.Sub(x.now()))
	x.pass(at.Sub(x.now()))
}

// at is a time of a day of the test; day 0 is the first.
func at(day int, hour, minute int) time.Time {
	return time.Date(2026, 11, 26+day, hour, minute, 0, 0, time.UTC)
}

// sell adds a payment that was approved, on which journal and backend agree, and returns the till's row of it.
func (x *shop) sell(amount money.Minor) (row string) {
	x.n++
	key := wire.NewKey()
	r := &journal.Row{
		Key: key, Kind: ecr.Payment, Line: "tcp", Sequence: fmt.Sprintf("order-%d", x.n), Amount: amount, Currency: "EUR", Method: methods.Definition{Name: "SWISH_E_COM"},
		Reference: journal.ReferenceOf(key), Batch: 1, CreatedMS: x.now().UnixMilli(), Receipt: x.n,
		State: checkout.State{Kind: ecr.Payment, Phase: checkout.Confirmed, Result: ecr.Approved, TransactionID: int64(70_000 + x.n)},
	}
	j := journal.New(journal.Options{DB: x.db})
	require.NoError(x.t, x.db.Write(x.t.Context(), func(tx store.Tx) error { return j.Insert(tx, r) }))
	x.mu.Lock()
	x.status[r.Reference] = aapay.Status{Valid: true, TransactionID: int64(70_000 + x.n), State: aapay.Finalized, AccountState: aapay.Commit}
	x.mu.Unlock()
	return fmt.Sprintf("%s,%d,yes,%s", x.now().Format(time.RFC3339), amount, r.Sequence)
}

// write writes the till's list.
func (x *shop) write(rows ...string) {
	x.text("time,minor,paid,id\n" + strings.Join(rows, "\n") + "\n")
}

func (x *shop) text(text string) {
	require.NoError(x.t, os.WriteFile(x.file+".new", []byte(text), 0o600))
	require.NoError(x.t, os.Rename(x.file+".new", x.file))
	require.NoError(x.t, os.Chtimes(x.file, x.now(), x.now()))
}

// waits are the findings that wait for a person, each as class: text.
func (x *shop) waits() (list []string) {
	for _, f := range x.findings() {
		list = append(list, f.Class+": "+f.About+": "+f.Text)
	}
	return list
}

func (x *shop) findings() (list []Finding) {
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) (err error) { list, _, err = Findings(r, 1000); return err }))
	return list
}

func (x *shop) last() (v Run) {
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) (err error) { v, _, err = Last(r); return err }))
	return v
}

// said takes what was noted since it was called before.
func (x *shop) said() (list []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	list, x.noted = x.noted, nil
	return list
}

func (x *shop) set(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	fn()
}
