package storetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

var sealedStep = store.Step{Name: "suite/3 sealed", SQL: `CREATE TABLE suite_sealed (
	id       TEXT NOT NULL PRIMARY KEY,
	value    BLOB,
	data_key BLOB
) STRICT;`}

// sealedRow holds a sealed value; own is its data key where the row keeps it itself.
type sealedRow struct {
	id         string
	value, own []byte
}

func (r *sealedRow) fields() store.Fields {
	return store.Fields{"id", &r.id, "value", &r.value, "data_key", &r.own}
}

var sealedTable = store.NewTable("suite_sealed", (*sealedRow).fields)

func cellOf(id string) store.Cell { return store.Cell{Table: "suite_sealed", Key: id, Column: "value"} }

// seal stores a sealed text.
func seal(t *testing.T, db store.DB, id, text string, own bool) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) (err error) {
		r := sealedRow{id: id}
		if own {
			r.value, r.own, err = db.SealOwn(nil, cellOf(id), []byte(text))
		} else {
			r.value, err = db.Seal(tx, cellOf(id), []byte(text))
		}
		if err != nil {
			return err
		}
		return sealedTable.Insert(tx, &r)
	}))
}

// unseal reads it again.
func unseal(t *testing.T, db store.DB, id string) (text string, err error) {
	t.Helper()
	err = db.Read(t.Context(), func(r store.Reader) error {
		row, err := sealedTable.One(r, "WHERE id = ?", id)
		require.NoError(t, err)
		var plain []byte
		if row.own != nil {
			plain, err = db.UnsealOwn(row.own, cellOf(id), row.value)
		} else {
			plain, err = db.Unseal(r, cellOf(id), row.value)
		}
		text = string(plain)
		return err
	})
	return text, err
}

// keys are the cases of sealing, of MACs, of secrets and of floors.
var keys = []test{
	{"what is sealed is read again, and by nobody else", func(t *testing.T, s suite) {
		place := s.Place(t)
		db := s.at(t, place, sealedStep)
		for _, own := range []bool{false, true} {
			seal(t, db, fmt.Sprint("row ", own), "4111 1111", own)
		}
		mac := db.MAC("suite_sealed", "row", int64(7), "text", []byte{1}, true, nil)
		require.NoError(t, db.Close())
		db = s.at(t, place, sealedStep)
		require.Equal(t, mac, db.MAC("suite_sealed", "row", int64(7), "text", []byte{1}, true, nil))
		for i, other := range [][]byte{
			db.MAC("suite_sealed", "row", int64(8), "text", []byte{1}, true, nil), db.MAC("suite_sealed", "row", int64(7), "text", []byte{1}, true),
			db.MAC("suite_sealed", "rowt", int64(7), "ext", []byte{1}, true, nil), db.MAC("suite_seale", "drow", int64(7), "text", []byte{1}, true, nil),
		} {
			require.NotEqual(t, mac, other, i)
		}
		for _, own := range []bool{false, true} {
			text, err := unseal(t, db, fmt.Sprint("row ", own))
			require.NoError(t, err)
			require.Equal(t, "4111 1111", text)
		}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { // values that changed places
			list, err := sealedTable.All(tx, "ORDER BY id")
			if err == nil {
				_, err = tx.Exec("UPDATE suite_sealed SET value = ? WHERE id = ?", list[1].value, list[0].id)
			}
			if err == nil {
				_, err = tx.Exec("UPDATE suite_sealed SET value = ? WHERE id = ?", list[0].value, list[1].id)
			}
			return err
		}))
		for _, own := range []bool{false, true} {
			_, err := unseal(t, db, fmt.Sprint("row ", own))
			require.ErrorIs(t, err, store.ErrTampered)
		}
		require.NoError(t, db.Close())
		_, err := s.Open(t.Context(), place, []store.Step{sealedStep}, Wrapper{ID: 1})
		require.ErrorIs(t, err, ErrUnwrap, "another box's key")
	}},
	{"a row is sealed anew under its key", func(t *testing.T, s suite) {
		db := s.open(t, sealedStep)
		seal(t, db, "a", "first", false)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			value, err := db.Seal(tx, cellOf("a"), []byte("second"))
			if err == nil {
				_, err = tx.Exec("UPDATE suite_sealed SET value = ? WHERE id = 'a'", value)
			}
			return err
		}))
		text, err := unseal(t, db, "a")
		require.NoError(t, err)
		require.Equal(t, "second", text)
	}},
	{"what is shredded is not read again", func(t *testing.T, s suite) {
		db := s.open(t, sealedStep)
		seal(t, db, "a", "gone", false)
		seal(t, db, "b", "stays", false)
		require.Error(t, db.Write(t.Context(), func(tx store.Tx) error {
			require.NoError(t, db.Shred(tx, "suite_sealed", "a"))
			return errors.New("undone")
		}))
		text, err := unseal(t, db, "a")
		require.NoError(t, err)
		require.Equal(t, "gone", text)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return db.Shred(tx, "suite_sealed", "a") }))
		_, err = unseal(t, db, "a")
		require.ErrorIs(t, err, store.ErrShredded)
		_, err = db.UnsealOwn(nil, cellOf("a"), []byte("anything"))
		require.ErrorIs(t, err, store.ErrShredded)
		text, err = unseal(t, db, "b")
		require.NoError(t, err)
		require.Equal(t, "stays", text)
	}},
	{"the wrapping key is changed, also in two attempts", func(t *testing.T, s suite) {
		place := s.Place(t)
		beside := filepath.Join(t.TempDir(), "secret")
		db := s.at(t, place, sealedStep)
		for i := range 300 {
			seal(t, db, fmt.Sprint("row ", i), fmt.Sprint("text ", i), i%2 == 0)
		}
		secret, err := db.Secret(t.Context(), "suite", beside)
		require.NoError(t, err)
		require.NoError(t, db.Close())

		both := two{Wrapper{}, Wrapper{ID: 1}}
		db, err = s.Open(t.Context(), place, []store.Step{sealedStep}, both)
		require.NoError(t, err)
		require.Error(t, db.Rewrap(t.Context(), &breaksOff{Wrapper{ID: 1}, 100}, nil))
		last, of := 0, 0
		require.NoError(t, db.Rewrap(t.Context(), Wrapper{ID: 1}, func(d, o int) { last, of = d, o }))
		require.Equal(t, 302, of, "the rows, the key of the MACs and the secret")
		require.Equal(t, of, last)
		require.NoError(t, db.Close())

		_, err = s.Open(t.Context(), place, []store.Step{sealedStep}, Wrapper{})
		require.ErrorIs(t, err, ErrUnwrap)
		db, err = s.Open(t.Context(), place, []store.Step{sealedStep}, Wrapper{ID: 1})
		require.NoError(t, err)
		for _, i := range []int{0, 1, 150, 298, 299} {
			text, err := unseal(t, db, fmt.Sprint("row ", i))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("text ", i), text)
		}
		again, err := db.Secret(t.Context(), "suite", beside)
		require.NoError(t, err)
		require.Equal(t, secret, again)
		require.NoError(t, db.Close())
	}},
	{"a secret outlives its store, and its file", func(t *testing.T, s suite) {
		place, beside := s.Place(t), filepath.Join(t.TempDir(), "secret")
		db := s.at(t, place)
		secret, err := db.Secret(t.Context(), "suite", beside)
		require.NoError(t, err)
		require.Len(t, secret, 32)
		require.NoError(t, db.Close())
		for _, at := range []string{place, s.Place(t)} {
			db = s.at(t, at)
			got, err := db.Secret(t.Context(), "suite", beside)
			require.NoError(t, err)
			require.Equal(t, secret, got, "a new store takes it from the file")
			require.NoError(t, db.Close())
		}
		require.NoError(t, os.Remove(beside))
		got, err := s.at(t, place).Secret(t.Context(), "suite", beside)
		require.NoError(t, err)
		require.Equal(t, secret, got, "the store has it without the file")
		require.FileExists(t, beside)
	}},
	{"a floor rises, and is believed under its MAC alone", func(t *testing.T, s suite) {
		db := s.open(t)
		for _, id := range []int64{0, 7, 3} {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return store.SetFloor(tx, "suite_rows", id) }))
		}
		floor := func() (n int64) {
			require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
				n, err = store.FloorOf(r, "suite_rows")
				return err
			}))
			return n
		}
		require.EqualValues(t, 7, floor())
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(store.PutMeta, "floor:suite_rows", append([]byte{0, 0, 0, 0, 0, 0, 0, 9}, make([]byte, 32)...))
			return err
		}))
		require.Zero(t, floor())
	}},
}

// two wraps under the first and opens what either has wrapped.
type two struct{ first, second Wrapper }

// Wrap implements store.Wrapper.
func (w two) Wrap(plain []byte) ([]byte, error) { return w.first.Wrap(plain) }

// Unwrap implements store.Wrapper.
func (w two) Unwrap(wrapped []byte) ([]byte, error) {
	if plain, err := w.first.Unwrap(wrapped); err == nil {
		return plain, nil
	}
	return w.second.Unwrap(wrapped)
}

// breaksOff wraps left keys and then no more.
type breaksOff struct {
	Wrapper
	left int
}

// Wrap implements store.Wrapper.
func (w *breaksOff) Wrap(plain []byte) ([]byte, error) {
	if w.left--; w.left < 0 {
		return nil, errors.New("the plug was pulled")
	}
	return w.Wrapper.Wrap(plain)
}
