package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// What a Store can answer besides a closure's own error. Decide with errors.Is.
var (
	// ErrLocked: another process (or another Store) owns the file. The error is a *LockedError.
	ErrLocked = errors.New("store: already in use")
	// ErrNewer: the file was written by a newer program. The error is a *NewerError.
	ErrNewer = errors.New("store: schema is newer than this program")
	// ErrTrial: a step of the store itself would shut out the program to which this one, which is on
	// trial, may have to give way.
	ErrTrial = errors.New("store: the journal is older than a program on trial can use")
	// ErrTampered: a sealed value or its data key does not verify.
	ErrTampered = errors.New("store: sealed value does not verify")
	// ErrShredded: the data key of the row was destroyed, or never existed.
	ErrShredded = errors.New("store: data key is destroyed")
	// ErrFull: no space. Nothing was written; a reserve has been released, so a write that finishes
	// something already begun may be tried again at once.
	ErrFull = errors.New("store: no space left")
	// ErrIO: the medium failed. Nothing was acknowledged. Until the store has recovered, an
	// unacknowledged write may still turn up after a power cut; afterwards it never does.
	ErrIO = errors.New("store: input/output error")
	// ErrCommitUnknown: the answer to COMMIT was lost: the effects are there, or not. Answer it as
	// unknown, never as not stored, and look the effects up by their key. An engine that can tell
	// never answers it.
	ErrCommitUnknown error = commitUnknown{}
	// ErrReadOnly: the store was opened read-only, or the medium has become so.
	ErrReadOnly = errors.New("store: read-only")
	// ErrDamaged: the file is not a database, or is malformed.
	ErrDamaged = errors.New("store: file is damaged")
	// ErrBusy: another program holds the file's write lock or an old snapshot for longer than the
	// busy timeout.
	ErrBusy = errors.New("store: busy")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store: closed")
	// ErrPanic: the closure panicked, or ended its goroutine; its effects are rolled back.
	ErrPanic = errors.New("store: closure panicked")
	// ErrCut: the journal ends before what its mark has seen, or is gone. The error is a *CutError.
	ErrCut = errors.New("store: journal cut")
	// ErrDisplaced: another program has removed, replaced or written the files of an open store. The
	// error is a *DisplacedError.
	ErrDisplaced = errors.New("store: the journal is not at its path any more")
	// ErrNotCut: a journal that is whole was to be accepted as a cut one.
	ErrNotCut = errors.New("store: the journal is whole")
	// ErrNoWrapper: a writable store needs a Wrapper.
	ErrNoWrapper = errors.New("store: no key wrapper")
)

// commitUnknown is the type of ErrCommitUnknown.
type commitUnknown struct{}

func (commitUnknown) Error() string { return "store: commit unknown" }

// UnknownOutcome makes it the contracts' answer of that name, which asks for the same Key again.
func (commitUnknown) UnknownOutcome() bool { return true }

// LockedError names the process that owns the file. It matches ErrLocked.
type LockedError struct {
	Path string
	PID  int // 0 when it could not be read
}

func (e *LockedError) Error() string {
	if e.PID == 0 { // it is not known
		return fmt.Sprintf("store: %s is already in use by another process", e.Path)
	}
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

// DisplacedError says what has become of the files of an open store. It matches ErrDisplaced.
type DisplacedError struct {
	Path string
	Why  string
}

func (e *DisplacedError) Error() string { return "store: " + e.Why }

// Is reports whether target is ErrDisplaced.
func (e *DisplacedError) Is(target error) bool { return target == ErrDisplaced }

// Unreadable returns err as ErrDamaged where it says that a stored value is none that its column
// can hold.
func Unreadable(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) || errors.Is(err, ErrDamaged) || !unscannable(err.Error()) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// unscannable reports whether text is that of database/sql for a value that its variable cannot
// hold.
func unscannable(text string) bool {
	return strings.Contains(text, "sql: Scan error on column") && strings.Contains(text, "converting")
}

// OlderError says that a file has an older schema, and that no copy of it could be brought up to
// date for reading.
type OlderError struct {
	Path string
	Lack int // steps it does not have
	Err  error
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("%s has the schema of an earlier program, %d step(s) behind, and no copy could be made to read it: %v", e.Path, e.Lack, e.Err)
}

// Unwrap gives the cause.
func (e *OlderError) Unwrap() error { return e.Err }
