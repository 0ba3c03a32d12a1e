package store

import (
	"context"
	"database/sql"
)

// Step is one migration: applied once, in the order of the assembled list; the list is append-only.
type Step struct {
	Name string // "outbox/1 operations"
	SQL  string // one or more statements
	// Open says that a program which does not know the step may go on with the journal: it adds what
	// such a program need neither read nor fill in. Any other step shuts older programs out; it is not
	// applied while the program is on trial, and its room works without it until then.
	Open bool
}

// Reader reads rows. A Tx is one too, so that a query function serves both.
type Reader interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
}

// Tx is one caller's part of a commit. It is valid inside the closure only.
type Tx interface {
	Reader
	Exec(query string, args ...any) (sql.Result, error)
	// Number returns the next number of a count that a step declares (NumberTable). Of the closures that
	// are committed no two get the same one, and a closure gets higher ones than those that were
	// committed before it began. Closures that run beside each other do not wait for each other's
	// numbers, and need not commit in their order. A closure that fails or is run again may leave a gap,
	// and so may another server: what a restore has lost is not given again where the engine knows of it.
	// It fails where no step declares the count.
	Number(name string) (int64, error)
}

// Wrapper wraps data keys with a key that never lies in the database (a device or backend key
// file).
type Wrapper interface {
	Wrap(plain []byte) (wrapped []byte, err error)
	Unwrap(wrapped []byte) (plain []byte, err error)
}

// Cell names one sealed value; it is the additional data of its encryption.
type Cell struct{ Table, Key, Column string }

// DB is what the rooms above need of an engine. Every engine keeps it, and storetest holds each to
// it.
type DB interface {
	// Write runs fn in a transaction and returns when its effects are durable on the medium, or
	// with fn's own error and no effect. Writes are serial: fn sees all that was committed before
	// it, and nothing of a write that is not.
	//
	// An engine may run fn more than once; the last run counts. So fn depends on its Tx alone and
	// sets its results anew in each run. fn returns the error of a statement that failed. It must
	// not block, use the network, or start another Write; a panic of fn becomes its error
	// (ErrPanic).
	//
	// ErrFull, ErrIO, ErrReadOnly and ErrBusy are the medium's: nothing was acknowledged, and the
	// same Write may be tried again. After ErrCommitUnknown the effects are there or not: look them
	// up by their key.
	Write(ctx context.Context, fn func(Tx) error) error
	// WriteOwn is Write for a closure that keeps to rows of its own: it need not be serial with closures
	// that touch other rows. fn sees all that was committed before its run, as one snapshot, and what
	// it wrote itself. Of two closures that write one row the second is run again, and sees what the
	// first wrote; so is one whose unique key was taken since its snapshot. An engine may run it as
	// Write.
	//
	// A closure may be given to it where each of its decisions rests on
	//   - rows that this closure writes,
	//   - rows that no closure changes without writing one of the former, or that never change,
	//   - the absence of a row that this closure inserts under a unique key, or
	//   - rows with random keys that it makes itself.
	// A decision on the absence of rows, on a count or a sum, or on a row that it only reads and others
	// change, needs Write: two such closures could each decide on what the other is about to change.
	WriteOwn(ctx context.Context, fn func(Tx) error) error
	// Read runs fn against a consistent snapshot.
	Read(ctx context.Context, fn func(Reader) error) error
	// Seal encrypts plain for one cell under a data key of the row, made at the row's first Seal.
	Seal(tx Tx, at Cell, plain []byte) ([]byte, error)
	// Unseal decrypts; ErrShredded when the row's data key was destroyed, ErrTampered when it does
	// not verify.
	Unseal(r Reader, at Cell, sealed []byte) ([]byte, error)
	// SealOwn is Seal for a row that keeps its data key itself, wrapped, in a column named
	// data_key. own is what is there, nil = none: then one is made. wrapped goes there with the
	// sealed value. It needs no Write, so that it can be done before one.
	SealOwn(own []byte, at Cell, plain []byte) (sealed, wrapped []byte, err error)
	// UnsealOwn decrypts what SealOwn made; ErrShredded where own is nil, as the row's key was
	// cleared; ErrTampered as Unseal.
	UnsealOwn(own []byte, at Cell, sealed []byte) ([]byte, error)
	// Shred destroys the data key of a row: nothing sealed under it can be read again. A key of the
	// row's own is the caller's to clear, with what it sealed; the engine then forgets both soon.
	Shred(tx Tx, table, key string) error
	// MAC authenticates the named fields of a row. Fields are int64, string, []byte, bool or nil.
	MAC(table, key string, fields ...any) []byte
}

// Store is an open engine: what those who opened it, and those who show its state, need beside DB.
type Store interface {
	DB
	// Health reports the present state. It touches no row and is cheap.
	Health(ctx context.Context) Health
	// Reserved reports whether new work may be accepted: the store takes writes, and accepted work
	// can be finished also where space runs out. What the last write met decides. It answers nil,
	// ErrFull, ErrIO, ErrReadOnly, ErrBusy, ErrDamaged, ErrDisplaced or ErrClosed.
	Reserved(ctx context.Context) error
	// Committed is closed by the next commit, once what it wrote can be read. Take it before
	// reading.
	Committed() <-chan struct{}
	// Secret returns the 32 random bytes that name stands for (see the function Secret).
	Secret(ctx context.Context, name, beside string) ([]byte, error)
	// Rewrap wraps every key under to instead of the store's own Wrapper. It can be broken off and
	// done again; until it has ended the store's Wrapper must open both. progress may be nil.
	Rewrap(ctx context.Context, to Wrapper, progress func(done, of int)) error
	// Check looks for damage in the whole store; it takes time in proportion to it. ErrDamaged with
	// what was found.
	Check(ctx context.Context) error
	// Close finishes the writes already handed over, refuses others (ErrClosed), and lets the
	// medium go.
	Close() error
}

// Journal is a Store that lies on one box, alone on its medium. It knows where it ends, so that an
// older copy of it is noticed.
type Journal interface {
	Store
	// End returns the end of the journal as the last commit left it.
	End(ctx context.Context) (End, error)
	// EndIn returns the end in the snapshot of r, the zero End where none is recorded. ErrTampered
	// where it does not verify.
	EndIn(ctx context.Context, r Reader) (End, error)
	// Generation is raised when the journal is restored, accepted after a cut, or begun anew.
	Generation(ctx context.Context) (int64, error)
	// Before returns the end of the journal before the present generation, until Advance.
	Before(ctx context.Context) (Before, error)
	// Past says in a few words why the journal must be taken for one from an earlier time. "" = it
	// goes on from where it ended.
	Past(ctx context.Context) (string, error)
	// Advance forgets what Past and Before tell. Call it once everything that an old journal must
	// not do is prevented.
	Advance(ctx context.Context) error
	// QuickCheck finds damaged pages in a fraction of Check's time. ErrDamaged.
	QuickCheck(ctx context.Context) error
	// Truncate removes what was deleted from the log. It waits for readers until ctx ends and then
	// answers ErrBusy.
	Truncate(ctx context.Context) error
	// ReleaseMemory gives memory back that is taken again as it is needed; deep gives back more.
	ReleaseMemory(ctx context.Context, deep bool) error
	// Commits counts the commits since the journal was opened.
	Commits() int64
}
