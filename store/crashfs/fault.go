package crashfs

import (
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// Op is a kind of entry of the record.
type Op string

// The operations that can be made to fail, and counted.
const (
	Write Op = "write"
	Sync  Op = "sync"
	Open  Op = "open" // never of the record

	truncate Op = "truncate"
	create   Op = "create"
	remove   Op = "remove"
	dropped  Op = "dropped"
	ack      Op = "ack"
)

// Errno is how an operation fails.
type Errno int

// The failures of a disk.
const (
	OK Errno = iota
	ENOSPC
	EIO
	EROFS
)

// writeCode is what SQLite's own VFS answers for the errno.
func (e Errno) writeCode() int32 {
	if e == ENOSPC {
		return sqlite3.SQLITE_FULL
	}
	return sqlite3.SQLITE_IOERR_WRITE
}

func (e Errno) String() string { return [...]string{"ok", "ENOSPC", "EIO", "EROFS"}[e] }

// Fault makes operations fail: the N-th one counted from arming (1 is the next), and Times-1 more after it.
type Fault struct {
	On    Op
	N     int
	Err   Errno
	Times int    // 0 = 1, < 0 = until disarmed
	File  string // only files whose name ends so, "" = all

	seen int
}

// Arm sets the fault, in place of an earlier one.
func (r *Recorder) Arm(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	r.fault = &f
}

// Disarm ends the fault and reports whether it ever struck.
func (r *Recorder) Disarm() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	struck := r.fault != nil && r.fault.seen >= r.fault.N
	r.fault = nil
	return struck
}

// Count is the number of operations of a kind since New, those that failed included.
func (r *Recorder) Count(op Op) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[op]
}

func (r *Recorder) due(op Op, name string) Errno {
	r.done[op]++
	f := r.fault
	if f == nil || f.On != op || !strings.HasSuffix(name, f.File) {
		return OK
	}
	f.seen++
	if f.seen < f.N || f.Times > 0 && f.seen >= f.N+f.Times {
		return OK
	}
	return f.Err
}
