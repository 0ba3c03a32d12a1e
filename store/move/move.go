package move

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"posagent/store"
)

// Books are those of one engine.
type Books struct {
	store.DB
	Name    string // for people: no password
	Catalog func(store.Reader) ([]store.Catalog, error)
	Copied  func(store.Tx, store.Catalog) error // after a table's rows, nil = nothing to do
}

// Options say how to copy.
type Options struct {
	DryRun   bool // compare the tables, count the rows, and change nothing
	Batch    int  // rows of one commit, 0 = 500
	Progress func(table string, done, of int64)
}

// Table is what became of one table.
type Table struct {
	Name   string `json:"table"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of its rows in the order of the key; "" with DryRun
}

// The names in store_meta.
const (
	metaTo   = "moved to"
	metaFrom = "moved from"
)

// mark is what both say of a move.
type mark struct {
	ID   string `json:"id"`
	To   string `json:"to,omitempty"`
	Done bool   `json:"done,omitempty"`
}

// Errors of books that do not fit. Decide with errors.Is.
var (
	// ErrMoved: the books were copied elsewhere, or are being copied: they are not opened for work.
	ErrMoved = errors.New("the books were moved")
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
	return db.Write(ctx, func(tx store.Tx) error {
		if m == nil {
			_, err := tx.Exec("DELETE FROM store_meta WHERE name = ?", name)
			return err
		}
		text, err := json.Marshal(m)
		if err == nil {
			_, err = tx.Exec(store.PutMeta, name, text)
		}
		return err
	})
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
		opt.Batch = 500
	}
	if opt.Progress == nil {
		opt.Progress = func(string, int64, int64) {}
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
	m, err := begin(ctx, from, to, tables)
	if err != nil {
		return nil, err
	}
	if !m.Done {
		for _, t := range tables {
			if err := copyTable(ctx, from, to, t, opt); err != nil {
				return nil, fmt.Errorf("%s: %w", t.Table, err)
			}
		}
	}
	for _, t := range tables {
		was, err := digest(ctx, from, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Table, err)
		}
		is, err := digest(ctx, to, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Table, err)
		}
		if was != is {
			return nil, fmt.Errorf("%w: %s has %d rows (%.12s), and its copy %d (%.12s)", ErrDiffers, t.Table, was.Rows, was.SHA256, is.Rows, is.SHA256)
		}
		list = append(list, was)
	}
	m.Done = true // from here on the copy counts
	if err := write(ctx, from, metaTo, m); err != nil {
		return nil, err
	}
	return list, write(ctx, to, metaFrom, nil)
}

// begin marks both, or goes on with a move that was begun.
func begin(ctx context.Context, from, to Books, tables []store.Catalog) (*mark, error) {
	var begun, copied *mark
	if err := from.Read(ctx, func(r store.Reader) (err error) { begun, err = markOf(r, metaTo); return err }); err != nil {
		return nil, err
	}
	if err := to.Read(ctx, func(r store.Reader) (err error) { copied, err = markOf(r, metaFrom); return err }); err != nil {
		return nil, err
	}
	switch {
	case begun != nil && begun.Done && copied == nil:
		return nil, fmt.Errorf("%w to %s: nothing is left to copy", ErrMoved, begun.To)
	case begun != nil && copied != nil && begun.ID == copied.ID:
		return begun, nil
	}
	if err := from.Read(ctx, func(r store.Reader) error {
		own, err := markOf(r, metaFrom)
		if err == nil && own != nil {
			err = ErrIncomplete
		}
		return err
	}); err != nil {
		return nil, err
	}
	if begun == nil {
		begun = &mark{ID: rand.Text(), To: to.Name}
	}
	if err := empty(ctx, from, to, tables); err != nil {
		return nil, err
	}
	if begun.Done {
		return nil, fmt.Errorf("%w to %s", ErrMoved, begun.To)
	}
	if err := write(ctx, from, metaTo, begun); err != nil {
		return nil, err
	}
	return begun, write(ctx, to, metaFrom, &mark{ID: begun.ID})
}

// few is how many rows a table may have in a new place: those that its migrations put there, under keys that the books have, too.
const few = 100

// empty refuses a place that has rows of its own.
func empty(ctx context.Context, from, to Books, tables []store.Catalog) error {
	for _, t := range tables {
		rows, err := read(ctx, to, t, nil, few+1)
		if err != nil {
			return err
		}
		for i, row := range rows {
			known := t.Table == "store_meta" // the key and the secrets of an engine that was opened once: nothing is under them
			if !known {
				if err := from.Read(ctx, func(r store.Reader) error {
					return r.QueryRow(`SELECT EXISTS (SELECT 1 FROM "`+t.Table+`" WHERE (`+quoted(t.Key)+`) = (?`+strings.Repeat(", ?", len(t.Key)-1)+`))`, keyOf(t, row)...).Scan(&known)
				}); err != nil {
					return err
				}
			}
			if i == few || !known {
				return fmt.Errorf("%w in %s (table %s)", ErrNotEmpty, to.Name, t.Table)
			}
		}
	}
	return nil
}

// left are tables that belong to the processes, not to the books.
func left(table string) bool { return table == "lease_task" }

// compare returns the tables to copy. It fails where the engines have different ones.
func compare(ctx context.Context, from, to Books) (list []store.Catalog, err error) {
	var other []store.Catalog
	if err := from.Read(ctx, func(r store.Reader) (err error) { list, err = from.Catalog(r); return err }); err != nil {
		return nil, err
	}
	if err := to.Read(ctx, func(r store.Reader) (err error) { other, err = to.Catalog(r); return err }); err != nil {
		return nil, err
	}
	same := func(a, b store.Catalog) bool {
		return a.Table == b.Table && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Bytes, b.Bytes) && slices.Equal(a.Key, b.Key)
	}
	for i := range max(len(list), len(other)) {
		switch {
		case i >= len(list) || i >= len(other) || !same(list[i], other[i]):
			return nil, fmt.Errorf("%w: %s and %s (open each once with this program: it brings them up to date)", ErrSchema, nameAt(list, i), nameAt(other, i))
		case len(list[i].Key) == 0:
			return nil, fmt.Errorf("%w: %s has no primary key", ErrSchema, list[i].Table)
		}
	}
	return slices.DeleteFunc(list, func(t store.Catalog) bool { return left(t.Table) }), nil
}

func nameAt(list []store.Catalog, i int) string {
	if i >= len(list) {
		return "nothing"
	}
	return fmt.Sprintf("%s %v", list[i].Table, list[i].Columns)
}

// of is which rows of a table belong to the books.
func of(t store.Catalog) string {
	if t.Table == "store_meta" {
		return ` WHERE (name = 'mac_key' OR substr(name, 1, ` + fmt.Sprint(len(store.MetaSecrets)) + `) = '` + store.MetaSecrets + `')`
	}
	return " WHERE 1 = 1"
}

func quoted(columns []string) string { return `"` + strings.Join(columns, `", "`) + `"` }

func count(ctx context.Context, in Books, t store.Catalog) (n int64, err error) {
	err = in.Read(ctx, func(r store.Reader) error {
		return r.QueryRow(`SELECT count(*) FROM "` + t.Table + `"` + of(t)).Scan(&n)
	})
	return n, err
}

// copyTable copies what a table's copy does not have yet, in the order of the key.
func copyTable(ctx context.Context, from, to Books, t store.Catalog, opt Options) error {
	total, err := count(ctx, from, t)
	if err != nil {
		return err
	}
	after, done, err := last(ctx, to, t)
	if err == nil && done <= few { // they may be those of the migrations
		after, done, err = nil, 0, clear(ctx, to, t)
	}
	if err != nil {
		return err
	}
	for {
		rows, err := read(ctx, from, t, after, opt.Batch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		if err := to.Write(ctx, func(tx store.Tx) error { return insert(tx, t, rows) }); err != nil {
			return err
		}
		after = keyOf(t, rows[len(rows)-1])
		done += int64(len(rows))
		opt.Progress(t.Table, done, total)
	}
	if to.Copied == nil {
		return nil
	}
	return to.Write(ctx, func(tx store.Tx) error { return to.Copied(tx, t) })
}

func clear(ctx context.Context, in Books, t store.Catalog) error {
	return in.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec(`DELETE FROM "` + t.Table + `"` + of(t))
		return err
	})
}

// last is the highest key of a table, and how many rows there are up to it.
func last(ctx context.Context, in Books, t store.Catalog) (key []any, n int64, err error) {
	if n, err = count(ctx, in, t); err != nil || n == 0 {
		return nil, 0, err
	}
	err = in.Read(ctx, func(r store.Reader) error {
		key = cells(len(t.Key))
		return r.QueryRow(`SELECT ` + quoted(t.Key) + ` FROM "` + t.Table + `"` + of(t) + ` ORDER BY ` + order(t, " DESC") + ` LIMIT 1`).Scan(key...)
	})
	return values(key), n, err
}

func order(t store.Catalog, way string) string {
	return `"` + strings.Join(t.Key, `"`+way+`, "`) + `"` + way
}

// read reads some rows behind a key; nil = from the first one.
func read(ctx context.Context, in Books, t store.Catalog, after []any, most int) (rows [][]any, err error) {
	err = in.Read(ctx, func(r store.Reader) (err error) { rows, err = page(r, t, after, most); return err })
	return rows, err
}

func page(r store.Reader, t store.Catalog, after []any, most int) (rows [][]any, err error) {
	where := of(t)
	if after != nil {
		where += ` AND (` + quoted(t.Key) + `) > (?` + strings.Repeat(", ?", len(after)-1) + `)`
	}
	err = store.Each(r, func(row store.Row) error {
		v := cells(len(t.Columns))
		err := row.Scan(v...)
		rows = append(rows, values(v))
		return err
	}, `SELECT `+quoted(t.Columns)+` FROM "`+t.Table+`"`+where+` ORDER BY `+order(t, "")+` LIMIT ?`, append(slices.Clone(after), most)...)
	return rows, err
}

func cells(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = new(any)
	}
	return list
}

func values(cells []any) []any {
	list := make([]any, len(cells))
	for i, c := range cells {
		list[i] = *c.(*any)
		if b, is := list[i].([]byte); is {
			list[i] = bytes.Clone(b)
		}
	}
	return list
}

func keyOf(t store.Catalog, row []any) (key []any) {
	for _, k := range t.Key {
		key = append(key, row[slices.Index(t.Columns, k)])
	}
	return key
}

// most is how many values one statement takes on any engine.
const most = 900

func insert(tx store.Tx, t store.Catalog, rows [][]any) error {
	at := max(1, most/len(t.Columns))
	one := "(?" + strings.Repeat(", ?", len(t.Columns)-1) + ")"
	for part := range slices.Chunk(rows, at) {
		var args []any
		for _, row := range part {
			args = append(args, row...)
		}
		if _, err := tx.Exec(`INSERT INTO "`+t.Table+`" (`+quoted(t.Columns)+`) VALUES `+one+strings.Repeat(", "+one, len(part)-1), args...); err != nil {
			return err
		}
	}
	return nil
}

// pageRows is how many rows of a table are in memory at once.
const pageRows = 2000

// digest reads a whole table as it is at one moment, in the order of its key.
func digest(ctx context.Context, in Books, t store.Catalog) (Table, error) {
	sum := Table{Name: t.Table}
	err := in.Read(ctx, func(r store.Reader) error {
		h := sha256.New()
		sum.Rows = 0
		for after := []any(nil); ; {
			rows, err := page(r, t, after, pageRows)
			if err != nil {
				return err
			}
			for _, row := range rows {
				for i, v := range row {
					if err := add(h, v, slices.Contains(t.Bytes, t.Columns[i])); err != nil {
						return err
					}
				}
				sum.Rows++
			}
			if len(rows) < pageRows {
				sum.SHA256 = hex.EncodeToString(h.Sum(nil))
				return nil
			}
			after = keyOf(t, rows[len(rows)-1])
		}
	})
	return sum, err
}

// add adds a value to a digest, with its kind and its length: no two rows read alike.
func add(h hash.Hash, v any, raw bool) error {
	frame := func(kind byte, data []byte) {
		h.Write(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(data))))
		h.Write(data)
	}
	switch x := v.(type) {
	case nil:
		frame('0', nil)
	case int64:
		frame('n', binary.BigEndian.AppendUint64(nil, uint64(x)))
	case string:
		frame('t', []byte(x))
	case []byte:
		kind := byte('t')
		if raw {
			kind = 'b'
		}
		frame(kind, x)
	default:
		return fmt.Errorf("move: a value is a %T", v)
	}
	return nil
}
