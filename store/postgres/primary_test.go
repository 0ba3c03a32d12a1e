package postgres_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
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

// both names two servers in one URL.
func both(a, b *pgtest.Server) string {
	return "postgres://posagent@/postgres?host=" + a.Host() + "," + b.Host()
}

// A primary that was given up comes back with an older timeline: writes to it would be lost, and it is refused. The one that took over is
// taken without a word.
func TestAPrimaryThatWasGivenUp(t *testing.T) {
	old := pgtest.Start(t)
	old.Set("synchronous_standby_names", "ANY 1 (s1)")
	next := old.Standby("s1")
	memory := filepath.Join(t.TempDir(), "primary")
	kept(t, at(old.URL(""), memory))

	_, err := postgres.Open(t.Context(), at(next.URL(""), memory))
	require.ErrorIs(t, err, store.ErrReadOnly)
	require.ErrorContains(t, err, "standby")

	// A running store finds the one that took over by itself.
	running, err := postgres.Open(t.Context(), at(both(old, next), memory))
	require.NoError(t, err)
	old.Crash()
	next.Promote()
	next.Set("synchronous_standby_names", "")
	need.Until(t, "the server that took over", func() bool {
		return running.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("INSERT INTO tickets (n) VALUES (2)")
			return err
		}) == nil
	})
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

	// Named beside the one that took over, in either order, it is passed over: by one who remembers, and by one who remembers nothing.
	for _, url := range []string{both(old, next), both(next, old)} {
		for _, memory := range []string{memory, filepath.Join(t.TempDir(), "primary")} {
			s, err := postgres.Open(t.Context(), at(url, memory))
			require.NoError(t, err)
			ticket(t, s)
			require.NoError(t, s.Close())
			last, err := postgres.Remembered(memory)
			require.NoError(t, err)
			require.EqualValues(t, 2, last.Timeline)
			for _, last := range []*postgres.Primary{&last, nil} {
				found, err := postgres.Look(t.Context(), at(url, ""), last)
				require.NoError(t, err)
				require.EqualValues(t, 2, found.Timeline)
			}
		}
	}
	require.Equal(t, 1, old.Count("SELECT count(*) FROM tickets"), "nothing was written to it")

	// The right one is away: each of the others is named with what is wrong with it, and the rule is that of the primaries.
	standby := old.Standby("s2")
	next.Crash()
	old.Set("synchronous_standby_names", "ANY 1 (s2)")
	url := "postgres://posagent@/postgres?host=" + next.Host() + "," + standby.Host() + "," + old.Host()
	_, err = postgres.Open(t.Context(), at(url, memory))
	require.ErrorIs(t, err, postgres.ErrBackwards)
	require.NotErrorIs(t, err, store.ErrReadOnly)
	require.ErrorContains(t, err, next.Host()+":5432: failed to connect")
	require.ErrorContains(t, err, standby.Host()+":5432: "+store.ErrReadOnly.Error())
	require.ErrorContains(t, err, old.Host()+":5432: "+postgres.ErrBackwards.Error())
	found, err := postgres.Look(t.Context(), at(url, ""), &last)
	require.ErrorIs(t, err, postgres.ErrBackwards)
	require.EqualValues(t, 1, found.Timeline)
	_, err = postgres.Open(t.Context(), at(both(standby, next), memory))
	require.ErrorIs(t, err, store.ErrIO)
	_, err = postgres.Open(t.Context(), at(both(standby, standby), memory))
	require.ErrorIs(t, err, store.ErrReadOnly)
	standby.Crash() // before the one that it copies
}

// An older copy of the database that was put back lacks what was confirmed.
func TestACopyPutBack(t *testing.T) {
	server := pgtest.Start(t)
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

	// It stays refused when its log has grown beyond what is remembered, by those who remember nothing.
	for range 3 {
		server.Exec("", "SELECT pg_switch_wal()")
		kept(t, at(server.URL(""), ""))
	}
	_, err = postgres.Open(t.Context(), at(server.URL(""), memory))
	require.ErrorIs(t, err, postgres.ErrBackwards)
	require.ErrorContains(t, err, "a copy from before was put back")
	last, err := postgres.Remembered(memory)
	require.NoError(t, err)
	_, err = postgres.Look(t.Context(), at(server.URL(""), ""), &last)
	require.ErrorIs(t, err, postgres.ErrBackwards)
	server.Exec("", "DROP TABLE store_beat") // a copy from before there were any
	_, err = postgres.Open(t.Context(), at(server.URL(""), memory))
	require.ErrorIs(t, err, postgres.ErrBackwards)
	server.Exec("", "CREATE TABLE store_beat (process TEXT PRIMARY KEY, n BIGINT NOT NULL)")

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

// A directory that remembers a server from before beats were counted goes on, and is refused a copy from then on.
func TestAMemoryWithoutBeats(t *testing.T) {
	server := pgtest.Start(t)
	memory := filepath.Join(t.TempDir(), "primary")
	kept(t, at(server.URL(""), memory))
	last, err := postgres.Remembered(memory)
	require.NoError(t, err)
	old := `{"schema": "posagent.primary/1", "system": "` + last.System + `", "timeline": 1, "position": "` + last.Position + `"}`
	require.NoError(t, os.WriteFile(memory, []byte(old), 0o600))
	kept(t, at(server.URL(""), memory))
	again, err := postgres.Remembered(memory)
	require.NoError(t, err)
	require.NotEqual(t, last.Process, again.Process)
	require.Positive(t, again.Beats["postgres/public"])

	// Other tables on the server have no mark of it yet: books that were copied there are taken. The first ones are not forgotten for that.
	server.Exec("", "CREATE SCHEMA moved")
	kept(t, at(server.URL("moved"), memory))
	for _, schema := range []string{"moved", "public"} {
		server.Exec("", "UPDATE "+schema+".store_beat SET n = n - 1")
		_, err = postgres.Open(t.Context(), at(server.URL(schema), memory))
		require.ErrorIs(t, err, postgres.ErrBackwards, schema)
	}

	// An account that may not look for marks lacks a right, and its server is no older copy for that.
	server.Exec("", "CREATE ROLE clerk LOGIN; GRANT USAGE ON SCHEMA moved TO clerk")
	clerk := strings.Replace(server.URL("moved"), "posagent@", "clerk@", 1)
	_, err = postgres.Open(t.Context(), at(clerk, memory))
	require.ErrorIs(t, err, postgres.ErrRights)
	last, err = postgres.Remembered(memory)
	require.NoError(t, err)
	found, err := postgres.ReadSurvey(t.Context(), at(clerk, ""), &last)
	require.NoError(t, err)
	require.NoError(t, errors.Join(found.None, found.Backwards))
	require.Contains(t, found.Lacks, "SELECT on store_beat")
	server.Exec("", "REVOKE USAGE ON SCHEMA moved FROM clerk")
	found, err = postgres.ReadSurvey(t.Context(), at(clerk, ""), &last)
	require.NoError(t, err)
	require.Equal(t, []string{"USAGE on the schema"}, found.Lacks)

	require.NoError(t, os.WriteFile(memory, []byte(`{"schema": "posagent.primary/1", "system": "1", "timeline": 1, "process": "'; DROP TABLE store_beat; --"}`), 0o600))
	_, err = postgres.Open(t.Context(), at(server.URL(""), memory))
	require.ErrorIs(t, err, store.ErrDamaged)
}

// One process has the memory of a directory.
func TestOneProcessRemembers(t *testing.T) {
	server := pgtest.Open(t)
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
	server := pgtest.Start(t)
	opt := at(server.URL(""), "")
	opt.Tolerate = postgres.Tolerated{}
	_, err := postgres.Open(t.Context(), opt)
	require.ErrorIs(t, err, postgres.ErrUnsafe)
	require.ErrorContains(t, err, "fsync")

	opt.Tolerate.NoFsync = true
	kept(t, opt)
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	reader := exec.Command(filepath.Join(pgtest.Programs(), "pg_receivewal"), "-D", dir, "-h", server.Host(), "-U", "posagent")
	require.NoError(t, reader.Start())
	streaming := func() bool {
		return server.Count("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == 1
	}
	need.Until(t, "the receiver to stream", streaming)
	kept(t, opt) // it never takes over
	require.NoError(t, reader.Process.Kill())
	require.Error(t, reader.Wait())
	need.Until(t, "the receiver to be gone", func() bool { return !streaming() })
	standby := server.Standby("s1")
	need.Until(t, "the standby to stream", streaming)
	_, err = postgres.Open(t.Context(), opt)
	require.ErrorIs(t, err, postgres.ErrUnsafe)
	require.ErrorContains(t, err, "synchronous_standby_names")
	opt.Tolerate.Async = true
	kept(t, opt)
	opt.Tolerate.Async = false
	server.Set("synchronous_standby_names", "ANY 1 (s1)")
	need.Until(t, "the standby to count", func() bool {
		return server.Count("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == 1
	})
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

// A server that is made unsafe while it is used gets no more work, not even from sessions that are there already; mended, it does.
func TestAServerThatIsMadeUnsafe(t *testing.T) {
	server := pgtest.Start(t)
	standby := server.Standby("s1")
	server.Set("synchronous_standby_names", "ANY 1 (s1)")
	opt := at(server.URL(""), "")
	opt.Beat = 50 * time.Millisecond
	s, err := postgres.Open(t.Context(), opt)
	require.NoError(t, err)
	ticket(t, s)
	require.NoError(t, s.Reserved(t.Context()))

	server.Set("synchronous_standby_names", "")
	need.Until(t, "the store to be broken", func() bool { return errors.Is(s.Health(t.Context()).Err, postgres.ErrUnsafe) })
	require.Equal(t, store.Broken, s.Health(t.Context()).State)
	require.ErrorIs(t, s.Reserved(t.Context()), postgres.ErrUnsafe)
	err = s.Write(t.Context(), func(store.Tx) error { return nil })
	require.ErrorIs(t, err, postgres.ErrUnsafe)
	require.ErrorIs(t, err, store.ErrIO)
	require.ErrorContains(t, err, "set synchronous_standby_names")
	require.Equal(t, 1, server.Count("SELECT count(*) FROM tickets"))

	server.Set("synchronous_standby_names", "ANY 1 (s1)")
	need.Until(t, "the store to be mended", func() bool { return s.Health(t.Context()).Err == nil })
	ticket(t, s)
	// Commits of sessions that are there wait on, whatever the server is set to meanwhile.
	server.Set("synchronous_commit", "off")
	need.Until(t, "the setting to be read", func() bool {
		return server.Count("SELECT count(*) FROM pg_settings WHERE name = 'synchronous_commit' AND setting = 'off'") == 1
	})
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		var commit string
		require.NoError(t, r.QueryRow("SELECT current_setting('synchronous_commit')").Scan(&commit))
		require.Equal(t, "on", commit)
		return nil
	}))
	require.NoError(t, s.Close())
	standby.Crash()
}

// A store is ready once the server has confirmed something. A commit that changed nothing has asked neither the disk nor the standbys:
// it does not make ready what a commit without an answer has shown to hang.
func TestReadyOnceConfirmed(t *testing.T) {
	server := pgtest.Start(t)
	standby := server.Standby("s1")
	server.Set("synchronous_standby_names", "ANY 1 (s1)")
	need.Until(t, "the standby to count", func() bool {
		return server.Count("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == 1
	})
	opt := at(server.URL(""), "")
	opt.Beat, opt.CommitWithin = -1, time.Second
	empty := func(s store.DB) {
		t.Helper()
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("UPDATE tickets SET n = n + 1 WHERE id < 0")
			return err
		}))
	}
	s, err := postgres.Open(t.Context(), opt)
	require.NoError(t, err)
	require.NoError(t, s.Health(t.Context()).Err)
	standby.Stop()
	err = s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO tickets (n) VALUES (1)")
		return err
	})
	require.ErrorIs(t, err, store.ErrCommitUnknown)
	require.Equal(t, store.Broken, s.Health(t.Context()).State)
	empty(s)
	require.Equal(t, store.Broken, s.Health(t.Context()).State)

	late, err := postgres.Open(t.Context(), opt)
	require.NoError(t, err)
	empty(late)
	require.ErrorContains(t, late.Health(t.Context()).Err, "no commit was confirmed within 1s")
	require.NoError(t, late.Close())

	standby.Continue()
	ticket(t, s)
	require.Equal(t, store.Ready, s.Health(t.Context()).State)
	require.NoError(t, s.Close())
	standby.Crash()
}
