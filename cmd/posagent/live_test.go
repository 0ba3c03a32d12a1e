package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/control"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/cross/need"
)

// TestField2_D3TheRunningTerminalIsAsked: whether a terminal is ready it says itself when it is asked. Its report may be an old one, or
// one of an older run, on a disk that takes no writes. One that a signal has stopped, or that does not answer, is not ready.
func TestField2_D3TheRunningTerminalIsAsked(t *testing.T) {
	dir := t.TempDir()
	c := &call{global: global{state: dir}}
	other := exec.CommandContext(t.Context(), "sleep", "1000")
	require.NoError(t, other.Start())
	pid := other.Process.Pid
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })

	_, told := says(c, pid)
	require.False(t, told, "neither a report nor an answer: it is starting")
	old := view.Live{PID: pid, Report: ready.Report{Ready: true}}
	require.NoError(t, writeLive(filepath.Join(dir, liveName), old))
	live, told := says(c, pid)
	require.True(t, told)
	require.True(t, live.Report.Ready, "a terminal of an older version says no more")

	readOnly := ready.Not(ready.Trouble{Cause: ready.ReadOnly, Where: dir}, ready.Place{})
	ctx, cancel := context.WithCancel(t.Context())
	server := control.New(control.Options{Path: controlSocket(c), Ready: func(context.Context) ready.Report { return readOnly }})
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	need.Until(t, "the terminal answers", func() bool { live, told = says(c, pid); return told && !live.Report.Ready })
	require.Equal(t, readOnly, live.Report)
	live, told = says(c, 1)
	require.True(t, told, "the report is of another run")
	require.Equal(t, readOnly, live.Report)
	require.True(t, live.At.IsZero())
	cancel()
	require.NoError(t, need.Receive(t, "the end of the server", ended))

	require.NoError(t, other.Process.Signal(syscall.SIGSTOP))
	need.Until(t, "it is stopped", func() bool { return suspended(pid) })
	live, told = says(c, pid)
	require.True(t, told)
	require.Equal(t, ready.Silent, live.Report.NotReady.Cause)
	require.Contains(t, live.Report.Line(), "does not answer, a signal has stopped it: posagent doctor")
	require.NoError(t, other.Process.Signal(syscall.SIGCONT))
}
