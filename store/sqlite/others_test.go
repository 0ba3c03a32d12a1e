package sqlite_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the other program has the driver, and nothing of ours

	"posagent/cross/need"
	"posagent/store"
	"posagent/store/storetest"
)

const (
	holdPath  = "POSAGENT_TEST_HOLD"
	holdBegin = "POSAGENT_TEST_HOLD_BEGIN"
)

// TestChildHolds is another program that has the file in one long transaction; on its own it does nothing.
func TestChildHolds(t *testing.T) {
	path := os.Getenv(holdPath)
	if path == "" {
		return
	}
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), os.Getenv(holdBegin))
	require.NoError(t, err)
	var n int
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT count(*) FROM rows").Scan(&n))
	fmt.Println("holds")
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until it is let go
}

// holds starts another program that begins a transaction on the file, and returns what ends it.
func holds(t *testing.T, path, begin string) (pid int, release func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildHolds$")
	cmd.Env = append(os.Environ(), holdPath+"="+path, holdBegin+"="+begin)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the other program ended")
	require.Equal(t, "holds", lines.Text())
	return cmd.Process.Pid, func() {
		require.NoError(t, in.Close())
		for lines.Scan() {
		}
		require.NoError(t, cmd.Wait())
	}
}

// TestField2_D3AnotherProgramsLockDecides: a store whose write lock another program keeps takes no new work, and says who has it, from
// the first write on that was refused. It takes work again once the lock is free, without a write of its own. A program that only reads
// keeps nobody from writing.
func TestField2_D3AnotherProgramsLockDecides(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	s := storetest.OpenAt(t, path, rowsStep)
	require.NoError(t, s.Write(t.Context(), insert(1, "one")))

	_, release := holds(t, path, "BEGIN")
	require.NoError(t, s.Write(t.Context(), insert(2, "two")))
	require.NoError(t, s.Reserved(t.Context()), "beside a reader")
	release()

	pid, release := holds(t, path, "BEGIN IMMEDIATE")
	require.ErrorIs(t, s.Write(t.Context(), insert(3, "three")), store.ErrBusy)
	require.ErrorIs(t, s.Reserved(t.Context()), store.ErrBusy)
	h := s.Health(t.Context())
	require.Equal(t, store.Busy, h.State)
	require.ErrorIs(t, h.Err, store.ErrBusy)
	require.Len(t, h.Others, 1)
	require.Equal(t, pid, h.Others[0].PID)
	require.Contains(t, h.Others[0].String(), fmt.Sprintf("process %d (", pid))
	release()
	need.Until(t, "it takes work again", func() bool { return s.Reserved(t.Context()) == nil })
	require.NoError(t, s.Write(t.Context(), insert(3, "three")))
	require.Equal(t, []int64{1, 2, 3}, ids(t, s))
}

// TestField2_D8ALongReaderIsNamed: a program that reads in one long transaction keeps the log from being folded. From the size on that no
// terminal reaches by itself the store names it.
func TestField2_D8ALongReaderIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := storetest.OpenAt(t, path, rowsStep)
	pid, release := holds(t, path, "BEGIN")
	defer release()
	large := strings.Repeat("x", 1<<20)
	for i := int64(1); s.Health(t.Context()).WALBytes <= store.LongLog; i++ {
		require.Empty(t, s.Health(t.Context()).Others, "the log is not long yet")
		require.Less(t, i, int64(40), "the log does not grow")
		require.NoError(t, s.Write(t.Context(), insert(i, fmt.Sprint(i, large))))
	}
	h := s.Health(t.Context())
	require.Equal(t, store.Ready, h.State, "no write waits for it")
	require.Len(t, h.Others, 1)
	require.Equal(t, pid, h.Others[0].PID)
}
