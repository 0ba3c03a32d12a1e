package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// Engine is what the suite needs of an engine.
type Engine struct {
	// Place names a place for one store that the test has for itself.
	Place func(tb testing.TB) string
	// Open opens the store at a place: new the first time, and as it was left after that.
	Open func(ctx context.Context, place string, steps []store.Step, w store.Wrapper) (store.Store, error)
	// Crash runs c.Work on a recorded medium and calls c.Check on what crashes at many moments of
	// it leave behind.
	Crash func(tb testing.TB, c Crash)
	// Faulty opens a store on a medium that fails on demand: from fault(ErrFull) or fault(ErrIO) on
	// until heal. reopen closes it and opens what it left.
	Faulty func(tb testing.TB, steps []store.Step) Faulty
	// Lose opens a store where the answer to COMMIT can get lost. nil = the engine is in one
	// process with its medium, and always learns what became of a commit.
	Lose func(tb testing.TB, place string, steps []store.Step) Losing
}

// Crash is a workload with what must hold after a crash in the middle of it.
type Crash struct {
	Steps []store.Step
	Work  func(db store.Store, ack func(v any)) error // calls ack when something was acknowledged
	Check func(db store.Store, acked []any) error     // acked = before the crash
}

// Faulty is a store on a medium that fails on demand.
type Faulty struct {
	DB     store.Store
	Fault  func(as error)
	Heal   func()
	Reopen func() store.Store
}

// Losing is a store that loses the answer to its next commit after Lose; took says whether the
// commit is carried out.
type Losing struct {
	DB   store.Store
	Lose func(took bool)
}

// test is one case.
type test struct {
	name string
	run  func(t *testing.T, s suite)
}

// suite opens stores of the engine for a case.
type suite struct {
	Engine
	wrap func(store.Store) store.Store
}

// open opens a new store with the table that most cases use.
func (s suite) open(t *testing.T, more ...store.Step) store.Store {
	t.Helper()
	return s.at(t, s.Place(t), append([]store.Step{rowsStep}, more...)...)
}

// at opens the store at a place and closes it at the test's end, where the test has not.
func (s suite) at(t *testing.T, place string, steps ...store.Step) store.Store {
	t.Helper()
	db, err := s.Open(t.Context(), place, steps, Wrapper{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return s.wrap(db)
}

var errAgain = errors.New("storetest: once more")

// again runs each closure twice, as an engine does that meets a conflict: the first run is rolled
// back.
type again struct{ store.Store }

// Write implements store.DB.
func (a again) Write(ctx context.Context, fn func(store.Tx) error) error {
	return twice(ctx, a.Store.Write, fn)
}

// WriteOwn implements store.DB.
func (a again) WriteOwn(ctx context.Context, fn func(store.Tx) error) error {
	return twice(ctx, a.Store.WriteOwn, fn)
}

func twice(ctx context.Context, write func(context.Context, func(store.Tx) error) error, fn func(store.Tx) error) error {
	err := write(ctx, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return errAgain
	})
	if !errors.Is(err, errAgain) {
		return err
	}
	return write(ctx, fn)
}

// Again returns db with each closure run twice: rooms prove by it that theirs may be.
func Again(db store.Store) store.Store { return again{db} }

// Forgets returns db with the answer to its next commit lost, once: rooms prove by it that they
// answer it as unknown.
func Forgets(db store.Store) store.Store { return &forgets{Store: db} }

type forgets struct {
	store.Store
	done atomic.Bool
}

// Write implements store.DB.
func (f *forgets) Write(ctx context.Context, fn func(store.Tx) error) error {
	return f.lose(f.Store.Write(ctx, fn))
}

// WriteOwn implements store.DB.
func (f *forgets) WriteOwn(ctx context.Context, fn func(store.Tx) error) error {
	return f.lose(f.Store.WriteOwn(ctx, fn))
}

func (f *forgets) lose(err error) error {
	if err == nil && f.done.CompareAndSwap(false, true) {
		return fmt.Errorf("the connection was cut: %w", store.ErrCommitUnknown)
	}
	return err
}

// rowsStep is the table that most cases use.
var rowsStep = store.Step{Name: "suite/1 rows", SQL: `CREATE TABLE suite_rows (
	id   INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE,
	n    INTEGER NOT NULL
) STRICT;`}

type row struct {
	id   int64
	text string
	n    int64
}

func (r *row) fields() store.Fields { return store.Fields{"id", &r.id, "text", &r.text, "n", &r.n} }

var rows = store.NewTable("suite_rows", (*row).fields)

// put stores a row.
func put(id, n int64) func(store.Tx) error {
	return func(tx store.Tx) error {
		return rows.Insert(tx, &row{id: id, text: fmt.Sprint("row ", id), n: n})
	}
}

// ids returns the ids of all rows in their order.
func ids(t require.TestingT, db store.DB) []int64 {
	list := []int64{}
	err := db.Read(context.Background(), func(r store.Reader) error {
		list = list[:0]
		all, err := rows.All(r, "ORDER BY id")
		for _, one := range all {
			list = append(list, one.id)
		}
		return err
	})
	require.NoError(t, err)
	return list
}
