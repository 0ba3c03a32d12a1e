package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/control"
	"posagent/agent/ready"
	"posagent/cross/need"
	"posagent/store"
)

// TestField2_L1NoVerbTouchesARunningTerminals: a technician removes what says that a terminal runs. The kind: the lock alone, the socket
// alone, both, and both with the journal itself. Each verb that needs the terminal stopped (restore, reset, rotate-key, run, accept) takes
// the journal by hold or open, and status, doctor and enroll ask runningPID: all of them still find the terminal, by its lock on the
// database or at its socket, which it makes again.
func TestField2_L1NoVerbTouchesARunningTerminals(t *testing.T) {
	socket, lock := control.Name, "agent.db.lock"
	for name, gone := range map[string][]string{
		"nothing": nil, "the lock": {lock}, "the socket": {socket}, "both": {lock, socket},
		"both and the journal": {lock, socket, "agent.db", "agent.db-wal", "agent.db-shm", "agent.db.mark"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &call{global: &global{state: t.TempDir()}, ctx: t.Context()}
			cmd := run(t, "run", "--state", c.stateDir(), "--config", sandboxConfig(t))
			for _, file := range gone {
				require.NoError(t, os.Remove(filepath.Join(c.stateDir(), file)))
			}
			found := func() bool { pid, running, err := runningPID(c); return err == nil && running && pid == cmd }
			need.Until(t, found, "the running terminal is found")
			_, err := fileOf(c).hold(t.Context())
			require.ErrorIs(t, err, store.ErrLocked)
			_, err = fileOf(c).open(context.Background(), journalOptions{})
			require.ErrorIs(t, err, store.ErrLocked)
			if len(gone) > 2 {
				live, told := says(c, cmd)
				require.True(t, told)
				require.NotNil(t, live.Report.NotReady)
				require.Equal(t, ready.Displaced, live.Report.NotReady.Cause)
			}
		})
	}
}
