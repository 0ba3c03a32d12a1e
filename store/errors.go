package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What a Store can answer besides a closure's own error. Decide with errors.Is.
var (
	// ErrLocked: another process (or another Store) owns the file. The error is a *LockedError.
	ErrLocked = errors.New("store: already in use")
	// ErrNewer: the file was written by a newer program. The error is a *NewerError.
	ErrNewer = errors.New("store: schema is newer than this program")
	// ErrTampered: a sealed value or its data key does not verify.
	ErrTampered = errors.New("store: sealed value does not verify")
	// ErrShredded: the data key of the row was destroyed, or never existed.
	ErrShredded = errors.New("store: data key is destroyed")
	// ErrFull: no space. Nothing was written; a reserve has been released, so a write that finishes something
	// already begun may be tried again at once.
	ErrFull = errors.New("store: no space left")
	// ErrIO: the medium failed. Nothing was acknowledged. Until the store has recovered, an unacknowledged
	// write may still turn up after a power cut; afterwards it never does.
	ErrIO = errors.New("store: input/output error")
	// ErrReadOnly: the store was opened read-only, or the medium has become so.
	ErrReadOnly = errors.New("store: read-only")
	// ErrDamaged: the file is not a database, or is malformed.
	ErrDamaged = errors.New("store: file is damaged")
	// ErrBusy: another program holds the file's write lock or an old snapshot for longer than the busy timeout.
	ErrBusy = errors.New("store: busy")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store: closed")
	// ErrPanic: the closure panicked, or ended its goroutine; its effects are rolled back.
	ErrPanic = errors.New("store: closure panicked")
	// ErrCut: the journal ends before what its mark has seen, or is gone. The error is a *CutError.
	ErrCut = errors.New("store: journal cut")
	// ErrNotCut: Options.Accept was given for a journal that is whole.
	ErrNotCut = errors.New("store: the journal is whole")
	// ErrNoWrapper: a writable store needs Options.Wrapper.
	ErrNoWrapper = errors.New("store: no key wrapper")
)

// LockedError names the process that owns the file. It matches ErrLocked.
type LockedError struct {
	Path string
	PID  int // 0 when it could not be read
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("store: %s is already in use by process %d", e.Path, e.PID)
}

// Is reports whether target is ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// NewerError names both versions. It matches ErrNewer.
type NewerError struct {
	Name  string // a step this program does not know, "" when only the number is higher
	File  int    // schema version of the file
	Known int    // schema version of this program
}

func (e *NewerError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("store: file has schema version %d, this program knows %d", e.File, e.Known)
	}
	return fmt.Sprintf("store: file has schema version %d with step %q, this program knows %d", e.File, e.Name, e.Known)
}

// Is reports whether target is ErrNewer.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// CutError says what is missing. It matches ErrCut.
type CutError struct {
	Path    string
	Why     string
	Missing bool // there is no journal at all
	Before  End  // what the mark has seen; zero = not known
}

func (e *CutError) Error() string { return "journal cut: " + e.Why }

// Is reports whether target is ErrCut.
func (e *CutError) Is(target error) bool { return target == ErrCut }

// Unreadable returns err as ErrDamaged where it says that a stored value is none that its column can hold.
func Unreadable(err error) error {
	if err == nil || code(err) != 0 || errors.Is(err, sql.ErrNoRows) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "converting") {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// IsUnique reports whether err is a violation of a UNIQUE or PRIMARY KEY constraint.
func IsUnique(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CONSTRAINT_UNIQUE || c == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

// code is the extended SQLite result code of err, 0 when it has none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// classify adds the sentinel that names what err means for the caller.
func classify(err error) error {
	var sentinel error
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		sentinel = ErrFull
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL:
		sentinel = ErrIO
	case sqlite3.SQLITE_READONLY:
		sentinel = ErrReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		sentinel = ErrDamaged
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		sentinel = ErrBusy
	default:
		return err
	}
	if errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// breaks reports whether err means that the connection must not be trusted any more.
func breaks(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT,
		sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_MISUSE:
		return true
	}
	return false
}

// fatal reports whether err, met inside a closure, ends the whole batch: SQLite may have rolled it back.
func fatal(err error) bool {
	c := code(err) & 0xff
	return breaks(err) && c != sqlite3.SQLITE_MISUSE || c == sqlite3.SQLITE_FULL || c == sqlite3.SQLITE_INTERRUPT
}

func notNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
