package events_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/events"
	"posagent/store"
	"posagent/store/storetest"
)

func add(t *testing.T, db store.Journal, l *events.Log, refs ...string) {
	t.Helper()
	for _, ref := range refs {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			return l.Add(tx, events.Item{Source: "operation", Ref: ref, Event: "operation.accepted", Body: []byte(`{"n":1}`)})
		}))
	}
}

func everything(string) bool { return true }

// rest reads on behind an event to the end.
func rest(t *testing.T, l *events.Log, after int64) (list []string) {
	t.Helper()
	r := l.Resume(after, everything)
	for {
		e, found, err := r.Next(t.Context())
		require.NoError(t, err)
		if !found {
			return list
		}
		list = append(list, e.Ref+"/"+e.Event)
	}
}

// A reader goes on where it was, over a restart too, and reads everything once and in order.
func TestResumeOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db := storetest.OpenAt(t, path, events.Schema()...)
	l := events.New(events.Options{DB: db})
	require.Empty(t, rest(t, l, 0))
	add(t, db, l, "a", "b", "c")
	e, _, err := l.Resume(1, everything).Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "b", e.Ref)
	require.NoError(t, db.Close())

	db = storetest.OpenAt(t, path, events.Schema()...)
	l = events.New(events.Options{DB: db})
	require.Equal(t, []string{"c/operation.accepted"}, rest(t, l, e.ID))
	add(t, db, l, "d")
	require.Equal(t, []string{"c/operation.accepted", "d/operation.accepted"}, rest(t, l, e.ID))
	require.Empty(t, rest(t, l, 4))
}

// An event is there with its change or not at all.
func TestEventBelongsToItsCommit(t *testing.T) {
	db := storetest.Open(t, events.Schema()...)
	l := events.New(events.Options{DB: db})
	broken := errors.New("the change fails")
	require.ErrorIs(t, db.Write(t.Context(), func(tx store.Tx) error {
		if err := l.Add(tx, events.Item{Source: "operation", Ref: "a", Event: "operation.accepted", Body: []byte("{}")}); err != nil {
			return err
		}
		return broken
	}), broken)
	require.Empty(t, rest(t, l, 0))
}

// The log is bounded, and who comes too late is told so once, and gets what is left.
func TestBoundedAndHonestAboutIt(t *testing.T) {
	db := storetest.Open(t, events.Schema()...)
	l := events.New(events.Options{DB: db, Keep: 10})
	for i := range 300 {
		add(t, db, l, "r"+strconv.Itoa(i))
	}
	var oldest, newest int64
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) {
		oldest, newest, err = events.Bounds(r)
		return err
	}))
	require.EqualValues(t, 300, newest)
	require.Less(t, newest-oldest, int64(10+64))
	list := rest(t, l, 5)
	require.Equal(t, "6/"+events.Lost, list[0])
	require.Len(t, list, int(newest-oldest)+2)
	require.NotContains(t, rest(t, l, oldest), events.Lost)
	require.Equal(t, "r299/operation.accepted", list[len(list)-1])
	require.Equal(t, fmt.Sprintf("r%d/operation.accepted", oldest-1), rest(t, l, 0)[0], "who asks for what is kept misses nothing")

	e, found, err := l.Resume(5000, everything).Next(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, events.Lost, e.Event, "a number of another log")
	require.Len(t, rest(t, l, 5000), int(newest-oldest)+2)
}

// What is kept of one thing is found by its key.
func TestOf(t *testing.T) {
	db := storetest.Open(t, events.Schema()...)
	l := events.New(events.Options{DB: db})
	add(t, db, l, "a", "b", "a")
	var list []events.Event
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) (err error) { list, err = events.Of(r, "a"); return err }))
	require.Len(t, list, 2)
	require.EqualValues(t, 1, list[0].ID)
	require.EqualValues(t, 3, list[1].ID)
	require.JSONEq(t, `{"n":1}`, string(list[0].Body))
}
