package move

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"posagent/store"
)

// Books are those of one engine.
type Books struct {
	store.DB
	Name    string // of the place, without a password: the same place has the same name, however it was typed
	Catalog func(store.Reader) ([]store.Catalog, error)
	Copied  func(store.Tx, store.Catalog) error // after a table's rows, nil = nothing to do
}

// Options say how to copy.
type Options struct {
	DryRun   bool                                      // compare the tables, count the rows, and change nothing
	Batch    int                                       // rows of one commit at most, 0 = 5000
	Progress func(doing, table string, done, of int64) // doing is Copying or Comparing
}

// What Progress is told of.
const (
	Copying   = "copying"
	Comparing = "comparing"
)

// Table is what became of one table.
type Table struct {
	Name   string `json:"table"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of its rows in the order of the key; "" with DryRun
}

// The names in store_meta.
const (
	metaTo   = store.MetaMoved
	metaFrom = "moved from"
)

// mark is what both say of a move.
type mark struct {
	ID   string `json:"id"`
	To   string `json:"to,omitempty"`
	Done bool   `json:"done,omitempty"`
	// Tables are those of which the copy has something: each commit of rows says so, too.
	Tables map[string]progress `json:"tables,omitempty"`
}

// progress is how far the copy of a table is.
type progress struct {
	Done   int64 `json:"done"`
	Of     int64 `json:"of"`
	Widest int64 `json:"widest"` // bytes of the widest row
	Whole  bool  `json:"whole,omitempty"`
}

// Errors of books that do not fit. Decide with errors.Is.
var (
	// ErrMoved is store's.
	ErrMoved = store.ErrMoved
	// ErrBegun: a copy to another place is begun, and may be gone on with there.
	ErrBegun = errors.New("a copy of the books is begun")
	// ErrIncomplete: a copy that was not compared yet.
	ErrIncomplete = errors.New("the books are a copy that is not complete")
	// ErrNotEmpty: the place to copy to has books of its own.
	ErrNotEmpty = errors.New("there are other books already")
	// ErrSchema: the two have different tables.
	ErrSchema = errors.New("the tables differ")
	// ErrDiffers: the copy is not equal to the books. Nothing was given up: the books are as they were.
	ErrDiffers = errors.New("the copy differs")
)

// Check refuses books that are not to be opened for work.
func Check(ctx context.Context, db store.DB) error {
	return db.Read(ctx, func(r store.Reader) error {
		to, err := markOf(r, metaTo)
		if err != nil {
			return err
		}
		if to != nil {
			return fmt.Errorf("%w to %s", ErrMoved, to.To)
		}
		from, err := markOf(r, metaFrom)
		if err == nil && from != nil {
			err = ErrIncomplete
		}
		return err
	})
}

func markOf(r store.Reader, name string) (*mark, error) {
	var text []byte
	err := r.QueryRow("SELECT value FROM store_meta WHERE name = ?", name).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	m := new(mark)
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	return m, err
}

func write(ctx context.Context, db store.DB, name string, m *mark) error {
	return db.Write(ctx, func(tx store.Tx) error { return put(tx, name, m) })
}

// put writes a mark; nil takes it away.
func put(tx store.Tx, name string, m *mark) error {
	if m == nil {
		_, err := tx.Exec("DELETE FROM store_meta WHERE name = ?", name)
		return err
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = tx.Exec(store.PutMeta, name, text)
	}
	return err
}

// GiveUp opens books for work again from which a copy was begun and not completed.
func GiveUp(ctx context.Context, from store.DB) error {
	var to *mark
	err := from.Read(ctx, func(r store.Reader) (err error) { to, err = markOf(r, metaTo); return err })
	switch {
	case err != nil:
		return err
	case to == nil:
		return errors.New("no copy was begun")
	case to.Done:
		return fmt.Errorf("%w to %s: the copy is complete, and may have taken work", ErrMoved, to.To)
	}
	return write(ctx, from, metaTo, nil)
}

// Copy copies all books of one engine to another. It returns what it copied, table by table.
func Copy(ctx context.Context, from, to Books, opt Options) (list []Table, err error) {
	if opt.Batch == 0 {
		opt.Batch = pageRows
	}
	if opt.Progress == nil {
		opt.Progress = func(string, string, int64, int64) {}
	}
	tables, err := compare(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if opt.DryRun {
		if err := empty(ctx, from, to, tables); err != nil {
			return nil, err
		}
		for _, t := range tables {
			n, err := count(ctx, from, t)
			if err != nil {
				return nil, err
			}
			list = append(list, Table{Name: t.Table, Rows: n})
		}
		return list, nil
	}
	begun, copied, err := begin(ctx, from, to, tables)
	if err != nil {
		return nil, err
	}
	if !begun.Done {
		for _, t := range tables {
			if err := copyTable(ctx, from, to, t, copied, opt); err != nil {
				return nil, fmt.Errorf("%s: %w", t.Table, err)
			}
		}
	}
	for _, t := range tables {
		was, is, err := digests(ctx, from, to, t, copied.Tables[t.Table], opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Table, err)
		}
		if was != is {
			return nil, fmt.Errorf("%w: %s has %d rows (%.12s), and its copy %d (%.12s)", ErrDiffers, t.Table, was.Rows, was.SHA256, is.Rows, is.SHA256)
		}
		list = append(list, was)
	}
	return list, finish(ctx, from, to, begun)
}

// finish lets the copy count, then take work. Each mark has to be the one of this move still: where it is not, the move was
// given up or begun elsewhere meanwhile, and two places would take work.
func finish(ctx context.Context, from, to Books, begun *mark) error {
	own := func(tx store.Tx, name string) error {
		m, err := markOf(tx, name)
		if err == nil && (m == nil || m.ID != begun.ID) {
			err = fmt.Errorf("%w elsewhere, or this one was given up", ErrBegun)
		}
		return err
	}
	done := *begun
	done.Done = true
	if err := from.Write(ctx, func(tx store.Tx) error {
		if err := own(tx, metaTo); err != nil {
			return err
		}
		return put(tx, metaTo, &done)
	}); err != nil {
		return err
	}
	return to.Write(ctx, func(tx store.Tx) error {
		if err := own(tx, metaFrom); err != nil {
			return err
		}
		return put(tx, metaFrom, nil)
	})
}

// begin marks both, or goes on with a move that was begun. It returns the marks of the books and of their copy. A move has
// one place from its beginning to its end: while it is begun every other is refused, also one that has a copy of its mark.
// Where it begins it has a new id, so that what an earlier one left elsewhere is never gone on with.
func begin(ctx context.Context, from, to Books, tables []store.Catalog) (begun, copied *mark, err error) {
	if err := from.Read(ctx, func(r store.Reader) (err error) { begun, err = markOf(r, metaTo); return err }); err != nil {
		return nil, nil, err
	}
	if err := to.Read(ctx, func(r store.Reader) (err error) { copied, err = markOf(r, metaFrom); return err }); err != nil {
		return nil, nil, err
	}
	switch {
	case begun != nil && begun.Done && copied == nil:
		return nil, nil, fmt.Errorf("%w to %s: nothing is left to copy", ErrMoved, begun.To)
	case begun != nil && begun.Done && begun.To != to.Name:
		return nil, nil, fmt.Errorf("%w to %s, which is another place than %s", ErrMoved, begun.To, to.Name)
	case begun != nil && begun.To != to.Name:
		return nil, nil, fmt.Errorf("%w to %s: %s is another place", ErrBegun, begun.To, to.Name)
	case begun != nil && copied != nil && begun.ID == copied.ID:
		return begun, copied, nil
	}
	if err := from.Read(ctx, func(r store.Reader) error {
		own, err := markOf(r, metaFrom)
		if err == nil && own != nil {
			err = ErrIncomplete
		}
		return err
	}); err != nil {
		return nil, nil, err
	}
	if begun != nil && begun.Done {
		return nil, nil, fmt.Errorf("%w to %s", ErrMoved, begun.To)
	}
	if err := empty(ctx, from, to, tables); err != nil {
		return nil, nil, err
	}
	begun = &mark{ID: rand.Text(), To: to.Name}
	if err := write(ctx, from, metaTo, begun); err != nil {
		return nil, nil, err
	}
	copied = &mark{ID: begun.ID}
	return begun, copied, to.Write(ctx, func(tx store.Tx) error {
		for _, t := range slices.Backward(tables) { // a row goes before the one that it refers to
			if t.Table == meta {
				continue
			}
			if _, err := tx.Exec(`DELETE FROM "` + t.Table + `"`); err != nil {
				return err
			}
		}
		return put(tx, metaFrom, copied)
	})
}
