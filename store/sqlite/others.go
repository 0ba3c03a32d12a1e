package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"posagent/store"
)

// The bytes of the shared memory file that connections lock (sqlite.org/walformat.html, section 2.3):
// one for the writer, one each for a checkpoint and a recovery, and five for readers.
const (
	firstLockByte = 120
	lastLockByte  = 127
)

// Others returns the processes, this one left out, that hold a lock on the log of the database at
// path: they write, or they read in one long transaction. The kernel's table of locks names them. A
// system that does not show it has none.
func Others(path string) (list []store.Process) {
	var st syscall.Stat_t
	if syscall.Stat(path+"-shm", &st) != nil {
		return nil
	}
	for _, l := range locks("POSIX", st.Ino) {
		at, err := strconv.ParseInt(l.from, 10, 64)
		if err != nil || l.pid == os.Getpid() || at < firstLockByte || at > lastLockByte || slices.ContainsFunc(list, func(p store.Process) bool { return p.PID == l.pid }) {
			continue
		}
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", l.pid)) // none of a process in another namespace
		list = append(list, store.Process{PID: l.pid, Name: strings.TrimSpace(string(name))})
	}
	return list
}

// fileLock is a lock in the kernel's table.
type fileLock struct {
	pid  int
	file string // device and number
	from string // the first byte
}

// locks returns the locks of a kind on the files of a number.
func locks(kind string, inode uint64) (list []fileLock) {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close()
	file := fmt.Sprintf(":%d", inode) // the device is not compared: of some file systems stat and the table name two
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Fields(lines.Text()) // 2: POSIX ADVISORY READ 19144 fe:00:10003026 123 123
		if len(field) != 8 || field[1] != kind || !strings.HasSuffix(field[5], file) {
			continue
		}
		if pid, err := strconv.Atoi(field[4]); err == nil && pid > 0 {
			list = append(list, fileLock{pid, field[5], field[6]})
		}
	}
	return list
}
