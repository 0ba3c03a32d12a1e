package postgres_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/store"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
	"posagent/store/storetest"
)

// at are the options of a store that remembers its server.
func at(url, memory string) postgres.Options {
	return postgres.Options{URL: url, Steps: []store.Step{ticketStep}, Wrapper: storetest.Wrapper{}, Memory: memory, Tolerate: postgres.Tolerated{NoFsync: true}}
}

// kept opens, writes once, and closes: what was written is confirmed.
func kept(t *testing.T, opt postgres.Options) {
	t.Helper()
	s, err := postgres.Open(t.Context(), opt)
	require.NoError(t, err)
	ticket(t, s)
	require.NoError(t, s.Close())
}

func ticket(t *testing.T, s store.DB) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO tickets (n) VALUES (1)")
		return err
	}))
}

// A primary that was given up comes back with an older timeline: writes to it would be lost, and it is refused. The one that took over is
// taken without a word.
func TestAPrimaryThatWasGivenUp(t *testing.T) {
	old := start(t)
	if old == nil {
		return
	}
	old.Set("synchronous_standby_names", "ANY 1 (s1)")
	next := old.Standby("s1")
	memory := filepath.Join(t.TempDir(), "primary")
	kept(t, at(old.URL(""), memory))

	_, err := postgres.Open(t.Context(), at(next.URL(""), memory))
	require.ErrorIs(t, err, store.ErrReadOnly)
	require.ErrorContains(t, err, "standby")

	// A running store finds the one that took over by itself.
	running, err := postgres.Open(t.Context(), at("postgres://posagent@/postgres?host="+old.Host()+","+next.Host()+"&target_session_attrs=read-write", memory))
	require.NoError(t, err)
	old.Crash()
	next.Promote()
	next.Set("synchronous_standby_names", "")
	require.Eventually(t, func() bool {
		return running.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO tickets (n) VALUES (2)")
			return err
		}) == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, running.Close())
	last, err := postgres.Remembered(memory)
	require.NoError(t, err)
	require.EqualValues(t, 2, last.Timeline)

	old.Start()
	old.Set("synchronous_standby_names", "")
	_, err = postgres.Open(t.Context(), at(old.URL(""), memory))
	require.ErrorIs(t, err, postgres.ErrBackwards)
	require.ErrorContains(t, err, "a primary that was given up: it is on timeline 1, and the last one was on 2")
	kept(t, at(next.URL(""), memory))
	next.Crash() // before the old one, which it copies
}

// An older copy of the database that was put back lacks what was confirmed.
func TestACopyPutBack(t *testing.T) {
	server := start(t)
	if server == nil {
		return
	}
	memory := filepath.Join(t.TempDir(), "primary")
	kept(t, at(server.URL(""), memory))
	server.Crash()
	back := server.Copy()
	server.Start()
	kept(t, at(server.URL(""), memory))
	server.Crash()
	back()
	server.Start()
	_, err := postgres.Open(t.Context(), at(server.URL(""), memory))
	require.ErrorIs(t, err, postgres.ErrBackwards)
	require.ErrorContains(t, err, "what lies between is lost")

	// A crash alone is no older copy.
	require.NoError(t, postgres.Forget(memory))
	for range 5 {
		kept(t, at(server.URL(""), memory))
		server.Crash()
		server.Start()
	}

	other := pgtest.Start(t)
	_, err = postgres.Open(t.Context(), at(other.URL(""), memory))
	require.ErrorIs(t, err, postgres.ErrBackwards)
	require.ErrorContains(t, err, "it is another one")
	require.NoError(t, postgres.Forget(memory))
	_, err = postgres.Remembered(memory)
	require.ErrorIs(t, err, fs.ErrNotExist)
	kept(t, at(other.URL(""), memory))
}

// One process has the memory of a directory.
func TestOneProcessRemembers(t *testing.T) {
	server := start(t)
	if server == nil {
		return
	}
	memory := filepath.Join(t.TempDir(), "primary")
	s, err := postgres.Open(t.Context(), at(server.URL(""), memory))
	require.NoError(t, err)
	_, err = postgres.Open(t.Context(), at(server.URL(""), memory))
	require.ErrorIs(t, err, store.ErrLocked)
	require.NoError(t, s.Close())
	kept(t, at(server.URL(""), memory))
}

// What an operator has to take knowingly.
func TestUnsafeServers(t *testing.T) {
	server := start(t)
	if server == nil {
		return
	}
	opt := at(server.URL(""), "")
	opt.Tolerate = postgres.Tolerated{}
	_, err := postgres.Open(t.Context(), opt)
	require.ErrorIs(t, err, postgres.ErrUnsafe)
	require.ErrorContains(t, err, "fsync")

	opt.Tolerate.NoFsync = true
	kept(t, opt)
	standby := server.Standby("s1")
	require.Eventually(t, func() bool {
		return server.Count("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == 1
	}, time.Minute, 10*time.Millisecond)
	_, err = postgres.Open(t.Context(), opt)
	require.ErrorIs(t, err, postgres.ErrUnsafe)
	require.ErrorContains(t, err, "synchronous_standby_names")
	opt.Tolerate.Async = true
	kept(t, opt)
	opt.Tolerate.Async = false
	server.Set("synchronous_standby_names", "ANY 1 (s1)")
	require.Eventually(t, func() bool {
		return server.Count("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == 1
	}, time.Minute, 10*time.Millisecond)
	kept(t, opt)

	// Commits wait, whatever the account is set to.
	server.Exec("", "ALTER ROLE posagent SET synchronous_commit = off")
	s, err := postgres.Open(t.Context(), opt)
	require.NoError(t, err)
	var commit string
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		return r.QueryRow("SELECT current_setting('synchronous_commit')").Scan(&commit)
	}))
	require.Equal(t, "on", commit)
	require.NoError(t, s.Close())
	standby.Crash()

	for url, refused := range map[string]bool{
		"postgres://posagent@192.0.2.1/x?connect_timeout=1":                     true, // the driver would go on in clear
		"postgres://posagent@192.0.2.1/x?connect_timeout=1&sslmode=disable":     true,
		"postgres://posagent@192.0.2.1/x?connect_timeout=1&sslmode=verify-full": false,
		"postgres://posagent@127.0.0.1:1/x":                                     false,
	} {
		_, err := postgres.Open(t.Context(), at(url, ""))
		require.Error(t, err)
		require.Equal(t, refused, errors.Is(err, postgres.ErrUnsafe), "%s: %v", url, err)
	}
}
