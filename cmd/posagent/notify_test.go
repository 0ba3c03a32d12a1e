package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// initSystem listens as an init system does, and returns a way to the next message.
func initSystem(t *testing.T) (next func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "init") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return func() string {
		t.Helper()
		require.NoError(t, conn.SetReadDeadline(need.Deadline()))
		buf := make([]byte, 4096)
		n, _, err := conn.ReadFrom(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
}

// TestAnInitSystemThatReadsNothingStopsNothing: its queue is full, and the terminal goes on.
func TestAnInitSystemThatReadsNothingStopsNothing(t *testing.T) {
	initSystem(t)
	full := make(chan error, 1)
	go func() {
		for {
			if err := notify("WATCHDOG=1"); err != nil {
				full <- err
				return
			}
		}
	}()
	select {
	case err := <-full:
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	case <-time.After(need.Limit()):
		t.Fatal("it waits for the init system")
	}
}

// TestTheInitSystemIsTold: up with the line of status --check, alive again and again, stopping at the end. A terminal whose register
// line is missing is up all the same.
func TestTheInitSystemIsTold(t *testing.T) {
	next := initSystem(t)
	t.Setenv("WATCHDOG_USEC", "300000")
	backend := httptest.NewServer(http.HandlerFunc(served))
	t.Cleanup(backend.Close)
	x := runIn(t, terminalOn(t, backend.URL, "", `serial = "/dev/posagent-none"`))
	up, alive := "", 0
	for alive < 3 || up == "" {
		switch said := next(); {
		case said == "WATCHDOG=1":
			alive++
		case strings.HasPrefix(said, "READY=1\nSTATUS="):
			up = said
		default:
			t.Fatalf("said %q", said)
		}
	}
	require.Regexp(t, `^READY=1\nSTATUS=NOT READY: [^\n]+$`, up)
	require.NoError(t, x.cmd.Process.Signal(syscall.SIGTERM))
	for said := next(); said != "STOPPING=1"; said = next() {
		require.Regexp(t, `^(WATCHDOG=1|READY=1\n)`, said)
	}
	<-x.end
}

// TestNoSignOfLifeWithoutProgress: while nothing progresses, and where it fails, the watchdog is not fed.
func TestNoSignOfLifeWithoutProgress(t *testing.T) {
	next := initSystem(t)
	ctx, cancel := context.WithCancel(t.Context())
	turns, ended := make(chan error), make(chan error, 1)
	go func() {
		ended <- feedWatchdog(ctx, 30*time.Millisecond, func(context.Context) error { return <-turns }, slog.New(slog.DiscardHandler))
	}()
	turns <- errors.New("stands still")
	turns <- errors.New("stands still")
	require.NoError(t, notify("nothing until here"))
	require.Equal(t, "nothing until here", next())
	turns <- nil
	require.Equal(t, "WATCHDOG=1", next())
	cancel()
	close(turns)
	require.NoError(t, <-ended)
}

// TestWatchdogIsFedThreeTimesWithinItsLimit: once at the start, then every third of it.
func TestWatchdogIsFedThreeTimesWithinItsLimit(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		fed := 0
		require.NoError(t, feedWatchdog(ctx, 30*time.Second, func(context.Context) error { fed++; return nil }, slog.New(slog.DiscardHandler)))
		require.Equal(t, 6, fed)
	})
}

// TestTheWatchdogOfAnotherProcessIsNotFed: the variables are inherited.
func TestTheWatchdogOfAnotherProcessIsNotFed(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, tc := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"30000000", own, 30 * time.Second},
		{"30000000", "", 30 * time.Second},
		{"30000000", "1", 0},
		{"", "", 0},
		{"0", "", 0},
		{"-1", "", 0},
		{"ten", "", 0},
		{"172800000000", own, 24 * time.Hour}, // of two days: more often than it asks for is right, too
		{"99999999999999999", "", 24 * time.Hour},
	} {
		t.Setenv("WATCHDOG_USEC", tc.usec)
		t.Setenv("WATCHDOG_PID", tc.pid)
		require.Equal(t, tc.want, watchdogTime(), "%+v", tc)
	}
}
