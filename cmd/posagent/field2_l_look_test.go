package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/control"
	"posagent/agent/outbox"
	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/device"
	"posagent/store"
)

// TestField2_L10AnIdleTerminalLooks: nobody sold, the line was dead, and READY was said for up to an hour. The kind is what a terminal
// learns besides its sales: it connects to the backend each minute after a sale and each five minutes else, and hears what the operator's
// service meets on the same network. Either raises a doubt, after which the backend is asked; its answer ends the doubt. In virtual time.
func TestField2_L10AnIdleTerminalLooks(t *testing.T) {
	for name, tc := range map[string]struct {
		writes      time.Duration // between two, 0 = none
		least, most int           // looks in a day
		within      time.Duration // a dead line is seen
	}{
		"idle":  {0, 240, 360, 7 * time.Minute},
		"sales": {5 * time.Minute, 1200, 1800, 80 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				looks, dead, began := 0, atomic.Bool{}, time.Now()
				dial := func(context.Context, string, string) (net.Conn, error) {
					looks++
					if dead.Load() {
						return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}
					}
					one, other := net.Pipe()
					_ = other.Close()
					return one, nil
				}
				schemes, err := upstream.New(upstream.Config{Base: "https://pay.example", Dial: dial})
				require.NoError(t, err)
				f := facts{schemes: schemes, look: newLookout()}
				commits := func() int64 {
					if tc.writes == 0 {
						return 1
					}
					return int64(time.Since(began) / tc.writes)
				}
				ctx, cancel := context.WithCancel(t.Context())
				go func() { _ = f.lookOut(ctx, commits) }()
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				require.GreaterOrEqual(t, looks, tc.least)
				require.LessOrEqual(t, looks, tc.most)
				require.False(t, f.doubt())
				dead.Store(true)
				time.Sleep(tc.within)
				synctest.Wait()
				require.True(t, f.doubt(), "the line is dead")
				cancel()
				synctest.Wait()
			})
		})
	}

	schemes, err := upstream.New(upstream.Config{Base: "https://pay.example"})
	require.NoError(t, err)
	f := facts{schemes: schemes, look: newLookout()}
	f.look.missed(nil)
	f.look.missed(errors.New("a revision that is not signed"))
	require.False(t, f.doubt())
	f.look.missed(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}) // of the operator's service
	require.True(t, f.doubt())
	require.False(t, f.look.since(time.Now()), "the backend has answered since")

	o, now := newLookout(), time.Now()
	due := func(heard time.Time) (looks int) {
		for range 3600 {
			now = now.Add(time.Second)
			if heard := later(heard, now.Add(-10*time.Second)); o.due(now, heard, now.Unix()) {
				looks++
			}
		}
		return looks
	}
	require.Zero(t, due(now), "what a call shows is not looked at")
}

// TestField2_L10AReportIsOfItsProcess: in a container each life has the number 1, and the report of the one before said READY for a
// terminal that was not. A report counts for the process that wrote it alone; one that can be asked is asked.
func TestField2_L10AReportIsOfItsProcess(t *testing.T) {
	dir := t.TempDir()
	c := &call{global: global{state: dir}}
	other := exec.CommandContext(t.Context(), "sleep", "1000")
	require.NoError(t, other.Start())
	pid := other.Process.Pid
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	need.Until(t, "the process is shown", func() bool { return device.Process(pid) != "" })
	require.NotEqual(t, device.Process(os.Getpid()), device.Process(pid))
	for name, tc := range map[string]struct {
		live view.Live
		told bool
	}{
		"its own":                  {view.Live{PID: pid, Process: device.Process(pid)}, true},
		"of another life":          {view.Live{PID: pid, Process: device.BootID() + "/1"}, false},
		"of another boot":          {view.Live{PID: pid, Process: "another" + device.Process(pid)[len(device.BootID()):]}, false},
		"of another number":        {view.Live{PID: 1, Process: device.Process(1)}, false},
		"of an older version":      {view.Live{PID: pid}, true},
		"of one that says no more": {view.Live{}, false},
	} {
		tc.live.Report = ready.Report{Ready: true}
		require.NoError(t, writeLive(filepath.Join(dir, liveName), tc.live))
		live, told := says(c, pid)
		require.Equal(t, tc.told, told, name)
		require.Equal(t, tc.told, live.Report.Ready, name)
	}

	require.NoError(t, os.Remove(filepath.Join(dir, liveName)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	now := view.Live{At: time.Now().UTC().Truncate(time.Second), PID: 1, Lines: []view.RegisterLine{{Name: "tcp", Received: 7}}, Report: ready.Report{Ready: true}}
	server := control.New(control.Options{Path: controlSocket(c), Live: func(context.Context) view.Live { return now }})
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	var live view.Live
	need.Until(t, "the terminal answers", func() bool { told := false; live, told = says(c, pid); return told })
	want := now
	want.PID = pid
	require.Equal(t, want, live, "counters too, which its report does not have")
	cancel()
	require.NoError(t, need.Receive(t, "the end of the server", ended))
}

// TestField2_L13CountersAreAsked: the report was replaced each second in which a counter moved, 86,400 times a day on the flash beside the
// journal. The kind is all that only counts: a line's messages, a keypad's presses, documents that are printed, the backend's last answer.
// What is a condition is written at once, and is in the report.
func TestField2_L13CountersAreAsked(t *testing.T) {
	schemes, err := upstream.New(upstream.Config{Base: nobody})
	require.NoError(t, err)
	path, n := filepath.Join(t.TempDir(), liveName), uint64(0)
	broken := ""
	f := facts{
		schemes: schemes, list: schemes, methods: func() error { return nil }, services: func() []outbox.Service { return nil }, tcp: 1,
		registers: func() []view.RegisterLine { n++; return []view.RegisterLine{{Name: "tcp", Received: n}} },
		printer:   func() *view.Printer { return &view.Printer{Waiting: int(n % 2), Reason: broken} },
		file:      &liveFile{path: path}, look: newLookout(),
	}
	log := slog.New(slog.DiscardHandler)
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	written := func(by func()) bool {
		require.NoError(t, os.Chtimes(path, past, past))
		by()
		info, err := os.Stat(path)
		require.NoError(t, err)
		return !info.ModTime().Equal(past)
	}
	f.write(&ready.Report{Ready: true}, log)
	for range 50 {
		require.False(t, written(func() { f.write(nil, log) }))
	}
	require.Greater(t, f.current().Lines[0].Received, uint64(50))
	require.True(t, f.current().Report.Ready)
	require.Empty(t, readLive(filepath.Dir(path)).Lines)
	for name, changes := range map[string]func(){
		"the judgement":   func() { r := ready.Not(ready.Trouble{Cause: ready.DiskFull}, ready.Place{}); f.write(&r, log) },
		"the printer":     func() { broken = "out of paper"; f.write(nil, log) },
		"a register line": func() { f.listens = []hears{{"192.0.2.1:20007", ready.LineAddress}}; f.write(nil, log) },
	} {
		require.True(t, written(changes), name)
	}
}

// TestField2_L9AMarkThatStandsStillIsNamed: that a mark is not written was said by the page alone, and by no verb. It is a condition of the
// running terminal, which status, doctor, page and port show, with the path and what to type. The kind: each mark of the journal, whatever
// keeps it from being written.
func TestField2_L9AMarkThatStandsStillIsNamed(t *testing.T) {
	schemes, err := upstream.New(upstream.Config{Base: nobody})
	require.NoError(t, err)
	list := []store.MarkHealth{{Path: "/var/lib/posagent/agent.db.mark"}, {Path: "/media/usb/mark"}}
	f := facts{
		schemes: schemes, list: schemes, methods: func() error { return nil }, services: func() []outbox.Service { return nil }, tcp: 1,
		marks: func() []store.MarkHealth { return list }, file: &liveFile{path: filepath.Join(t.TempDir(), liveName)}, place: ready.Place{Config: "/etc/posagent/config.toml"},
	}
	unmarked := func() (words []string) {
		for _, s := range f.current().Troubles {
			if s.Cause == ready.Unmarked {
				words = append(words, s.Words)
				require.Contains(t, s.Remedy, "[store] mark in /etc/posagent/config.toml names it")
			}
		}
		return words
	}
	require.Empty(t, unmarked())
	list[1].Err = fmt.Errorf("mark: %w", &fs.PathError{Op: "open", Path: "/media/usb/mark", Err: syscall.EROFS})
	require.Equal(t, []string{"the mark /media/usb/mark is not written, read-only file system, and an older copy of the journal that is put back may not be noticed"}, unmarked())
	list[0].Err = errors.New("mark /var/lib/posagent/agent.db.mark, input/output error")
	require.Len(t, unmarked(), 2)
}
