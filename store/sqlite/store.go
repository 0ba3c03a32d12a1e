package sqlite

import (
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"posagent/store"
	"posagent/store/marks"
)

// Options say which file to open and how.
type Options struct {
	Path string // the database file; its directory is made (0700) when it is missing
	// Steps are the migrations of all rooms. A step is known by its name: lists of rooms may be
	// joined in any order as long as every room only appends to its own.
	Steps []store.Step
	// Trial says that the program may still be taken back: of a file that has steps, those from the
	// first one on that is not open wait.
	Trial    bool
	Wrapper  store.Wrapper // required unless ReadOnly
	Log      *slog.Logger
	VFS      string // a registered SQLite VFS, "" = the system's; tests only
	ReadOnly bool   // no lock, no migration, every Write is refused; works beside a running owner
	// Synchronous is FULL when empty. Anything less loses acknowledged writes: tests only.
	Synchronous string
	// Wrote is told of each Write that has ended: how long its caller waited, how often its closure ran, and its error. nil = nothing is.
	Wrote   func(took time.Duration, runs int, err error)
	Readers int   // connections for Read, 0 = 3
	Ballast int64 // bytes of the reserve beside the file, for finishing what was begun, 0 = 256 KiB, < 0 = none
	// CheckpointEvery is the least time between two foldings of the log into the file, 0 = 50 ms;
	// CheckpointWrites is how many Writes are worth one, 0 = 384. Fewer wait for more, 1200 times as
	// long at most.
	CheckpointEvery  time.Duration
	CheckpointWrites int64
	// AtCommit runs once in each batch of Writes that has something to commit: on the batch's
	// transaction, after all callers' savepoints were released, right before COMMIT. What it writes
	// is committed with the batch. It returns the head of the audit chain as of this commit. Its
	// error, or panic, rolls the batch back and is every caller's answer. It must not block, must
	// take nothing from memory that a rolled back closure may have left there, and may run again
	// over the same rows after a COMMIT that failed. nil = none. Steps, recoveries and the store's
	// own commits do not run it.
	AtCommit func(store.Tx) (head [32]byte, err error)
	// Note runs after AtCommit and returns what the journal's end and its marks carry for the
	// owner: the highest numbers in use. last is what it returned before. nil = the last one stays.
	Note func(r store.Reader, last [32]byte) ([32]byte, error)
	// Marks are the files that remember where the journal ends; the first lies beside it
	// (MarkPath), the others on other media. Where one of them has seen more than the journal
	// holds, Open answers *CutError. None = ends are not compared; with ReadOnly the one beside the
	// journal is compared all the same.
	Marks []string
	// Outlived is a file that only a journal at Path makes, and that outlives it: where it lies there,
	// and neither the journal nor a mark of it does, Open answers *CutError. "" = there is none.
	Outlived string
	// Box is what this box is known by. A journal that was last written on another one answers
	// *CutError. It is kept and compared only where there are Marks, or with ReadOnly; nil = neither.
	Box marks.Box
	// Accept, a reason, opens a cut journal as it is and begins its next generation: Before tells
	// the owner what is missing. ErrNotCut where the journal is whole.
	Accept string
	// IgnoreMark reads a journal that is cut, for what is left in it. With ReadOnly only.
	IgnoreMark bool
	// OpenMark opens a mark, and makes it where create says so; nil = a file of the system. Tests
	// only.
	OpenMark func(path string, create bool) (store.MarkFile, error)
}

const (
	defaultReaders = 3
	defaultBallast = 256 << 10
	queueLength    = 256
)

// Store is one open database file.
type Store struct {
	opt  Options
	set  settings
	log  *slog.Logger
	lock *os.File
	own  *os.File // the journal, locked: the lock file may be removed
	mac  []byte   // key of the row MACs

	*store.Keyring

	queue   chan *request
	ctl     chan func()
	dirty   chan struct{}
	news    news
	closing chan struct{}
	stopped chan struct{} // the writer has ended
	idle    chan struct{} // the checkpointer has ended
	readers chan *link    // nil elements are connections not opened yet
	close1  func() error

	// Owned by the writer goroutine.
	w     *link
	want  int          // callers expected in the next batch
	end   store.End    // as the last commit left it
	flags int64        // of the endRow
	box   marks.Box    // to be kept with the next record; nil = what is kept stays
	marks *marks.Files // nil = none

	foldMu sync.Mutex // held while one log is folded; locked on the writer goroutine
	kept   *link      // in a log that the marks may still name; guarded by foldMu

	// Owned by the checkpointer goroutine.
	ckpt   *link
	folded int64 // writes at the last checkpoint

	reserve *reserve
	place   *place
	schema  int

	commits atomic.Int64
	writes  atomic.Int64
	latency atomic.Int64 // EMA of COMMIT, nanoseconds
	shred   atomic.Bool  // a data key was deleted since the last truncation

	mu      sync.Mutex
	state   store.State
	lastErr error
	lastAt  time.Time
}

var _ store.Journal = (*Store)(nil)
