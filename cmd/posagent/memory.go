package main

import (
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

const (
	smallMemory = 256 << 20 // bytes of a box on which memory is worth more than the processor's time
	thriftyGC   = 20        // percent
)

// beThrifty lets garbage be collected early on a small box, unless GOGC says how.
func beThrifty() {
	if os.Getenv("GOGC") == "" && thrifty(totalMemory()) {
		debug.SetGCPercent(thriftyGC)
	}
}

// thrifty judges a box by its memory; 0 = not known.
func thrifty(total uint64) bool { return total > 0 && total <= smallMemory }

func totalMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}
