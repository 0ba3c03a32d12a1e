package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/store"
	"posagent/store/sqlite"
	"posagent/store/storetest"
)

func open(path string, steps ...store.Step) (*sqlite.Store, error) {
	return sqlite.Open(context.Background(), sqlite.Options{Path: path, Steps: steps, Wrapper: storetest.Wrapper{}, Ballast: -1})
}

func TestSecondOwnerIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := storetest.OpenAt(t, path, rowsStep)
	_, err := open(path, rowsStep)
	require.ErrorIs(t, err, store.ErrLocked)
	var locked *store.LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.PID)
	require.ErrorContains(t, err, fmt.Sprint(os.Getpid()))

	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	r, err := sqlite.OpenReader(t.Context(), path)
	require.NoError(t, err, "reading beside the owner")
	require.Equal(t, []int64{1}, ids(t, r))
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
	require.Equal(t, []int64{1, 2}, ids(t, r))
	require.ErrorIs(t, r.Write(t.Context(), insert(3, "three")), store.ErrReadOnly)
	require.ErrorIs(t, r.Reserved(t.Context()), store.ErrReadOnly)
	require.ErrorIs(t, r.Truncate(t.Context()), store.ErrReadOnly)
	require.NotEqual(t, s.MAC("t", "k"), r.MAC("t", "k"), "nothing verifies without the key")
	require.NoError(t, r.Close())
	require.NoError(t, s.Write(t.Context(), insert(3, "three")))
	require.NoError(t, s.Close())

	s, err = open(path, rowsStep)
	require.NoError(t, err, "the lock went with its owner")
	keyed, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, ReadOnly: true, Wrapper: storetest.Wrapper{}})
	require.NoError(t, err)
	require.Equal(t, s.MAC("t", "k"), keyed.MAC("t", "k"))
	require.NoError(t, keyed.Close())
	require.NoError(t, s.Close())
	r, err = sqlite.OpenReader(t.Context(), path)
	require.NoError(t, err, "reading with no owner")
	require.Equal(t, []int64{1, 2, 3}, ids(t, r))
	require.NoError(t, r.Close())
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "a.db")})
	require.ErrorIs(t, err, store.ErrNoWrapper)
	_, err = sqlite.OpenReader(t.Context(), filepath.Join(dir, "none.db"))
	require.ErrorIs(t, err, os.ErrNotExist)

	garbage := filepath.Join(dir, "garbage.db")
	require.NoError(t, os.WriteFile(garbage, []byte(strings.Repeat("PRINT TOTAL 12.50\n", 200)), 0o600))
	_, err = open(garbage)
	require.ErrorIs(t, err, store.ErrDamaged)

	_, err = open(filepath.Join(dir, "loose.db"), store.Step{Name: "x/1", SQL: "CREATE TABLE loose (a)"})
	require.ErrorContains(t, err, "not STRICT: loose")
	_, err = open(filepath.Join(dir, "twice.db"), rowsStep, rowsStep)
	require.ErrorContains(t, err, "used twice")
	_, err = open(filepath.Join(dir, "deferred.db"), store.Step{Name: "x/1", SQL: "CREATE TABLE a (b INTEGER REFERENCES c DEFERRABLE INITIALLY DEFERRED) STRICT"})
	require.ErrorContains(t, err, "deferred")

	private := filepath.Join(dir, "deep", "er", "a.db")
	s := storetest.OpenAt(t, private, rowsStep)
	for _, name := range []string{private, private + "-wal", private + "-shm", private + ".lock"} {
		fi, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), fi.Mode().Perm(), name)
	}
	require.NoError(t, s.Close())
}

// A newer program that may be taken back leaves a journal with which the one before it goes on: it
// applies open steps only, and each later one waits behind the first that is not.
func TestTrial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	note := store.Step{Name: "test/2 note", SQL: "ALTER TABLE rows ADD COLUMN note TEXT", Open: true}
	split := store.Step{Name: "test/3 split", SQL: "CREATE TABLE halves (a INTEGER) STRICT"}
	index := store.Step{Name: "test/4 index", SQL: "CREATE INDEX halves_a ON halves (a)", Open: true}
	require.NoError(t, storetest.OpenAt(t, path, rowsStep).Close())

	trial := sqlite.Options{Path: path, Steps: []store.Step{rowsStep, note, split, index}, Wrapper: storetest.Wrapper{}, Ballast: -1, Trial: true}
	for range 2 { // a second start finds what the first has left
		s, err := sqlite.Open(t.Context(), trial)
		require.NoError(t, err)
		require.Equal(t, 4, s.Health(t.Context()).Schema)
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("UPDATE rows SET note = 'seen'")
			return err
		}))
		require.NoError(t, s.Close())
	}

	old := storetest.OpenAt(t, path, rowsStep)
	require.NoError(t, old.Write(t.Context(), insert(7, "by the program before")))
	require.NoError(t, old.Close())
	r, err := sqlite.OpenReaderOf(t.Context(), sqlite.Options{Path: path, Steps: []store.Step{rowsStep}, Wrapper: storetest.Wrapper{}})
	require.NoError(t, err)
	require.NoError(t, r.Close())

	trial.Trial = false // confirmed
	s, err := sqlite.Open(t.Context(), trial)
	require.NoError(t, err)
	require.Equal(t, 6, s.Health(t.Context()).Schema)
	require.NoError(t, s.Close())
	_, err = open(path, rowsStep)
	require.ErrorIs(t, err, store.ErrNewer)
	_, err = sqlite.OpenReaderOf(t.Context(), sqlite.Options{Path: path, Steps: []store.Step{rowsStep}, Wrapper: storetest.Wrapper{}})
	require.ErrorIs(t, err, store.ErrNewer)

	// A new journal has no program before it.
	trial.Path, trial.Trial = filepath.Join(t.TempDir(), "new.db"), true
	s, err = sqlite.Open(t.Context(), trial)
	require.NoError(t, err)
	require.Equal(t, 6, s.Health(t.Context()).Schema)
	require.NoError(t, s.Close())
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	extra := store.Step{Name: "test/2 more", SQL: "CREATE TABLE more (a INTEGER) STRICT"}
	require.NoError(t, storetest.OpenAt(t, path, rowsStep, extra).Close())
	_, err := open(path, rowsStep)
	require.ErrorIs(t, err, store.ErrNewer)
	var newer *store.NewerError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, store.NewerError{Name: extra.Name, File: 4, Known: 3}, *newer)

	// Rooms join their lists in some order; a step that is new to one of them still finds its
	// place.
	third := store.Step{Name: "other/1", SQL: "CREATE TABLE other (a INTEGER) STRICT"}
	s := storetest.OpenAt(t, path, third, rowsStep, extra)
	require.Equal(t, 5, s.Health(t.Context()).Schema)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))
	require.NoError(t, s.Close())
}

func TestFailingStepLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	_, err := open(path, rowsStep, store.Step{Name: "test/2", SQL: "CREATE TABLE half (a INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"})
	require.ErrorContains(t, err, "test/2")
	s := storetest.OpenAt(t, path, rowsStep, store.Step{Name: "test/2", SQL: "CREATE TABLE half (a INTEGER) STRICT"})
	require.Equal(t, 4, s.Health(t.Context()).Schema)
	require.NoError(t, s.Close())
}

func manySteps() []store.Step {
	steps := []store.Step{{Name: "kill/0", SQL: "CREATE TABLE done (n INTEGER NOT NULL) STRICT"}}
	for i := 1; i <= 150; i++ {
		steps = append(steps, store.Step{
			Name: fmt.Sprintf("kill/%d", i),
			SQL:  fmt.Sprintf("CREATE TABLE t%d (a INTEGER) STRICT; INSERT INTO done VALUES (%d); INSERT INTO t%d VALUES (1)", i, i, i),
		})
	}
	return steps
}

const childPath = "POSAGENT_TEST_MIGRATE"

// TestChildMigrates is the process that TestKilledMigration kills; on its own it does nothing.
func TestChildMigrates(t *testing.T) {
	path := os.Getenv(childPath)
	if path == "" {
		return
	}
	fmt.Println("migrating")
	s, err := open(path, manySteps()...)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	fmt.Println("migrated")
}

func TestKilledMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	kills := 0
	for finished := false; !finished; {
		finished = migrateInChild(t, path, time.Duration(1+kills)*3*time.Millisecond)
		if !finished {
			kills++
		}
	}
	t.Logf("killed %d times", kills)
	require.Positive(t, kills)
	s := storetest.OpenAt(t, path, manySteps()...)
	require.NoError(t, s.Check(t.Context()))
	require.NoError(t, s.Read(t.Context(), func(r store.Reader) error {
		var rows, distinct, tables int
		require.NoError(t, r.QueryRow("SELECT count(*), count(DISTINCT n) FROM done").Scan(&rows, &distinct))
		require.NoError(t, r.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name GLOB 't[0-9]*'").Scan(&tables))
		require.Equal(t, []int{150, 150, 150}, []int{rows, distinct, tables})
		return nil
	}))
	require.NoError(t, s.Close())
}

// migrateInChild starts the migration in a process of its own and kills it after a while.
func migrateInChild(t *testing.T, path string, after time.Duration) (finished bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildMigrates$")
	cmd.Env = append(os.Environ(), childPath+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch lines.Text() {
		case "migrating":
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		case "migrated":
			finished = true
		}
	}
	_ = cmd.Wait()
	return finished
}

func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	_, running, err := sqlite.Owner(path)
	require.NoError(t, err)
	require.False(t, running)
	s := storetest.OpenAt(t, path, rowsStep)
	pid, running, err := sqlite.Owner(path)
	require.NoError(t, err)
	require.True(t, running)
	require.Equal(t, os.Getpid(), pid)
	require.NoError(t, s.Close())
	_, running, err = sqlite.Owner(path)
	require.NoError(t, err)
	require.False(t, running)
}

func TestLookingForTheOwnerDoesNotStopOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	require.NoError(t, storetest.OpenAt(t, path, rowsStep).Close())
	lock, err := os.Open(path + ".lock")
	require.NoError(t, err)
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_SH))
	time.AfterFunc(10*time.Millisecond, func() { _ = lock.Close() })
	require.NoError(t, storetest.OpenAt(t, path, rowsStep).Close())
}
