package room_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// pool is a store with a few connections, of which each write of a row that is locked holds one.
type pool struct {
	store.DB
	conns  chan struct{}
	locked chan struct{} // closed once the row is free

	mu    sync.Mutex
	waits int // writes that wait for the row
}

type lockedRow struct{}

func (p *pool) Write(ctx context.Context, fn func(store.Tx) error) error {
	p.conns <- struct{}{}
	defer func() { <-p.conns }()
	if ctx.Value(lockedRow{}) != nil {
		p.mu.Lock()
		p.waits++
		p.mu.Unlock()
		<-p.locked
	}
	return p.DB.Write(ctx, fn)
}

// TestField2_G6RepeatsOfOneTillLeaveThePoolToOthers: while a write under a Key waits in the store, its repetitions wait outside of it. They
// are told to ask again, that nothing was begun for them, and another Key has its connection. When the first has ended, the Key has its
// one effect and one answer. A repetition whose caller leaves is none any more.
func TestField2_G6RepeatsOfOneTillLeaveThePoolToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &pool{
			DB:    storetest.Open(t, append(room.Schema(), store.Step{Name: "note/1", SQL: `CREATE TABLE note (text TEXT NOT NULL) STRICT;`})...),
			conns: make(chan struct{}, 4), locked: make(chan struct{}),
		}
		r, err := room.New("test", room.Options{DB: db})
		require.NoError(t, err)
		write := func(ctx context.Context, key wire.Key) error {
			var got answer
			return r.Once(ctx, room.Keyed{Op: "pay", Key: key, Body: []byte("b")}, &got, func(tx store.Tx, _ int64) (scenario.Do, error) {
				return "", note(tx, string(key))
			})
		}
		stuck := context.WithValue(t.Context(), lockedRow{}, true)
		var all sync.WaitGroup
		answers := make(chan error, 50)
		for range 50 {
			all.Go(func() { answers <- write(stuck, "till") })
		}
		synctest.Wait()
		gone, leave := context.WithCancel(stuck)
		left := make(chan error, 1)
		go func() { left <- write(gone, "till") }()
		synctest.Wait()
		require.Equal(t, 1, db.waits, "of all repetitions one is at the store")
		leave()
		require.ErrorIs(t, <-left, context.Canceled)
		began := time.Now()
		require.NoError(t, write(t.Context(), "another"))
		require.Zero(t, time.Since(began), "another till is served at once")
		for range 49 {
			err := <-answers
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, "nothing was begun for this one")
			require.Equal(t, http.StatusServiceUnavailable, wire.CodeOf(err).Status())
			var e *wire.Error
			require.ErrorAs(t, err, &e)
			require.Positive(t, e.RetryAfter)
		}
		close(db.locked)
		all.Wait()
		require.NoError(t, <-answers)
		require.NoError(t, write(stuck, "till"), "asked again it is answered as it was")
		require.Equal(t, []string{"another", "till"}, notes(t, r))
	})
}
