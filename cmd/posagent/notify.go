package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"posagent/agent/ready"
)

// notifyWithin bounds a message to an init system that does not read.
const notifyWithin = 2 * time.Second

// notify sends text to the init system that started the program (sd_notify). It does nothing where NOTIFY_SOCKET names no socket.
func notify(text string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	if err = conn.SetWriteDeadline(time.Now().Add(notifyWithin)); err == nil {
		_, err = conn.Write([]byte(text))
	}
	return errors.Join(err, conn.Close())
}

// notifyState tells the init system that the program is up, and what status --check says now. A terminal that is not ready is up all
// the same: a restart would not bring its cable back.
func notifyState(r ready.Report, log *slog.Logger) {
	if err := notify("READY=1\nSTATUS=" + r.Line()); err != nil {
		log.Warn("the init system is not told", "err", err)
	}
}

const longestWatchdog = 24 * time.Hour

// watchdogTime returns what the init system waits for a sign of life, 24 hours at most; 0 = it does not wait.
func watchdogTime() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 {
		return 0
	}
	return time.Duration(min(usec, longestWatchdog.Microseconds())) * time.Microsecond
}

// feedWatchdog sends a sign of life three times within limit, each after progress has returned nil, until ctx ends. While progress
// waits, none is sent.
func feedWatchdog(ctx context.Context, limit time.Duration, progress func(context.Context) error, log *slog.Logger) error {
	if limit == 0 {
		return nil
	}
	tick := time.NewTicker(limit / 3)
	defer tick.Stop()
	for {
		if progress(ctx) == nil {
			if err := notify("WATCHDOG=1"); err != nil {
				log.Warn("the init system is not told", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
