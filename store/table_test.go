package store_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/storetest"
)

type colour string

// parcel is a row with a field of each kind.
type parcel struct {
	id      int64
	name    string
	colour  colour
	weight  int32
	fragile bool
	label   []byte
	due     int64
	owner   colour
	marks   []string
}

func (p *parcel) fields() store.Fields {
	return store.Fields{"id", &p.id, "name", &p.name, "colour", &p.colour, "weight", &p.weight, "fragile", &p.fragile, "label", &p.label,
		"due_ms", store.OrNull(&p.due), "owner", store.OrNull(&p.owner), "marks", store.JSON(&p.marks)}
}

var (
	parcels    = store.NewTable("parcels", (*parcel).fields)
	saveParcel = parcels.Update("colour", "fragile", "due_ms")
	putParcel  = parcels.Put("colour", "marks")
	parcelStep = store.Step{Name: "parcels/1", SQL: `CREATE TABLE parcels (marks TEXT NOT NULL DEFAULT 'null', owner TEXT, due_ms INTEGER, label BLOB, fragile INTEGER NOT NULL,
		weight INTEGER NOT NULL, colour TEXT NOT NULL, name TEXT NOT NULL, id INTEGER PRIMARY KEY) STRICT;`}
)

// The table lists its columns in another order than the mapping: the names decide.
func TestTableMapsRows(t *testing.T) {
	db := storetest.Open(t, parcelStep)
	full := parcel{7, "books", "red", -3, true, []byte{0, 1}, 1234, "green", []string{"this way up"}}
	bare := parcel{id: 8}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, parcels.Insert(tx, &full))
		return parcels.Insert(tx, &bare)
	}))
	require.Equal(t, "id, name, colour, weight, fragile, label, due_ms, owner, marks", parcels.Columns())
	read := func(r store.Reader) error {
		var name, red, owner, due, label string
		require.NoError(t, r.QueryRow(`SELECT name, colour, owner, due_ms || ' ' || fragile || ' ' || weight, hex(label) FROM parcels WHERE id = 7`).
			Scan(&name, &red, &owner, &due, &label))
		require.Equal(t, []string{"books", "red", "green", "1234 1 -3", "0001"}, []string{name, red, owner, due, label})
		nulls := 0
		require.NoError(t, r.QueryRow(`SELECT count(*) FROM parcels WHERE due_ms IS NULL AND owner IS NULL AND label IS NULL AND name = ''`).Scan(&nulls))
		require.Equal(t, 1, nulls)

		got, err := parcels.One(r, "WHERE id = ?", 7)
		require.NoError(t, err)
		require.Equal(t, parcel{7, "books", "red", -3, true, []byte{0, 1}, 1234, "green", []string{"this way up"}}, got)
		list, err := parcels.All(r, "WHERE weight <= ? ORDER BY id DESC", 0)
		require.NoError(t, err)
		require.Equal(t, []parcel{{id: 8}, got}, list)
		_, err = parcels.One(r, "WHERE id = ?", 9)
		require.ErrorIs(t, err, sql.ErrNoRows)
		list, err = parcels.All(r, "WHERE id = ?", 9)
		require.NoError(t, err)
		require.Empty(t, list)
		_, err = parcels.All(r, "WHERE no_column = 1")
		require.Error(t, err)
		return nil
	}
	require.NoError(t, db.Read(t.Context(), read))
}

func TestTableUpdatesWhatIsNamed(t *testing.T) {
	db := storetest.Open(t, parcelStep)
	first, other := parcel{id: 1, name: "books", colour: "red", due: 9}, parcel{id: 2, colour: "red"}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, parcels.Insert(tx, &first))
		require.NoError(t, parcels.Insert(tx, &other))
		changed := parcel{id: 1, name: "not saved", colour: "blue", fragile: true}
		return saveParcel(tx, &changed)
	}))
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		list, err := parcels.All(r, "ORDER BY id")
		require.NoError(t, err)
		require.Equal(t, []parcel{{id: 1, name: "books", colour: "blue", fragile: true}, {id: 2, colour: "red"}}, list)
		return nil
	}))
}

// Two columns together tell which row: neither alone does.
func TestTableOfTwoKeys(t *testing.T) {
	type stock struct {
		shop, tea string
		grams     int64
	}
	stocks := store.NewTable("stocks", func(s *stock) store.Fields {
		return store.Fields{"shop", &s.shop, "tea", &s.tea, "grams", &s.grams}
	}).Keyed(2)
	save, put := stocks.Update(), stocks.Put("grams")
	db := storetest.Open(t, store.Step{Name: "test/1 stocks", SQL: `CREATE TABLE stocks (shop TEXT, tea TEXT, grams INTEGER, PRIMARY KEY (shop, tea)) STRICT`})
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for _, s := range []stock{{"Lund", "Assam", 1}, {"Lund", "Sencha", 2}, {"Ystad", "Assam", 3}} {
			require.NoError(t, stocks.Insert(tx, &s))
		}
		require.NoError(t, save(tx, &stock{"Lund", "Assam", 10}))
		require.NoError(t, put(tx, &stock{"Ystad", "Assam", 30}))
		return put(tx, &stock{"Ystad", "Sencha", 40})
	}))
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		list, err := stocks.All(r, "ORDER BY shop, tea")
		require.NoError(t, err)
		require.Equal(t, []stock{{"Lund", "Assam", 10}, {"Lund", "Sencha", 2}, {"Ystad", "Assam", 30}, {"Ystad", "Sencha", 40}}, list)
		return nil
	}))
}

func TestTablePutsARowOnce(t *testing.T) {
	db := storetest.Open(t, parcelStep)
	for _, p := range []parcel{{id: 1, name: "books", colour: "red"}, {id: 2, colour: "red"}, {id: 1, name: "not saved", colour: "blue", marks: []string{"late"}}} {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return putParcel(tx, &p) }))
	}
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		list, err := parcels.All(r, "ORDER BY id")
		require.NoError(t, err)
		require.Equal(t, []parcel{{id: 1, name: "books", colour: "blue", marks: []string{"late"}}, {id: 2, colour: "red"}}, list)
		return nil
	}))
}

// A value that its field cannot hold is damage, as it is for a statement that scans by place.
func TestTableTellsDamage(t *testing.T) {
	db := storetest.Open(t, parcelStep)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO parcels (id, name, colour, weight, fragile, owner, due_ms) VALUES (1, '', '', 1 << 40, 0, NULL, NULL)`)
		return err
	}))
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		_, err := parcels.One(r, "WHERE id = 1")
		require.ErrorIs(t, store.Unreadable(err), store.ErrDamaged)
		_, err = parcels.One(r, "WHERE id = 2")
		require.Equal(t, sql.ErrNoRows, store.Unreadable(err))
		return nil
	}))
}

func TestTableRefusesWhatIsNoMapping(t *testing.T) {
	for name, fields := range map[string]func(*parcel) store.Fields{
		"nothing":        func(*parcel) store.Fields { return nil },
		"an odd one":     func(p *parcel) store.Fields { return store.Fields{"id", &p.id, "name"} },
		"no name":        func(p *parcel) store.Fields { return store.Fields{&p.id, &p.name} },
		"no pointer":     func(p *parcel) store.Fields { return store.Fields{"id", p.id} },
		"the same twice": func(p *parcel) store.Fields { return store.Fields{"id", &p.id, "id", &p.name} },
	} {
		require.Panics(t, func() { store.NewTable("parcels", fields) }, name)
	}
	for _, keys := range []int{-1, 0, 9, 10} {
		require.Panics(t, func() { store.NewTable("parcels", (*parcel).fields).Keyed(keys) }, keys)
	}
	require.Panics(t, func() { parcels.Update("colour", "color") })
	require.Panics(t, func() { parcels.Put("colour", "color") })
}

func TestColumnReadsOneColumn(t *testing.T) {
	db := storetest.Open(t, parcelStep)
	for _, p := range []parcel{{id: 2, name: "shoes"}, {id: 1, name: "books"}} {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return putParcel(tx, &p) }))
	}
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		names, err := store.Column[string](r, "SELECT name FROM parcels WHERE id < ? ORDER BY id", 9)
		require.NoError(t, err)
		require.Equal(t, []string{"books", "shoes"}, names)
		none, err := store.Column[int64](r, "SELECT id FROM parcels WHERE id > 9")
		require.NoError(t, err)
		require.Empty(t, none)
		wrong, err := store.Column[int64](r, "SELECT name FROM parcels")
		require.ErrorIs(t, store.Unreadable(err), store.ErrDamaged)
		require.Nil(t, wrong)
		_, err = store.Column[int64](r, "SELECT nothing FROM parcels")
		require.Error(t, err)
		return nil
	}))
}

// The first error of the caller ends the reading and is the answer; its statement is closed then.
func TestEachStopsAtTheFirstError(t *testing.T) {
	db := storetest.Open(t, parcelStep)
	for id := range int64(3) {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return putParcel(tx, &parcel{id: id + 1}) }))
	}
	enough, seen := errors.New("enough"), 0
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		require.Equal(t, enough, store.Each(tx, func(store.Row) error {
			if seen++; seen == 2 {
				return enough
			}
			return nil
		}, "SELECT id FROM parcels"))
		require.Equal(t, 2, seen)
		_, err := tx.Exec("DROP TABLE parcels") // would be locked by an open statement
		return err
	}))
}
