package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

var cardStep = store.Step{Name: "test/1 cards", SQL: `CREATE TABLE cards (
	id  TEXT PRIMARY KEY,
	pan BLOB NOT NULL
) STRICT`}

func openCards(t *testing.T) (s store.Journal, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	s = storetest.OpenAt(t, path, cardStep)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, path
}

func seal(t *testing.T, s store.Journal, at store.Cell, plain string) (sealed []byte) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) (err error) {
		sealed, err = s.Seal(tx, at, []byte(plain))
		return err
	}))
	return sealed
}

func unseal(s store.Journal, at store.Cell, sealed []byte) (plain []byte, err error) {
	err = s.Read(context.Background(), func(r store.Reader) (err error) {
		plain, err = s.Unseal(r, at, sealed)
		return err
	})
	return plain, err
}

// ownStep is a table whose rows keep their data keys themselves.
var ownStep = store.Step{Name: "test/2 own", SQL: `CREATE TABLE own (
	key      TEXT PRIMARY KEY,
	sealed   BLOB,
	data_key BLOB
) STRICT`}

func ownCell(key string) store.Cell { return store.Cell{Table: "own", Key: key, Column: "sealed"} }

func putOwn(t *testing.T, s store.Journal, key, plain string) {
	t.Helper()
	sealed, wrapped, err := s.SealOwn(nil, ownCell(key), []byte(plain))
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO own VALUES (?, ?, ?)", key, sealed, wrapped)
		return err
	}))
}

func readOwn(t *testing.T, s store.Journal) (plain map[string]string, err error) {
	t.Helper()
	plain = map[string]string{}
	err = s.Read(t.Context(), func(r store.Reader) error {
		return store.Each(r, func(row store.Row) error {
			var key string
			var sealed, wrapped []byte
			if err := row.Scan(&key, &sealed, &wrapped); err != nil {
				return err
			}
			text, err := s.UnsealOwn(wrapped, ownCell(key), sealed)
			if err != nil {
				return err
			}
			plain[key] = string(text)
			return nil
		}, "SELECT key, sealed, data_key FROM own")
	})
	return plain, err
}

func TestARowKeepsItsKeyItself(t *testing.T) {
	s := storetest.Open(t, ownStep)
	defer func() { require.NoError(t, s.Close()) }()
	sealed, wrapped, err := s.SealOwn(nil, ownCell("k1"), []byte("4111"))
	require.NoError(t, err)
	again, same, err := s.SealOwn(wrapped, ownCell("k1"), []byte("4111"))
	require.NoError(t, err)
	require.Equal(t, wrapped, same, "one key of a row")
	require.NotEqual(t, sealed, again, "a nonce of its own")
	other, theirs, err := s.SealOwn(nil, ownCell("k1"), []byte("4111"))
	require.NoError(t, err)
	require.NotEqual(t, wrapped, theirs)
	require.NotContains(t, string(wrapped)+string(sealed), "4111")
	for _, v := range [][]byte{sealed, again} {
		plain, err := s.UnsealOwn(wrapped, ownCell("k1"), v)
		require.NoError(t, err)
		require.Equal(t, "4111", string(plain))
	}
	for name, broken := range map[string]struct {
		key    []byte
		at     store.Cell
		sealed []byte
		want   error
	}{
		"cleared":       {nil, ownCell("k1"), sealed, store.ErrShredded},
		"another row's": {theirs, ownCell("k1"), sealed, store.ErrTampered},
		"another value": {wrapped, ownCell("k1"), other, store.ErrTampered},
		"another cell":  {wrapped, ownCell("k2"), sealed, store.ErrTampered},
		"cut":           {wrapped, ownCell("k1"), sealed[:12], store.ErrTampered},
		"no key":        {[]byte("x"), ownCell("k1"), sealed, store.ErrTampered},
	} {
		_, err := s.UnsealOwn(broken.key, broken.at, broken.sealed)
		require.ErrorIs(t, err, broken.want, name)
		if broken.key != nil && name == "no key" {
			_, _, err = s.SealOwn(broken.key, broken.at, []byte("x"))
			require.ErrorIs(t, err, store.ErrTampered, name)
		}
	}
}

func TestSealedValues(t *testing.T) {
	s, _ := openCards(t)
	at := store.Cell{Table: "cards", Key: "k1", Column: "pan"}
	one, two := seal(t, s, at, "4111"), seal(t, s, at, "4111")
	require.NotEqual(t, one, two, "a nonce of its own")
	for _, sealed := range [][]byte{one, two} {
		plain, err := unseal(s, at, sealed)
		require.NoError(t, err)
		require.Equal(t, "4111", string(plain))
	}
	empty, err := unseal(s, at, seal(t, s, at, ""))
	require.NoError(t, err)
	require.Empty(t, empty)

	for i := range one {
		bad := bytes.Clone(one)
		bad[i] ^= 1
		_, err := unseal(s, at, bad)
		require.ErrorIs(t, err, store.ErrTampered, "byte %d", i)
		_, err = unseal(s, at, one[:i])
		require.ErrorIs(t, err, store.ErrTampered, "length %d", i)
	}
	_, err = unseal(s, store.Cell{Table: "cards", Key: "k1", Column: "name"}, one)
	require.ErrorIs(t, err, store.ErrTampered, "another column")
	_, err = unseal(s, store.Cell{Table: "cards", Key: "k2", Column: "pan"}, one)
	require.ErrorIs(t, err, store.ErrShredded, "a row that has no key")
	seal(t, s, store.Cell{Table: "cards", Key: "k2", Column: "pan"}, "x")
	_, err = unseal(s, store.Cell{Table: "cards", Key: "k2", Column: "pan"}, one)
	require.ErrorIs(t, err, store.ErrTampered, "another row")

	// Even with the data key copied over, a value does not open in another row.
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("UPDATE store_keys SET wrapped = (SELECT wrapped FROM store_keys WHERE key = 'k1') WHERE key = 'k2'")
		return err
	}))
	_, err = unseal(s, store.Cell{Table: "cards", Key: "k2", Column: "pan"}, one)
	require.ErrorIs(t, err, store.ErrTampered)
	_, err = unseal(s, store.Cell{Table: "card", Key: "sk1", Column: "pan"}, one)
	require.Error(t, err)

	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return s.Shred(tx, "cards", "k1") }))
	_, err = unseal(s, at, one)
	require.ErrorIs(t, err, store.ErrShredded)
	seal(t, s, at, "new")
	_, err = unseal(s, at, one)
	require.ErrorIs(t, err, store.ErrTampered, "a new key does not open the old value")
}

func TestDataKeyOfAFailedWriteIsGone(t *testing.T) {
	s, _ := openCards(t)
	at := store.Cell{Table: "cards", Key: "k", Column: "pan"}
	var sealed []byte
	require.Error(t, s.Write(t.Context(), func(tx store.Tx) (err error) {
		if sealed, err = s.Seal(tx, at, []byte("x")); err == nil {
			_, err = tx.Exec("INSERT INTO nowhere VALUES (1)")
		}
		return err
	}))
	_, err := unseal(s, at, sealed)
	require.ErrorIs(t, err, store.ErrShredded)
}

func TestNothingDeletedStaysInTheFiles(t *testing.T) {
	s, path := openCards(t)
	const pan = "4929000000006-plain-for-the-test"
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO cards VALUES ('a', ?)", []byte(pan))
		return err
	}))
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("UPDATE cards SET pan = x'00'")
		return err
	}))
	require.NoError(t, s.Truncate(t.Context()))
	require.Zero(t, s.Health(t.Context()).WALBytes)
	require.NoError(t, s.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(content), pan)
}

func TestAnotherDeviceKey(t *testing.T) {
	s, path := openCards(t)
	require.NoError(t, s.Close())
	_, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: path, Steps: []store.Step{cardStep}, Wrapper: storetest.Wrapper{ID: 1}, Ballast: -1,
	})
	require.ErrorIs(t, err, storetest.ErrUnwrap)
}

func TestMACTellsRowsApart(t *testing.T) {
	s, path := openCards(t)
	type minor int64
	type word string
	same := s.MAC("sales", "k", int64(5), "x")
	require.Len(t, same, 32)
	require.Equal(t, same, s.MAC("sales", "k", minor(5), word("x")), "named types count as their kind")
	rows := [][]byte{
		same,
		s.MAC("sale", "sk", int64(5), "x"),
		s.MAC("sales", "k", int64(5), "x", nil),
		s.MAC("sales", "k", "x", int64(5)),
		s.MAC("sales", "k", int64(5), []byte("x")),
		s.MAC("sales", "k", "5", "x"),
		s.MAC("sales", "k", int64(5)),
		s.MAC("sales", "k", int64(5), ""),
		s.MAC("sales", "k", int64(5), nil),
		s.MAC("sales", "k", int64(5), false),
		s.MAC("sales", "k", int64(5), true),
		s.MAC("sales", "k", int64(5), int64(0)),
		s.MAC("sales", "k", "ab", "c"),
		s.MAC("sales", "k", "a", "bc"),
		s.MAC("sales", "k"),
	}
	seen := make(map[string]int)
	for i, m := range rows {
		at, twice := seen[string(m)]
		require.False(t, twice, "row %d and row %d", i, at)
		seen[string(m)] = i
	}
	require.Equal(t, s.MAC("t", "k", nil), s.MAC("t", "k", []byte(nil)))
	require.Equal(t, s.MAC("t", "k", nil), s.MAC("t", "k", []byte{}))
	require.Panics(t, func() { s.MAC("t", "k", 1.5) })
	require.NoError(t, s.Close())

	again := storetest.Open(t, cardStep)
	require.NotEqual(t, same, again.MAC("sales", "k", int64(5), "x"), "every store has a key of its own: %s", path)
}

func TestMACIsUnambiguous(t *testing.T) {
	s := storetest.Open(t)
	field := rapid.OneOf(
		rapid.Int64Range(-3, 3).AsAny(), rapid.StringN(0, 2, -1).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
		rapid.SliceOfN(rapid.Byte(), 1, 2).AsAny(),
	)
	row := rapid.SliceOfN(field, 0, 3)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := row.Draw(rt, "a"), row.Draw(rt, "b")
		require.Equal(rt, equalRows(a, b), bytes.Equal(s.MAC("t", "k", a...), s.MAC("t", "k", b...)))
	})
}

func equalRows(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, isX := a[i].([]byte)
		y, isY := b[i].([]byte)
		if isX != isY || isX && !bytes.Equal(x, y) || !isX && a[i] != b[i] {
			return false
		}
	}
	return true
}

// What a MAC was made of before a row was written is what it is made of when the row is read.
func TestMACSurvivesTheDatabase(t *testing.T) {
	s := storetest.Open(t, store.Step{Name: "t/1", SQL: "CREATE TABLE t (i INTEGER, s TEXT, b BLOB) STRICT"})
	for _, b := range [][]byte{nil, {}, {0}, []byte("x")} {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			if _, err := tx.Exec("INSERT INTO t VALUES (?, ?, ?)", int64(7), "", b); err != nil {
				return err
			}
			var i int64
			var text string
			var blob []byte
			if err := tx.QueryRow("SELECT i, s, b FROM t").Scan(&i, &text, &blob); err != nil {
				return err
			}
			require.Equal(t, s.MAC("t", "k", int64(7), "", b), s.MAC("t", "k", i, text, blob), "%#v came back as %#v", b, blob)
			_, err := tx.Exec("DELETE FROM t")
			return err
		}))
	}
}
