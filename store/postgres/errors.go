package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"posagent/store"
)

// codeOf is the SQLSTATE of an error, "" where the server did not give one.
func codeOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

const (
	uniqueViolation = "23505"
	undefinedTable  = "42P01"
	sequenceEnded   = "2200H"
)

// refuses reports whether an error is that of a server, or of an account, that must not be worked with.
func refuses(err error) bool {
	for _, why := range []error{store.ErrLocked, store.ErrReadOnly, ErrUnsafe, ErrBackwards, ErrRights, ErrPooler} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// awayError is a refusal as a caller meets it: to him the server is away. Its text is that of the refusal.
type awayError struct{ error }

// Unwrap makes errors.Is find the refusal, and ErrIO.
func (e awayError) Unwrap() []error { return []error{e.error, store.ErrIO} }

// named is an error of a connection that has met a session of another's: a statement that it has prepared is not there, or one is
// there that it has not prepared. Any other error stays as it is.
func named(err error) error {
	switch codeOf(err) {
	case "42P05", "26000": // duplicate_prepared_statement, invalid_sql_statement_name
		return fmt.Errorf("%w (%s): %w", ErrPooler, mendPooler, err)
	}
	return err
}

// undoneError is an error that came before COMMIT was sent: nothing was done, and a caller may ask again.
type undoneError struct{ error }

// Unwrap makes errors.Is find what it was.
func (e undoneError) Unwrap() error { return e.error }

// NothingDone lets a service answer that nothing was begun.
func (undoneError) NothingDone() bool { return true }

// undone marks an error of a transaction whose COMMIT was not sent, where the server or the way to it is at fault.
func undone(err error) error {
	for _, why := range []error{store.ErrIO, store.ErrReadOnly, store.ErrBusy, store.ErrFull, ErrUnsafe, ErrBackwards, ErrRights, store.ErrLocked} {
		if errors.Is(err, why) && !errors.Is(err, store.ErrCommitUnknown) {
			return undoneError{err}
		}
	}
	return err
}

// conflicts reports whether a transaction met another one, and may be run again.
func conflicts(err error) bool {
	switch codeOf(err) {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	}
	return false
}

// classify adds the sentinel that names what an error means for the caller.
func classify(err error) error {
	var sentinel error
	code := codeOf(err)
	switch {
	case err == nil:
		return nil
	case code == "":
		var connect *pgconn.ConnectError
		if errors.As(err, &connect) {
			sentinel = store.ErrIO
		}
	case code == "53100", code == "53200", code == "53400": // no space, no memory, a configured limit
		sentinel = store.ErrFull
	case code[:2] == "58", code == "XX000", code[:2] == "57" && code != "57014", code[:2] == "08": // the server's machine, its end, the way to it
		sentinel = store.ErrIO
	case code == "42501":
		sentinel = ErrRights
	case code == "25006": // a standby, or one that was set to read only
		sentinel = store.ErrReadOnly
	case code == "XX001", code == "XX002":
		sentinel = store.ErrDamaged
	case code == "40001", code == "40P01", code == "55P03", code == "53300", code == "57014":
		sentinel = store.ErrBusy
	}
	if sentinel == nil || errors.Is(err, sentinel) {
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
