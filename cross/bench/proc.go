package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// written is how many bytes a process ("self" or its number) has given to write calls, sockets included. What the
// kernel calls write_bytes counts whole folios, and says little.
func written(pid string) int64 { return field("/proc/"+pid+"/io", "wchar") }

// resident is what a process has in memory, and what of it is its own rather than the binary's.
func resident(pid string) (all, anonymous int64) {
	return field("/proc/"+pid+"/status", "VmRSS") << 10, field("/proc/"+pid+"/status", "RssAnon") << 10
}

// field reads the number behind "name:" in a file of /proc; 0 = not there.
func field(path, name string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if key, rest, ok := strings.Cut(line, ":"); ok && key == name {
			if words := strings.Fields(rest); len(words) > 0 {
				n, _ := strconv.ParseInt(words[0], 10, 64)
				return n
			}
		}
	}
	return 0
}

// diskBytes is how many bytes the block device under dir has written so far, for everybody; 0 = not known.
func diskBytes(dir string) int64 {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return 0
	}
	device := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	data, err := os.ReadFile(filepath.Join("/sys/dev/block", device, "stat"))
	if err != nil {
		return 0
	}
	words := strings.Fields(string(data))
	if len(words) < 7 {
		return 0
	}
	sectors, _ := strconv.ParseInt(words[6], 10, 64)
	return sectors * 512
}

// processor is how much processor time a process has used.
func processor(pid string) time.Duration {
	data, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, after, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * (time.Second / 100) // the kernel's unit for user space
}
