package storetest

import (
	"bytes"
	"database/sql"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

var valuesStep = store.Step{Name: "suite/2 values", SQL: `CREATE TABLE suite_values (
	id    INTEGER PRIMARY KEY,
	whole INTEGER,
	text  TEXT,
	bytes BLOB
) STRICT;`}

// value is one row of the table of values. A nil pointer is NULL.
type value struct {
	id    int64
	whole sql.NullInt64
	text  sql.NullString
	bytes []byte
}

func (v *value) fields() store.Fields {
	return store.Fields{"id", &v.id, "whole", &v.whole, "text", &v.text, "bytes", &v.bytes}
}

var valueTable = store.NewTable("suite_values", (*value).fields)

func whole(n int64) sql.NullInt64   { return sql.NullInt64{Int64: n, Valid: true} }
func words(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }

// values are the cases of types and sizes.
var values = []test{
	{"values come back as they were", func(t *testing.T, s suite) {
		place := s.Place(t)
		db := s.at(t, place, valuesStep)
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		want := []value{
			{id: 1},
			{id: 2, whole: whole(math.MinInt64), text: words(""), bytes: []byte{0}},
			{id: 3, whole: whole(math.MaxInt64), text: words("grün, 緑 and \U0001F7E2; it's \"quoted\"\\ \n\r\t ?1 $1 %s"), bytes: all},
			{id: math.MaxInt64, whole: whole(0), text: words(strings.Repeat("ä", 100_000)), bytes: bytes.Repeat([]byte{0xff}, 100_000)},
		}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			for i := range want {
				if err := valueTable.Insert(tx, &want[i]); err != nil {
					return err
				}
			}
			return nil
		}))
		check := func(db store.Store) {
			require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
				got, err := valueTable.All(r, "ORDER BY id")
				require.Equal(t, want, got)
				return err
			}))
		}
		check(db)
		require.NoError(t, db.Close())
		check(s.at(t, place, valuesStep))
	}},
	{"empty bytes are empty", func(t *testing.T, s suite) {
		db := s.open(t, valuesStep)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return valueTable.Insert(tx, &value{id: 1, bytes: []byte{}}) }))
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			got, err := valueTable.One(r, "WHERE id = 1")
			require.Empty(t, got.bytes)
			return err
		}))
	}},
	{"text is compared and sorted by its bytes", func(t *testing.T, s suite) {
		db := s.open(t, valuesStep)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			for i, text := range []string{"a", "Z", "z", "A", "ä", "", " a", "a "} {
				if err := valueTable.Insert(tx, &value{id: int64(i), text: words(text)}); err != nil {
					return err
				}
			}
			return nil
		}))
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			got, err := valueTable.All(r, "ORDER BY text")
			list := []string{}
			for _, v := range got {
				list = append(list, v.text.String)
			}
			require.Equal(t, []string{"", " a", "A", "Z", "a", "a ", "z", "ä"}, list)
			require.NoError(t, err)
			n := 0
			require.NoError(t, r.QueryRow("SELECT count(*) FROM suite_values WHERE text = ?", "A").Scan(&n))
			require.Equal(t, 1, n)
			return nil
		}))
	}},
	{"a value of another type is refused", func(t *testing.T, s suite) {
		db := s.open(t, valuesStep)
		for _, bad := range []any{"seven", []byte{7}} {
			require.Error(t, db.Write(t.Context(), func(tx store.Tx) error {
				_, err := tx.Exec("INSERT INTO suite_values (id, whole) VALUES (1, ?)", bad)
				return err
			}))
		}
		require.ErrorContains(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO suite_values (id, whole) VALUES (1, ?)", time.Now())
			return err
		}), "time.Time")
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			list, err := valueTable.All(r, "")
			require.Empty(t, list)
			return err
		}))
	}},
	{"a value that a variable cannot hold is unreadable", func(t *testing.T, s suite) {
		db := s.open(t, valuesStep)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return valueTable.Insert(tx, &value{id: 1, text: words("seven")}) }))
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			var n int64
			require.ErrorIs(t, store.Unreadable(r.QueryRow("SELECT text FROM suite_values").Scan(&n)), store.ErrDamaged)
			require.ErrorIs(t, store.Unreadable(r.QueryRow("SELECT text FROM suite_values WHERE id = 2").Scan(&n)), sql.ErrNoRows)
			return nil
		}))
	}},
	{"big rows", func(t *testing.T, s suite) {
		place := s.Place(t)
		db := s.at(t, place, valuesStep)
		big := bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)
		for id := range int64(3) {
			require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return valueTable.Insert(tx, &value{id: id, bytes: big}) }))
		}
		require.NoError(t, db.Close())
		db = s.at(t, place, valuesStep)
		require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
			list, err := valueTable.All(r, "ORDER BY id")
			require.Len(t, list, 3)
			for _, v := range list {
				require.True(t, bytes.Equal(big, v.bytes))
			}
			return err
		}))
	}},
	{"statements say how many rows they changed", func(t *testing.T, s suite) {
		db := s.open(t)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			for id := range int64(5) {
				if err := put(id, 0)(tx); err != nil {
					return err
				}
			}
			for query, want := range map[string]int64{
				"UPDATE suite_rows SET n = 1 WHERE id < 3":                                                3,
				"UPDATE suite_rows SET n = 1 WHERE id = 77":                                               0,
				"DELETE FROM suite_rows WHERE id = 4":                                                     1,
				"INSERT INTO suite_rows (id, text, n) VALUES (0, 'other', 0) ON CONFLICT (id) DO NOTHING": 0,
			} {
				res, err := tx.Exec(query)
				require.NoError(t, err, query)
				n, err := res.RowsAffected()
				require.NoError(t, err)
				require.Equal(t, want, n, query)
			}
			var n int64
			require.NoError(t, tx.QueryRow("INSERT INTO suite_rows (id, text, n) VALUES (9, 'nine', 9) ON CONFLICT (id) DO UPDATE SET n = 1 RETURNING n").Scan(&n))
			require.EqualValues(t, 9, n)
			return nil
		}))
	}},
}
