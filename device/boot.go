package device

import (
	"bytes"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootID never changes while the program runs.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if s := strings.TrimSpace(string(id)); err == nil && s != "" {
		return s
	}
	return "start-" + rand.Text()
})

// BootID names the current boot of the box; a restart of the program alone does not change it.
func BootID() string { return bootID() }

// Process names a process among all that have had its number: by its start in this boot of the box. "" = it is not there, or not shown.
func Process(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name before it may hold anything
	if len(fields) < 20 {
		return ""
	}
	return BootID() + "/" + fields[19]
}

// BootTime is the time since boot, time spent suspended included. No setting of the wall clock moves it.
func BootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// Kernels before 2.6.39 have the monotonic clock only.
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	}
	return time.Duration(ts.Nano())
}

// sanity bounds of a wall clock, relative to the build of the program.
const (
	clockSlack  = 48 * time.Hour
	clockFuture = 20 * 365 * 24 * time.Hour
)

// ClockSane reports whether now can be the real time for a program built at buildTime: not before the build, and not
// decades after it. An insane clock decides neither expiry nor the validity of a certificate.
func ClockSane(now, buildTime time.Time) bool {
	if buildTime.Unix() <= 0 {
		buildTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return now.After(buildTime.Add(-clockSlack)) && now.Before(buildTime.Add(clockFuture))
}
