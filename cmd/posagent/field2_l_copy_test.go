package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_L13ADeadCopyIsCleared: a backup that was killed left a copy as large as the journal, which no start and no doctor removed or
// named. The kind is each file that a verb makes beside the journal, of a backup and of a restore. A start and doctor --fix remove them,
// and never those of a verb that is at work. What has no room is refused with both figures before anything is written.
func TestField2_L13ADeadCopyIsCleared(t *testing.T) {
	dir := t.TempDir()
	c := &call{global: global{state: dir}, std: std{err: io.Discard}, ctx: t.Context()}
	var names []string
	for _, verb := range []string{".copy", ".restore"} {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			names = append(names, agentDB(c)+verb+suffix)
		}
	}
	leave := func() {
		for _, name := range names {
			require.NoError(t, os.WriteFile(name, make([]byte, 1000), 0o600))
		}
	}
	kept := func() (n int) {
		for _, name := range names {
			if _, err := os.Lstat(name); err == nil {
				n++
			}
		}
		return n
	}
	journal := agentDB(c)
	require.NoError(t, os.WriteFile(journal, []byte("journal"), 0o600))
	leave()
	release, err := oneAtATime(c)
	require.NoError(t, err)
	bytes, err := clearDead(c)
	require.NoError(t, err)
	require.Zero(t, bytes, "a verb is at work")
	require.Equal(t, len(names), kept())
	_, err = oneAtATime(c)
	require.ErrorIs(t, err, errUnderWay)
	release()
	bytes, err = clearDead(c)
	require.NoError(t, err)
	require.Equal(t, int64(1000*len(names)), bytes)
	require.Zero(t, kept())
	leave()
	fixSafe(c)
	require.Zero(t, kept())
	data, err := os.ReadFile(journal)
	require.NoError(t, err)
	require.Equal(t, "journal", string(data))
	bytes, err = clearDead(c)
	require.NoError(t, err)
	require.Zero(t, bytes)
	require.NoFileExists(t, filepath.Join(dir, "agent.db.verb.lock"), "nothing is made where nothing is left")

	require.NoError(t, spaceFor(filepath.Join(dir, "shop.bundle"), 1))
	err = spaceFor(filepath.Join(dir, "shop.bundle"), 1<<60)
	require.ErrorContains(t, err, "shop.bundle needs 1125899906842625 KiB, and ")
	require.ErrorContains(t, err, " KiB are free in "+dir)
}
