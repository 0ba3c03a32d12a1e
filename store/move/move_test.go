package move_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/move"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

// steps are tables of every kind: numbered, with a key of two columns, with rows from the beginning, whose rows refer to a table that
// comes later by its name, and one of the processes.
var steps = []store.Step{{Name: "move/1", SQL: `
CREATE TABLE a_numbered (id INTEGER PRIMARY KEY, note TEXT, raw BLOB, n INTEGER) STRICT;
CREATE TABLE b_pairs (service TEXT NOT NULL, seq INTEGER NOT NULL, "user" TEXT NOT NULL, PRIMARY KEY (service, seq)) STRICT;
CREATE TABLE c_seq (name TEXT NOT NULL PRIMARY KEY, last INTEGER NOT NULL) STRICT;
INSERT INTO c_seq (name, last) VALUES ('x', 100);
CREATE TABLE d_sealed (id TEXT NOT NULL PRIMARY KEY, sealed BLOB NOT NULL) STRICT;
CREATE TABLE z_parent (id TEXT NOT NULL PRIMARY KEY) STRICT;
INSERT INTO z_parent (id) VALUES ('old');
CREATE TABLE e_child (id INTEGER PRIMARY KEY, parent TEXT NOT NULL REFERENCES z_parent (id), also INTEGER REFERENCES a_numbered (id)) STRICT;
INSERT INTO e_child (id, parent) VALUES (1, 'old');
CREATE TABLE lease_task (name TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, beat INTEGER NOT NULL) STRICT;` + store.NumberTable + `
INSERT INTO store_number (name, last) VALUES ('move', 500), ('other', 0);`}}

// rows is enough for several commits of a copy, and for a last one that is not full.
const rows = 234

func file(t *testing.T) (store.Store, move.Books) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.db")
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Steps: steps, Wrapper: storetest.Wrapper{}, Synchronous: "OFF", Ballast: -1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, move.Books{DB: db, Name: path, Catalog: sqlite.Catalog}
}

func server(t *testing.T) (store.Store, move.Books) {
	t.Helper()
	return on(t, pgtest.Open(t).Place())
}

// on opens the books of a schema of a server.
func on(t *testing.T, place string) (store.Store, move.Books) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: place, Steps: steps, Wrapper: storetest.Wrapper{}, Alone: true, Tolerate: postgres.Tolerated{NoFsync: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, move.Books{DB: db, Name: place, Catalog: postgres.Catalog, Copied: postgres.Copied}
}

func sealedAt(i int) store.Cell {
	return store.Cell{Table: "d_sealed", Key: fmt.Sprint("k", i), Column: "sealed"}
}

// fill writes what books may have: nothing, ends of ranges, letters that sort apart, bytes that are no text.
func fill(t *testing.T, db store.Store) {
	t.Helper()
	texts := []any{nil, "", "a", "B", "ä", "Ωmega", "\U0001F4B6", "'quoted'", "two\nlines", "?"}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i := range rows {
			raw := []byte{0, 255, byte(i)}
			n := []int64{0, -1, math.MaxInt64, math.MinInt64, int64(i)}[i%5]
			if _, err := tx.Exec("INSERT INTO a_numbered (id, note, raw, n) VALUES (?, ?, ?, ?)", 3*i+1, texts[i%len(texts)], raw, n); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO b_pairs (service, seq, "user") VALUES (?, ?, ?)`, []string{"Z", "a", "é"}[i%3], i, "u"); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO z_parent (id) VALUES (?)", fmt.Sprint("p", i)); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO e_child (id, parent, also) VALUES (?, ?, ?)", i+2, fmt.Sprint("p", i), 3*i+1); err != nil {
				return err
			}
			sealed, err := db.Seal(tx, sealedAt(i), []byte(fmt.Sprint("secret ", i)))
			if err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO d_sealed (id, sealed) VALUES (?, ?)", sealedAt(i).Key, sealed); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("UPDATE c_seq SET last = 777"); err != nil {
			return err
		}
		if n, err := tx.Number("move"); err != nil || n != 501 {
			return fmt.Errorf("number %d, %w", n, err)
		}
		_, err := tx.Exec("INSERT INTO lease_task (name, holder, beat) VALUES ('x', 'y', 1)")
		return err
	}))
}

// whole reads everything that fill wrote.
func whole(t *testing.T, db store.Store) {
	t.Helper()
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		var n, last int
		if err := r.QueryRow("SELECT (SELECT count(*) FROM a_numbered) + (SELECT count(*) FROM b_pairs) + (SELECT count(*) FROM e_child JOIN z_parent ON z_parent.id = parent), last FROM c_seq").Scan(&n, &last); err != nil {
			return err
		}
		require.Equal(t, 3*rows+1, n)
		require.Equal(t, 777, last)
		for i := range rows {
			var sealed []byte
			if err := r.QueryRow("SELECT sealed FROM d_sealed WHERE id = ?", sealedAt(i).Key).Scan(&sealed); err != nil {
				return err
			}
			plain, err := db.Unseal(r, sealedAt(i), sealed)
			if err != nil {
				return err
			}
			require.Equal(t, fmt.Sprint("secret ", i), string(plain))
		}
		return nil
	}))
}

// small batches make many commits.
var small = move.Options{Batch: 110}

// There and back: every row is as it was, what was sealed is read, and new numbers go on behind the copied ones.
func TestThereAndBack(t *testing.T) {
	t.Run("another file", func(t *testing.T) { thereAndBack(t, file) })
	t.Run("a server", func(t *testing.T) { thereAndBack(t, server) })
}

func thereAndBack(t *testing.T, other func(*testing.T) (store.Store, move.Books)) {
	db, books := file(t)
	fill(t, db)
	there, thereBooks := other(t)
	dry, err := move.Copy(t.Context(), books, thereBooks, move.Options{DryRun: true})
	require.NoError(t, err)
	require.NoError(t, move.Check(t.Context(), db), "a dry run changes nothing")
	out, err := move.Copy(t.Context(), books, thereBooks, small)
	require.NoError(t, err)
	whole(t, there)
	require.Len(t, out, len(dry))
	for i := range out {
		require.Equal(t, dry[i].Name, out[i].Name)
		require.Equal(t, dry[i].Rows, out[i].Rows)
	}
	require.ErrorIs(t, move.Check(t.Context(), db), move.ErrMoved)
	require.NoError(t, move.Check(t.Context(), there))
	_, err = move.Copy(t.Context(), books, thereBooks, small)
	require.ErrorIs(t, err, move.ErrMoved, "what was moved is not moved again")
	require.ErrorIs(t, move.GiveUp(t.Context(), db), move.ErrMoved, "the copy may have taken work")

	var id int64
	require.NoError(t, there.Write(t.Context(), func(tx store.Tx) error {
		return tx.QueryRow("INSERT INTO a_numbered (note) VALUES ('new') RETURNING id").Scan(&id)
	}))
	require.EqualValues(t, 3*(rows-1)+2, id)
	require.NoError(t, there.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("DELETE FROM a_numbered WHERE id = ?", id); return err }))

	back, backBooks := file(t)
	again, err := move.Copy(t.Context(), thereBooks, backBooks, small)
	require.NoError(t, err)
	require.Equal(t, out, again, "the same digests")
	whole(t, back)
	for _, copied := range []store.Store{there, back} {
		numbered(t, copied, "move", 502)
		numbered(t, copied, "other", 1)
	}
}

// numbered takes the next number of a count.
func numbered(t *testing.T, db store.Store, name string, want int64) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		n, err := tx.Number(name)
		require.Equal(t, want, n)
		return err
	}))
}

var errStopped = errors.New("stopped")

// stopping is a store that ends before or after a certain write, as a process does that is killed.
type stopping struct {
	store.DB
	left *atomic.Int64
}

func (s stopping) Write(ctx context.Context, fn func(store.Tx) error) error {
	n := s.left.Add(-1)
	if n < 0 {
		return errStopped
	}
	if err := s.DB.Write(ctx, fn); err != nil {
		return err
	}
	if n == 0 && rand.N(2) == 0 { // it was killed with the commit done
		return errStopped
	}
	return nil
}

// A copy that is stopped again and again ends whole. Never do both take work, and one of them does as soon as it is complete.
func TestStoppedAndBegunAgain(t *testing.T) {
	for _, way := range []string{"from file to file", "to the server", "to a file"} {
		t.Run(way, func(t *testing.T) {
			db, books := file(t)
			fill(t, db)
			var other store.Store
			var otherBooks move.Books
			switch way {
			case "from file to file":
				other, otherBooks = file(t)
			case "to the server":
				other, otherBooks = server(t)
			case "to a file":
				there, thereBooks := server(t)
				_, err := move.Copy(t.Context(), books, thereBooks, small)
				require.NoError(t, err)
				db, books = there, thereBooks
				other, otherBooks = file(t)
			}
			stops := 0
			for {
				var left atomic.Int64
				left.Store(int64(stops) + 1)
				from, to := books, otherBooks
				from.DB, to.DB = stopping{db, &left}, stopping{other, &left}
				_, err := move.Copy(t.Context(), from, to, small)
				open := []error{move.Check(t.Context(), db), move.Check(t.Context(), other)}
				require.False(t, open[0] == nil && open[1] == nil && stops > 0, "both take work")
				if err == nil {
					require.ErrorIs(t, open[0], move.ErrMoved)
					require.NoError(t, open[1])
					break
				}
				if !errors.Is(err, errStopped) {
					require.ErrorIs(t, err, move.ErrMoved) // it was killed with the last commit done
					break
				}
				stops++
			}
			require.Positive(t, stops)
			whole(t, other)
		})
	}
}

// A move that is begun has one place. The members of what may be gone on with: the move to the place where it was begun (goes
// on, with or without its mark there), another place that is empty, one that has a copy of the first place with its mark, the
// first place after the move was given up and made elsewhere, the last step of a move that was given up meanwhile. In none of
// them do two places take work.
func TestField2_G9_OnePlaceFromBeginToEnd(t *testing.T) {
	stopped := func(t *testing.T, at int64) (db, one, two store.Store, books, oneBooks, twoBooks move.Books) {
		db, books = file(t)
		fill(t, db)
		one, oneBooks = file(t)
		two, twoBooks = file(t)
		var left atomic.Int64
		left.Store(at)
		to := oneBooks
		to.DB = stopping{one, &left}
		_, err := move.Copy(t.Context(), books, to, small)
		require.ErrorIs(t, err, errStopped)
		return db, one, two, books, oneBooks, twoBooks
	}
	living := func(t *testing.T, all ...store.Store) (n int) {
		for _, db := range all {
			if move.Check(t.Context(), db) == nil {
				n++
			}
		}
		return n
	}
	const late = 25 // the copy is nearly whole
	for name, at := range map[string]int64{"nothing of it is there": 0, "some tables": 5, "nearly whole": late} {
		t.Run("another place: "+name, func(t *testing.T) {
			db, one, two, books, oneBooks, twoBooks := stopped(t, at)
			_, err := move.Copy(t.Context(), books, twoBooks, small)
			require.ErrorIs(t, err, move.ErrBegun)
			require.ErrorContains(t, err, oneBooks.Name)
			require.NoError(t, two.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("UPDATE c_seq SET last = 1"); return err }))
			_, err = move.Copy(t.Context(), books, oneBooks, small)
			require.NoError(t, err)
			whole(t, one)
			require.ErrorIs(t, move.Check(t.Context(), db), move.ErrMoved)
			for _, to := range []move.Books{oneBooks, twoBooks} {
				_, err = move.Copy(t.Context(), books, to, small)
				require.ErrorIs(t, err, move.ErrMoved)
			}
		})
	}
	t.Run("a copy of the place, with its mark", func(t *testing.T) {
		_, one, two, books, oneBooks, twoBooks := stopped(t, late)
		var text []byte
		require.NoError(t, one.Read(t.Context(), func(r store.Reader) error {
			return r.QueryRow("SELECT value FROM store_meta WHERE name = 'moved from'").Scan(&text)
		}))
		require.NoError(t, two.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec(store.PutMeta, "moved from", text); return err }))
		_, err := move.Copy(t.Context(), books, twoBooks, small)
		require.ErrorIs(t, err, move.ErrBegun)
		_, err = move.Copy(t.Context(), books, oneBooks, small)
		require.NoError(t, err)
		_, err = move.Copy(t.Context(), books, twoBooks, small)
		require.ErrorIs(t, err, move.ErrMoved)
		require.Equal(t, 1, living(t, one, two))
	})
	t.Run("given up, then moved elsewhere", func(t *testing.T) {
		db, one, two, books, oneBooks, twoBooks := stopped(t, late)
		require.NoError(t, move.GiveUp(t.Context(), db))
		_, err := move.Copy(t.Context(), books, twoBooks, small)
		require.NoError(t, err)
		_, err = move.Copy(t.Context(), books, oneBooks, small)
		require.ErrorIs(t, err, move.ErrMoved)
		require.Equal(t, 1, living(t, db, one, two))
	})
	t.Run("given up while it is compared", func(t *testing.T) {
		db, one, _, books, oneBooks, _ := stopped(t, late)
		given := false
		_, err := move.Copy(t.Context(), books, oneBooks, move.Options{Batch: 110, Progress: func(doing, _ string, _, _ int64) {
			if doing == move.Comparing && !given {
				given = true
				require.NoError(t, move.GiveUp(t.Context(), db))
			}
		}})
		require.True(t, given)
		require.ErrorIs(t, err, move.ErrBegun)
		require.Equal(t, 1, living(t, db, one))
	})
}

// counting is a store that measures what is inserted at once.
type counting struct {
	store.DB
	commits int
	widest  int64 // bytes
}

func (c *counting) Write(ctx context.Context, fn func(store.Tx) error) error {
	return c.DB.Write(ctx, func(tx store.Tx) error { return fn(countingTx{tx, c}) })
}

type countingTx struct {
	store.Tx
	by *counting
}

func (c countingTx) Fill(t store.Catalog, rows [][]any) error {
	if t.Table == "d_sealed" {
		n := int64(0)
		for _, row := range rows {
			n += int64(len(row[1].([]byte)))
		}
		c.by.commits++
		c.by.widest = max(c.by.widest, n)
	}
	return c.Tx.(store.Filler).Fill(t, rows)
}

// Wide rows go in pages by their size, narrow ones in pages by their number: no more than some are in memory. A row that is wider than a
// page goes alone.
func TestPagesAreBounded(t *testing.T) {
	pgtest.Need(t) // before wide rows are made
	const page, number = 8 << 20, 500
	db, books := file(t)
	sizes := map[int]int{100: page / 3, 101: page / 3, 102: page / 3, 103: page / 3, 300: page + 1}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i := range number {
			if _, err := tx.Exec("INSERT INTO d_sealed (id, sealed) VALUES (?, ?)", fmt.Sprintf("%03d", i), make([]byte, max(sizes[i], 1))); err != nil {
				return err
			}
		}
		return nil
	}))
	there, thereBooks := server(t)
	meter := &counting{DB: there}
	thereBooks.DB = meter
	_, err := move.Copy(t.Context(), books, thereBooks, move.Options{})
	require.NoError(t, err)
	require.EqualValues(t, page+1, meter.widest)
	require.Equal(t, 4, meter.commits, "0 to 101, 102 to 299, 300, and the rest")
	var n, bytes int
	require.NoError(t, there.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow("SELECT count(*), sum(octet_length(sealed)) FROM d_sealed").Scan(&n, &bytes)
	}))
	require.Equal(t, number, n)
	require.Equal(t, number-5+4*(page/3)+page+1, bytes)
}

// Rows that refer to each other in a circle cannot be copied in any order: they are refused at once.
func TestTablesInACircle(t *testing.T) {
	circle := []store.Step{{Name: "circle/1", SQL: `
CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b (id)) STRICT;
CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id)) STRICT;`}}
	var books []move.Books
	for range 2 {
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "b.db"), Steps: circle, Wrapper: storetest.Wrapper{}, Synchronous: "OFF", Ballast: -1})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		books = append(books, move.Books{DB: db, Name: "b", Catalog: sqlite.Catalog})
	}
	_, err := move.Copy(t.Context(), books[0], books[1], small)
	require.ErrorIs(t, err, move.ErrSchema)
	require.ErrorContains(t, err, "in a circle")
	require.NoError(t, move.Check(t.Context(), books[0]))
}

// What a copy is refused for, and what gives it up.
func TestRefused(t *testing.T) {
	db, books := file(t)
	fill(t, db)
	full, fullBooks := file(t)
	fill(t, full)
	require.NoError(t, full.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("INSERT INTO a_numbered (id) VALUES (-5)"); return err }))
	for _, dry := range []bool{true, false} {
		_, err := move.Copy(t.Context(), books, fullBooks, move.Options{DryRun: dry})
		require.ErrorIs(t, err, move.ErrNotEmpty)
	}
	require.NoError(t, move.Check(t.Context(), db))

	other, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "o.db"), Wrapper: storetest.Wrapper{}, Synchronous: "OFF", Ballast: -1, Steps: []store.Step{{Name: "x", SQL: "CREATE TABLE a_numbered (id INTEGER PRIMARY KEY) STRICT"}}})
	require.NoError(t, err)
	_, err = move.Copy(t.Context(), books, move.Books{DB: other, Name: "other", Catalog: sqlite.Catalog}, small)
	require.ErrorIs(t, err, move.ErrSchema)
	require.NoError(t, other.Close())
	require.ErrorContains(t, move.GiveUp(t.Context(), db), "no copy was begun")

	// A row of the copy that is not the books' own.
	copied, copiedBooks := file(t)
	var left atomic.Int64
	left.Store(20)
	broken := copiedBooks
	broken.DB = stopping{copied, &left}
	_, err = move.Copy(t.Context(), books, broken, small)
	require.ErrorIs(t, err, errStopped)
	require.ErrorIs(t, move.Check(t.Context(), db), move.ErrMoved)
	require.ErrorIs(t, move.Check(t.Context(), copied), move.ErrIncomplete)
	require.NoError(t, copied.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec("UPDATE a_numbered SET n = 4711 WHERE id = 1"); return err }))
	_, err = move.Copy(t.Context(), books, copiedBooks, small)
	require.ErrorIs(t, err, move.ErrDiffers)
	require.ErrorContains(t, err, "a_numbered")
	require.ErrorIs(t, move.Check(t.Context(), copied), move.ErrIncomplete, "a copy that differs takes no work")
	require.NoError(t, move.GiveUp(t.Context(), db))
	require.NoError(t, move.Check(t.Context(), db))
	whole(t, db)
}
