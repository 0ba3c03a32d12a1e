package inbox_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// shared is an inbox whose things belong to the client that begins their ids.
func shared(t *testing.T, keep int64) (db store.DB, take func(owner string, from, to int)) {
	db = storetest.Open(t, inbox.Schema()...)
	b := inbox.New(inbox.Options{DB: db, Keep: keep, Owner: func(_ store.Reader, _, id string) (string, bool, error) { return id, id != "", nil }})
	return db, func(owner string, from, to int) {
		t.Helper()
		for i := from; i <= to; i++ {
			it := inbox.Item{Source: "links", Ref: owner + strconv.Itoa(i), Event: "e", Body: []byte(`{"n":` + strconv.Itoa(i) + `}`), About: inbox.AboutPayment, ID: owner}
			_, err := b.Take(t.Context(), it)
			require.NoError(t, err)
		}
	}
}

func everything(string) bool { return true }

// TestField2_M47WhatWasLostIsSaid: a reader that resumes behind dropped arrivals hears so once, before
// the next kept one. One that begins, or has read all that was dropped, hears nothing of it, nor does
// a client whose own arrivals are all kept.
func TestField2_M47WhatWasLostIsSaid(t *testing.T) {
	db, take := shared(t, 20)
	take("", 1, 50)
	b := inbox.New(inbox.Options{DB: db, Keep: 20})
	feed := b.Resume(5, everything)
	e, found, err := feed.Try(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, []int64{6, 30}, []int64{e.LostFrom, e.Row})
	list := drain(t, feed)
	require.Len(t, list, 20)
	require.Equal(t, []int64{31, 0}, []int64{list[0].Row, list[0].LostFrom}, "said once")

	for name, feed := range map[string]*inbox.Feed{
		"the beginning": b.Resume(0, everything), "behind the loss": b.Resume(30, everything),
		"another's loss": b.Resume(5, func(owner string) bool { return owner == "kiosk" }), "a look": b.Subscribe(5),
	} {
		for _, e := range drain(t, feed) {
			require.Zero(t, e.LostFrom, name)
		}
	}
	take("", 51, 60) // while the reader of the beginning was connected to nothing
	require.NotZero(t, drain(t, b.Resume(31, everything))[0].LostFrom, "lost later")
}

// TestField2_M47EachClientHasAShare: a client whose arrivals come in thousands pushes out its own, and
// none of a client that has less than it.
func TestField2_M47EachClientHasAShare(t *testing.T) {
	db, take := shared(t, 20)
	take("quiet", 1, 5)
	take("loud", 1, 300)
	take("quiet", 6, 7)
	kept := map[string]int{}
	for _, e := range drain(t, inbox.New(inbox.Options{DB: db}).Subscribe(0)) {
		kept[e.Owner]++
	}
	require.Equal(t, map[string]int{"quiet": 7, "loud": 13}, kept)
	take("quiet", 8, 100)
	kept = map[string]int{}
	for _, e := range drain(t, inbox.New(inbox.Options{DB: db}).Subscribe(0)) {
		kept[e.Owner]++
	}
	require.Equal(t, map[string]int{"quiet": 10, "loud": 10}, kept, "an equal share")
}

// TestField2_M47AnIdIsKnownLongerThanItsBody: the repeat of an event that was dropped is no second
// event, also with its members in another order; another body under its id is refused. In the end the
// ids go, too.
func TestField2_M47AnIdIsKnownLongerThanItsBody(t *testing.T) {
	db := storetest.Open(t, inbox.Schema()...)
	b := inbox.New(inbox.Options{DB: db, Keep: 20})
	put := func(ref, body string) (bool, error) {
		return b.Take(context.Background(), inbox.Item{Source: inbox.Webhooks, Ref: ref, Event: "e", Body: []byte(body)})
	}
	for i := range 100 {
		fresh, err := put(strconv.Itoa(i), `{"a":1,"n":`+strconv.Itoa(i)+`}`)
		require.NoError(t, err)
		require.True(t, fresh)
	}
	require.Equal(t, "80", drain(t, b.Subscribe(0))[0].Ref)
	for _, body := range []string{`{"a":1,"n":3}`, `{"n":3,"a":1}`} {
		fresh, err := put("3", body)
		require.NoError(t, err)
		require.False(t, fresh, "a repeat")
	}
	_, err := put("3", `{"a":2,"n":3}`)
	require.Equal(t, wire.Conflict, wire.CodeOf(err))
	for i := range 400 {
		_, err := put("later"+strconv.Itoa(i), `{}`)
		require.NoError(t, err)
	}
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		var n int
		require.NoError(t, r.QueryRow(`SELECT COUNT(*) FROM inbox_seen`).Scan(&n))
		require.Less(t, n, 8*20+64)
		require.Greater(t, n, 7*20-64)
		return nil
	}))
}
