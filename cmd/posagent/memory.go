package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"posagent/store"
)

const (
	smallMemory   = 256 << 20 // bytes of a box on which memory is scarcer than processor time
	smallMemoryGC = 20        // percent
)

// lowerGCPercent lets garbage be collected earlier on a box with little memory, unless GOGC is set.
func lowerGCPercent() {
	if os.Getenv("GOGC") == "" && isSmall(totalMemory()) {
		debug.SetGCPercent(smallMemoryGC)
	}
}

// isSmall says that a box has little memory; 0 = not known.
func isSmall(total uint64) bool { return total > 0 && total <= smallMemory }

func totalMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// restAfter is how long nothing was written before a terminal gives memory back. Go and SQLite both keep what a busy hour needed.
const restAfter = 10 * time.Second

// restAgain is how many times restAfter passes until it does so once more: the journal's log is folded a minute after the last commit.
const restAgain = 10

// restWhenQuiet gives memory back to the system, twice after each busy time, until ctx ends. It never does so while a sale runs: a
// sale writes more often than that.
func restWhenQuiet(ctx context.Context, db store.Journal, log *slog.Logger) {
	tick := time.NewTicker(restAfter)
	defer tick.Stop()
	last, quiet := db.Commits(), restAgain // nothing was busy yet
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := db.Commits()
		if quiet++; now != last {
			last, quiet = now, 0
		}
		if quiet != 1 && quiet != restAgain {
			continue
		}
		if err := db.ReleaseMemory(ctx, quiet == restAgain); err != nil && ctx.Err() == nil {
			log.Warn("memory of the journal not given back", "err", err)
		}
		debug.FreeOSMemory()
	}
}
