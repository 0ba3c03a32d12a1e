package events_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/records/events"
	"posagent/store"
	"posagent/store/storetest"
)

// flood adds events of an owner.
func flood(t *testing.T, db store.Journal, l *events.Log, owner string, n int) {
	t.Helper()
	for range n {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			return l.Add(tx, events.Item{Source: "operation", Ref: owner, Event: "operation.accepted", Body: []byte("{}"), Owner: owner})
		}))
	}
}

// kept counts what a reader from the beginning reads, by owner.
func kept(t *testing.T, r *events.Reader) map[string]int {
	t.Helper()
	out := map[string]int{}
	for {
		e, found, err := r.Next(t.Context())
		require.NoError(t, err)
		if !found {
			return out
		}
		require.NotEqual(t, events.Lost, e.Event, "who begins, or has lost nothing, hears of no loss")
		out[e.Owner]++
	}
}

// TestField3_C1EachClientHasAShareOfTheLog: a client whose operations come in thousands pushes out its own events and none of a client,
// of the register's or of the terminal's that has fewer; the one that lost some hears so once and the others hear nothing. The other list
// that clients read, what arrived, is shared likewise (package inbox).
func TestField3_C1EachClientHasAShareOfTheLog(t *testing.T) {
	db := storetest.Open(t, events.Schema()...)
	l := events.New(events.Options{DB: db, Keep: 128})
	flood(t, db, l, "quiet", 20)
	flood(t, db, l, "", 10)
	flood(t, db, l, "loud", 1000)
	of := func(names ...string) func(string) bool {
		return func(owner string) bool {
			for _, name := range names {
				if owner == name {
					return true
				}
			}
			return false
		}
	}
	has := kept(t, l.Resume(0, everything))
	require.Equal(t, []int{20, 10}, []int{has["quiet"], has[""]}, "what few ask for is kept")
	require.InDelta(t, 98, has["loud"], 64, "the log is bounded")
	require.Equal(t, 19, kept(t, l.Resume(1, of("quiet")))["quiet"], "the quiet one resumes as if nothing had happened")

	loud := l.Resume(31, of("loud"))
	e, found, err := loud.Next(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, events.Lost, e.Event)
	require.EqualValues(t, 31, loud.At(), "what is kept behind it is read after it")
	require.Equal(t, has["loud"], kept(t, loud)["loud"], "said once")

	// What is given to another client counts for that one, and may be dropped like anything else.
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return l.Give(tx, "operation", "quiet", "loud") }))
	flood(t, db, l, "loud", 1000)
	has = kept(t, l.Resume(0, everything))
	require.Zero(t, has["quiet"])
	require.InDelta(t, 128, has["loud"]+has[""], 64)
	require.Equal(t, 30, has[""], "the terminal's own, and those that were given away")
	flood(t, db, l, "", 1000)
	has = kept(t, l.Resume(0, everything))
	require.InDelta(t, 64, has["loud"], 64)
	require.InDelta(t, 64, has[""], 64)
	require.Zero(t, has["quiet"])
	var sum, rows, low int
	require.NoError(t, db.Read(t.Context(), func(r store.Reader) error {
		if err := r.QueryRow(`SELECT SUM(kept) FROM events_owners`).Scan(&sum); err != nil {
			return err
		}
		if err := r.QueryRow(`SELECT COUNT(*) FROM events_log WHERE owner = '' AND id < 1000`).Scan(&low); err != nil {
			return err
		}
		return r.QueryRow(`SELECT COUNT(*) FROM events_log`).Scan(&rows)
	}))
	require.Equal(t, rows, sum)
	require.Zero(t, low, "those that were given away went first, though the terminal had lost newer ones")
}

// TestField3_C1AnOlderLogIsShared: a log from before the shares is counted, and a reader of it that comes too late hears so, whoever it is.
func TestField3_C1AnOlderLogIsShared(t *testing.T) {
	steps := events.Schema()
	db := storetest.Open(t, steps[:3]...)
	for i := 11; i <= 40; i++ {
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`INSERT INTO events_log (id, source, ref, event, body, at_ms, owner) VALUES (?, 'operation', ?, 'e', x'7b7d', 0, ?)`, i, strconv.Itoa(i), []string{"", "old"}[i%2])
			return err
		}))
	}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec(steps[3].SQL); return err }))
	l := events.New(events.Options{DB: db})
	for _, owner := range []string{"", "old"} {
		r := l.Resume(5, func(of string) bool { return of == owner })
		e, found, err := r.Next(t.Context())
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, events.Lost, e.Event)
		require.Equal(t, map[string]int{"": 15, "old": 15}, kept(t, r))
	}
	flood(t, db, l, "new", 1)
	require.Equal(t, 1, kept(t, l.Resume(0, everything))["new"])
}
