package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store"
)

// TestMoneyC_AJournalWithoutItsKeyIsKept: with money open and the device key lost, a restore makes no key and replaces nothing. What puts
// the journal aside keeps what was open in it, and only then the backup takes its place.
func TestMoneyC_AJournalWithoutItsKeyIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state, secret, bundle := filepath.Join(dir, "s"), filepath.Join(dir, "k"), filepath.Join(dir, "b")
	require.NoError(t, os.WriteFile(secret, []byte("a key of enough bytes for a test"), 0o600))
	keys, err := openKeys(callOn(t, state))
	require.NoError(t, err)
	db, err := openJournal(t.Context(), callOn(t, state), keys, logger(callOn(t, state)), "")
	require.NoError(t, err)
	verb := func(want int, args ...string) string {
		t.Helper()
		code, out, talk := ask(t, append(args, "--state", state)...)
		require.Equal(t, want, code, "%v: %s%s", args, out, talk)
		return out + talk
	}
	verb(exitOK, "backup", bundle, "--key-file", secret)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(storedPayment)
		return err
	}))
	require.NoError(t, db.Close())
	key := filepath.Join(state, "keys", "device.key")
	require.NoError(t, os.Remove(key))

	for _, force := range []string{"", "older,damaged,other-terminal"} {
		said := verb(exitRefused, "restore", bundle, "--key-file", secret, "--force", force)
		require.Contains(t, said, "1 operation(s) not at their end, and no key opens it")
		require.Contains(t, said, "posagent reset --lost-journal --state "+state+" --reason TEXT")
		require.NoFileExists(t, key)
	}
	verb(exitRefused, "reset", "--yes", "--force", "damaged")
	verb(exitUsage, "reset", "--yes", "--lost-journal")
	require.Contains(t, verb(exitOK, "reset", "--yes", "--lost-journal", "--reason", "the card broke"), "it has 1 operation(s) not at their end, which no terminal goes on with then")
	kept, err := filepath.Glob(filepath.Join(state, "locked-*", "agent.db"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	sales, ops, err := pendingLeft(t.Context(), kept[0])
	require.NoError(t, err)
	require.Equal(t, 1, sales+ops)
	require.NoFileExists(t, filepath.Join(state, "agent.db"))
	verb(exitOK, "restore", bundle, "--key-file", secret)
	require.FileExists(t, key)
}

// A key that only its mode keeps from being used is whole: the journal is not lost, and is not put aside.
func TestAKeyOfAnotherModeIsNotLost(t *testing.T) {
	state := filepath.Join(t.TempDir(), "s")
	keys, err := openKeys(callOn(t, state))
	require.NoError(t, err)
	db, err := openJournal(t.Context(), callOn(t, state), keys, logger(callOn(t, state)), "")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, os.Chmod(filepath.Join(state, "keys", "device.key"), 0o644))
	code, out, talk := ask(t, "reset", "--yes", "--lost-journal", "--reason", "x", "--state", state)
	require.Equal(t, exitRefused, code, out+talk)
	require.Contains(t, talk, "the journal is there and whole")
	require.FileExists(t, filepath.Join(state, "agent.db"))
}
