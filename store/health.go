package store

import "time"

// State is what the store can do at present.
type State string

// The states of a store.
const (
	Ready  State = "ready"  // writes become durable
	Full   State = "full"   // the last write met a full disk
	Broken State = "broken" // the last write met an I/O error; the store reopens itself and tries again
	Closed State = "closed"
)

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
	Marks       []MarkHealth // none = the store has no mark, or was opened for reading
}

// MarkHealth is one mark as Health shows it.
type MarkHealth struct {
	Path string
	Err  error // why it is not written; nil = it is
}
