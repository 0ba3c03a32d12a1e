package history_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
	"posagent/agent/records/history"
	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

type rig struct {
	t   *testing.T
	db  store.Store
	now time.Time
}

func newRig(t *testing.T) *rig {
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "agent.db"), Steps: history.Schema(), Wrapper: storetest.Wrapper{}, Ballast: -1, Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return &rig{t: t, db: db, now: time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)}
}

// log is the history of a new run.
func (x *rig) log() *history.Log {
	return history.New(history.Options{DB: x.db, Now: func() time.Time { return x.now }})
}

// newest is the newest entry.
func (x *rig) newest() (e history.Entry) {
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error {
		list, err := history.Since(r, time.Time{}, 1)
		if err == nil && len(list) == 1 {
			e = list[0]
		}
		return err
	}))
	return e
}

func (x *rig) list(limit int) (texts []string) {
	require.NoError(x.t, x.db.Read(x.t.Context(), func(r store.Reader) error {
		list, err := history.Since(r, time.Time{}, limit)
		for _, e := range list {
			texts = append(texts, e.What+" "+e.Cause+" "+e.Text)
		}
		return err
	}))
	return texts
}

func TestAStartSaysHowTheRunBeforeEnded(t *testing.T) {
	x := newRig(t)
	ctx := t.Context()
	x.log().Start(ctx, "boot-1", "1") // nothing was before it
	x.log().Start(ctx, "boot-1", "2") // the first was killed
	l := x.log()
	l.Start(ctx, "boot-2", "3") // the box lost its power
	l.Judged(ctx, ready.Report{NotReady: &ready.Said{Cause: "line_gone", Words: "the register line is not there", Remedy: "plug it in"}})
	l.Judged(ctx, ready.Report{Ready: true, Offline: &ready.Said{Cause: "no_route", Words: "no way to the backend"}})
	l.Judged(ctx, ready.Report{Ready: true})
	l.Stop(ctx, nil)
	l = x.log()
	l.Start(ctx, "boot-3", "4")                                                                           // stopped before the box was
	l.Stop(ctx, errors.Join(errors.New("local port: address in use"), errors.New("register line: gone"))) // an entry is one line
	require.Equal(t, []string{
		"started first version 1", "started killed version 2", "started powerup version 3", "not_ready line_gone the register line is not there",
		"offline no_route no way to the backend", "ready  ", "stopped  as it was asked to", "started stop version 4", "stopped  local port: address in use; register line: gone",
	}, x.list(100))
	require.Equal(t, []string{"started stop version 4", "stopped  local port: address in use; register line: gone"}, x.list(2), "the newest")
}

// A backup was made while the terminal ran, so the newest entry tells of no end. The start after the restore says so, the next one does not.
func TestAStartAfterARestoreIsNoCrash(t *testing.T) {
	for _, tc := range []struct {
		kind   store.Kind
		first  string
		second string
	}{{store.WasRestored, "restored", "killed"}, {store.WasAccepted, "killed", "killed"}} {
		x := newRig(t)
		x.log().Start(t.Context(), "boot-1", "1")
		x.now = x.now.Add(time.Hour)
		require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
			return store.KeepLost(tx, store.Lost{Before: store.Before{Kind: tc.kind, Why: "w"}, Generation: 2, AtMS: x.now.UnixMilli()})
		}))
		x.log().Start(t.Context(), "boot-1", "2") // in the same millisecond
		x.log().Start(t.Context(), "boot-1", "3")
		require.Equal(t, []string{"started first version 1", "started " + tc.first + " version 2", "started " + tc.second + " version 3"}, x.list(100))
	}
}

func TestACauseThatComesAndGoesFillsNothing(t *testing.T) {
	x := newRig(t)
	l := x.log()
	for range 100 {
		l.Judged(t.Context(), ready.Report{NotReady: &ready.Said{Cause: "line_pulled", Words: "unplugged"}})
		x.now = x.now.Add(time.Second)
	}
	require.Len(t, x.list(1000), 30)
	x.now = x.now.Add(time.Hour)
	l.Judged(t.Context(), ready.Report{Ready: true})
	list := x.list(1000)
	require.Len(t, list, 31)
	require.Equal(t, "ready   (after 70 change(s) that are not listed)", list[30])
}

// After 30 days an entry goes; the newest stay though the clock is wrong, and no number of them fills the journal.
func TestOldEntriesGo(t *testing.T) {
	x := newRig(t)
	for n := range 300 {
		x.log().Start(t.Context(), "b", fmt.Sprint(n))
	}
	require.Len(t, x.list(10000), 300)
	x.now = x.now.Add(29 * 24 * time.Hour)
	x.log().Start(t.Context(), "b", "day 29")
	require.Len(t, x.list(10000), 301)
	x.now = x.now.Add(2 * 24 * time.Hour)
	x.log().Start(t.Context(), "b", "day 31")
	list := x.list(10000)
	require.Len(t, list, 200)
	require.Equal(t, "started killed version day 31", list[199])
	require.NoError(t, x.db.Write(t.Context(), func(tx store.Tx) error {
		for range 4985 {
			if _, err := tx.Exec(`INSERT INTO history_log (at_ms, what, cause, boot, text) VALUES (?, 'stopped', '', '', '')`, x.now.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	}))
	for want := 4988; want < 5010; want++ { // two of the last 30 days, those, and one more
		x.log().Stop(t.Context(), nil)
		require.Equal(t, min(want, 5000), len(x.list(10000)))
	}
}

// A journal that cannot be written stops nothing.
func TestADeadJournalIsNoError(t *testing.T) {
	x := newRig(t)
	require.NoError(t, x.db.Close())
	l := x.log()
	l.Start(t.Context(), "b", "1")
	l.Judged(t.Context(), ready.Report{Ready: true})
	l.Stop(t.Context(), nil)
}
