package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"posagent/store"
)

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
		sentinel = store.ErrFull
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL:
		sentinel = store.ErrIO
	case sqlite3.SQLITE_READONLY:
		sentinel = store.ErrReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		sentinel = store.ErrDamaged
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		sentinel = store.ErrBusy
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

// fatal reports whether err, met inside a closure, ends the whole batch: SQLite may have rolled it
// back.
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
