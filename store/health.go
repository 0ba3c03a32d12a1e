package store

import (
	"fmt"
	"time"
)

// State is what the store can do at present.
type State string

// The states of a store.
const (
	Ready  State = "ready"  // writes become durable
	Full   State = "full"   // the last write met a full disk
	Broken State = "broken" // the last write met an I/O error; the store reopens itself and tries again
	Busy   State = "busy"   // another program held the write lock for longer than a write waits; the store tries again
	Closed State = "closed"
)

// LongLog is the size of a log at which something keeps it from being folded. Without a long reader it
// is a dozen MiB at most.
const LongLog = 16 << 20

// Health is a snapshot of facts for doctor and the status page.
type Health struct {
	State       State
	Err         error // why State is not Ready
	LastErr     error // the last failure of any write or checkpoint, kept after recovery
	LastErrAt   time.Time
	Path        string
	FileBytes   int64
	WALBytes    int64
	FreeBytes   int64 // for an unprivileged process, on the file system of the database
	Reserved    bool  // the reserve for finishing open work is in place
	ShortBytes  int64 // what has to be freed before new work is accepted, or will be after the next write; 0 = nothing
	Schema      int   // number of applied steps
	Commits     int64 // flushed transactions since Open
	Writes      int64 // closures in them
	CommitEMA   time.Duration
	Conns       int // connections to the server that are in use; MostConns is how many may be. 0 = the engine has none
	MostConns   int
	Synchronous string
	Others      []Process    // besides this one, that keep the writer out, or the log from being folded; looked for where that shows
	Marks       []MarkHealth // none = the store has no mark, or was opened for reading
}

// Process is another program that has the file open.
type Process struct {
	PID  int
	Name string // "" = not known
}

func (p Process) String() string {
	if p.Name == "" {
		return fmt.Sprintf("process %d", p.PID)
	}
	return fmt.Sprintf("process %d (%s)", p.PID, p.Name)
}

// MarkHealth is one mark as Health shows it.
type MarkHealth struct {
	Path string
	Err  error // why it is not written; nil = it is
}
