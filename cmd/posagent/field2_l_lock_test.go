package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/control"
	"posagent/agent/ready"
	"posagent/cross/need"
	"posagent/store"
	"posagent/store/storetest"
)

// TestField2_L1NoVerbTouchesARunningTerminals: a technician removes what says that a terminal runs. The kind: the lock alone, the socket
// alone, both, and both with the journal itself. Each verb that needs the terminal stopped (restore, reset, rotate-key, run, accept) takes
// the journal by hold or open, and status, doctor and enroll ask runningPID: all of them still find the terminal, by its lock on the
// database or at its socket, which it makes again.
func TestField2_L1NoVerbTouchesARunningTerminals(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(served))
	t.Cleanup(backend.Close)
	socket, lock := control.Name, "agent.db.lock"
	for name, gone := range map[string][]string{
		"nothing": nil, "the lock": {lock}, "the socket": {socket}, "both": {lock, socket},
		"both and the journal": {lock, socket, "agent.db", "agent.db-wal", "agent.db-shm", "agent.db.mark"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := terminalOn(t, backend.URL, "", "")
			x := runIn(t, dir)
			x.until("^ready ")
			c := &call{global: global{state: filepath.Join(dir, "state")}}
			for _, file := range gone {
				require.NoError(t, os.Remove(filepath.Join(c.stateDir(), file)))
			}
			own := x.cmd.Process.Pid
			need.Until(t, "the running terminal is found", func() bool {
				pid, running, err := runningPID(c)
				return err == nil && running && pid == own
			})
			_, err := fileOf(c).hold(t.Context())
			require.ErrorIs(t, err, store.ErrLocked)
			_, err = fileOf(c).open(context.Background(), journalOptions{Wrapper: storetest.Wrapper{}})
			require.ErrorIs(t, err, store.ErrLocked)
			if slices.Contains(gone, lock) {
				x.until("^not ready: .*the journal is not in .* any more")
				live, told := says(c, own)
				require.True(t, told)
				require.Equal(t, ready.Displaced, live.Report.NotReady.Cause)
			}
		})
	}
}
