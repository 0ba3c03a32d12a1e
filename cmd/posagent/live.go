package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/control"
	"posagent/agent/control/socket"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/device"
	"posagent/device/file"
)

// liveName is the live report's file in the state directory.
const liveName = "live.json"

// writeLive replaces the report. It is not synced: after a power cut the next start writes its own.
func writeLive(path string, v view.Live) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return file.Put(path, 0o600, data)
}

// runningPID says which process is the terminal of this state directory: the one that has the journal, one whose journal was taken away
// from there, or one that waits for an enrolment or a configuration, and has none.
func runningPID(c *call) (pid int, running bool, err error) {
	if pid, running, err = fileOf(c).owner(); running || err != nil {
		return pid, running, err
	}
	if pid, heard := answering(context.Background(), c.stateDir()); heard {
		return pid, true, nil
	}
	f, err := os.OpenFile(waitingFile(c), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return 0, false, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return 0, false, err
	}
	return readLive(c.stateDir()).PID, true, nil
}

// answering is the process that answers at the control socket of a state directory.
func answering(ctx context.Context, dir string) (pid int, heard bool) {
	conn, err := socket.Dial(ctx, filepath.Join(dir, control.Name))
	if err != nil {
		return 0, false
	}
	defer conn.Close()
	peer, err := socket.Peer(conn)
	if err != nil {
		return 0, false
	}
	return int(peer.Pid), true
}

// waitingFile is locked by a terminal that waits.
func waitingFile(c *call) string { return filepath.Join(c.stateDir(), "waiting.lock") }

// lockWaiting says that a terminal waits, until release is called. It fails where another one does.
func lockWaiting(c *call) (release func(), err error) {
	f, err := os.OpenFile(waitingFile(c), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fail(exitFailed, "%v", err)
	}
	for range 5 { // a verb that looks holds it for a moment
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			return func() { _ = f.Close() }, nil
		}
		<-time.After(20 * time.Millisecond)
	}
	_ = f.Close() // the lock's error says more
	return nil, fail(exitRefused, "another terminal waits on %s for an enrolment: %v (posagent status names its process)", c.stateDir(), err)
}

// says is what the running terminal says of itself. Whether it is ready it is asked, where it can be: on a disk that takes no writes its
// report is an old one. One that does not answer is not ready.
func says(c *call, pid int) (live view.Live, told bool) {
	live = readLive(c.stateDir())
	if told = written(live, pid) && (live.Report.Ready || live.Report.NotReady != nil); !told { // an older run has left it
		live = view.Live{PID: pid}
	}
	silent := ready.Trouble{Cause: ready.Silent, Where: strconv.Itoa(pid)}
	if suspended(pid) {
		silent.Detail = "a signal has stopped it"
		live.Report = ready.Not(silent, placeOf(c))
		return live, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), saysWithin)
	defer cancel()
	client := &control.Client{Path: controlSocket(c)}
	now, err := client.Live(ctx)
	if err == nil {
		now.PID = pid // in a container it knows itself by another number
		return now, true
	}
	report, err := client.Ready(ctx)
	switch {
	case err == nil: // of an older version
		live.Report = report
	case ctx.Err() != nil:
		silent.Detail = fmt.Sprintf("it was asked for %v", saysWithin)
		live.Report = ready.Not(silent, placeOf(c))
	default:
		return live, told // it is starting, or is one of an older version
	}
	return live, true
}

// written returns whether a process has written a report. Its number alone proves nothing: in a container it is 1 in every life, and a
// small box gives the same one at each boot.
func written(live view.Live, pid int) bool {
	return live.PID == pid && (live.Process == "" || live.Process == device.Process(pid))
}

// saysWithin is more than a write of the terminal waits for another program's lock.
const saysWithin = 8 * time.Second

// suspended says that a signal, or a debugger, has stopped a process.
func suspended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ") // the name before it may hold anything
	return strings.HasPrefix(state, "T") || strings.HasPrefix(state, "t")
}

// runningOn is what the running terminal says of itself on the configuration with a digest: that it is starting, until it has.
func runningOn(c *call, digest string) (r ready.Report, running bool) {
	pid, running, err := runningPID(c)
	if err != nil || !running {
		return ready.Report{}, false
	}
	live := readLive(c.stateDir())
	if !written(live, pid) || live.Config != digest {
		return ready.Not(ready.Trouble{Cause: ready.Starting}, placeOf(c)), true
	}
	return live.Report, true
}

// maxLive is the longest report that is read.
const maxLive = 1 << 20

// readLive reads the report of a running daemon; the zero value where there is none.
func readLive(dir string) (v view.Live) {
	data, err := readOwn(filepath.Join(dir, liveName), maxLive)
	if err == nil {
		_ = json.Unmarshal(data, &v) // a report that cannot be read says nothing
	}
	return v
}
