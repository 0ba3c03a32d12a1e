package record

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Figures are what the terminal needs of the box at one moment. A figure that the kernel does not tell is 0.
type Figures struct {
	At         time.Time `json:"at"`
	RSS        int64     `json:"rssBytes"`
	Files      int       `json:"openFiles"`
	Threads    int       `json:"threads"`
	Goroutines int       `json:"goroutines"`
	CPU        int64     `json:"cpuMs"`        // since the start, of all threads
	WAL        int64     `json:"walBytes"`     // the journal's write-ahead log
	Journal    int64     `json:"journalBytes"` // the journal without it
	Free       int64     `json:"freeBytes"`    // on its file system
}

// Self returns the figures of this process, without those of its journal.
func Self(now time.Time) Figures {
	f := Figures{At: now.UTC(), Goroutines: runtime.NumGoroutine()}
	if data, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(line, ":")
			switch n := leading(value); name {
			case "VmRSS":
				f.RSS = n << 10
			case "Threads":
				f.Threads = int(n)
			}
		}
	}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		f.Files = len(list)
	}
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) == nil {
		f.CPU = (used.Utime.Nano() + used.Stime.Nano()) / int64(time.Millisecond)
	}
	return f
}

// leading returns the number that a text of the kernel begins with, 0 where it begins with none.
func leading(text string) int64 {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
