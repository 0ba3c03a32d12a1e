package room_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room"
	"posagent/store"
	"posagent/store/storetest"
)

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var looks []time.Duration
		r, err := room.New("test", room.Options{DB: struct{ store.DB }{}}) // the loop itself needs no store
		require.NoError(t, err)
		r.Sweeps(func(context.Context) (int64, error) {
			looks = append(looks, time.Since(start))
			switch len(looks) {
			case 1:
				return time.Now().Add(300 * time.Millisecond).UnixMilli(), nil // due before the second is over
			case 2:
				return time.Now().Add(time.Hour).UnixMilli(), nil // due late, looked for all the same
			case 3:
				return 0, errors.New("disk")
			}
			return 0, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		time.AfterFunc(2500*time.Millisecond, r.Poke)
		require.ErrorIs(t, r.Run(ctx), context.DeadlineExceeded)
		ms := time.Millisecond
		require.Equal(t, []time.Duration{0, 300 * ms, 1300 * ms, 2300 * ms, 2500 * ms}, looks)
	})
}

// All that is due moves at its moment; one that cannot move does not hold the others up.
func TestSweep(t *testing.T) {
	db := storetest.Open(t, store.Step{Name: "thing/1", SQL: `CREATE TABLE thing (id INTEGER PRIMARY KEY, at_ms INTEGER) STRICT;
INSERT INTO thing (id, at_ms) VALUES (1, 5), (2, 10), (3, 10), (4, 11), (5, NULL);`})
	r, err := room.New("test", room.Options{DB: db, Now: func() time.Time { return time.UnixMilli(10) }})
	require.NoError(t, err)
	stuck := errors.New("stuck")
	var moved []int64
	sweep := func() (int64, error) {
		moved = nil
		return room.Sweep(t.Context(), r, room.Due[int64]{
			What: "things", Name: func(id int64) string { return "thing " + strconv.FormatInt(id, 10) },
			List: `SELECT id FROM thing WHERE at_ms <= ? AND at_ms <= ? ORDER BY id`,
			Next: `SELECT COALESCE(MIN(at_ms), 0) FROM thing`,
			Advance: func(tx store.Tx, id, now int64) error {
				require.EqualValues(t, 10, now)
				if id == 2 {
					return stuck
				}
				moved = append(moved, id)
				_, err := tx.Exec(`UPDATE thing SET at_ms = NULL WHERE id = ?`, id)
				return err
			},
		})
	}
	_, err = sweep()
	require.EqualError(t, err, "advance thing 2: stuck")
	require.Equal(t, []int64{1, 3}, moved)
	stuck = nil
	next, err := sweep()
	require.NoError(t, err)
	require.EqualValues(t, 10, next, "2 has not moved")
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`DELETE FROM thing WHERE id < 4`)
		return err
	}))
	next, err = sweep()
	require.NoError(t, err)
	require.Empty(t, moved)
	require.EqualValues(t, 11, next)
}

func TestWhatARoomNeeds(t *testing.T) {
	_, err := room.New("cards", room.Options{})
	require.EqualError(t, err, "cards: a store is needed")
	for _, address := range []string{"", "file:///x", "http://", "shop.example"} {
		_, err = room.NewPaged("cards", room.Options{DB: struct{ store.DB }{}, PublicURL: address})
		require.EqualError(t, err, `cards: public URL "`+address+`": want http://HOST or https://HOST`)
	}
	r, err := room.NewPaged("cards", room.Options{DB: struct{ store.DB }{}, PublicURL: "http://shop.example/"})
	require.NoError(t, err)
	require.Equal(t, "http://shop.example", r.Public)
}
