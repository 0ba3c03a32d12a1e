package store

import (
	"context"
	"database/sql"
)

// Step is one migration: applied once, in the order of the assembled list; the list is append-only.
type Step struct {
	Name string // "outbox/1 operations"
	SQL  string // one or more statements
}

// Reader reads rows. A Tx is one too, so that a query function serves both.
type Reader interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
}

// Tx is one caller's part of a group commit (a savepoint). It is valid inside the closure only.
type Tx interface {
	Reader
	Exec(query string, args ...any) (sql.Result, error)
}

// Wrapper wraps data keys with a key that never lies in the database (a device or backend key file).
type Wrapper interface {
	Wrap(plain []byte) (wrapped []byte, err error)
	Unwrap(wrapped []byte) (plain []byte, err error)
}

// Cell names one sealed value; it is the additional data of its encryption.
type Cell struct{ Table, Key, Column string }

// DB is what the rooms above need of a Store.
type DB interface {
	// Write runs fn in the next group commit, at most once, and returns when its effects are durable on the medium,
	// or with fn's own error and no effect. fn must not block, use the network, or start another Write; a panic of
	// fn becomes its error (ErrPanic). ErrFull, ErrIO, ErrReadOnly and ErrBusy are the medium's: nothing was
	// acknowledged, and the same Write may be tried again.
	Write(ctx context.Context, fn func(Tx) error) error
	// Read runs fn against a consistent snapshot.
	Read(ctx context.Context, fn func(Reader) error) error
	// Seal encrypts plain for one cell under a data key of the row, made at the row's first Seal.
	Seal(tx Tx, at Cell, plain []byte) ([]byte, error)
	// Unseal decrypts; ErrShredded when the row's data key was destroyed, ErrTampered when it does not verify.
	Unseal(r Reader, at Cell, sealed []byte) ([]byte, error)
	// SealOwn is Seal for a row that keeps its data key itself, wrapped, in a column named data_key. own is what is there, nil = none:
	// then one is made. wrapped goes there with the sealed value. It needs no Write, so that it can be done before one.
	SealOwn(own []byte, at Cell, plain []byte) (sealed, wrapped []byte, err error)
	// UnsealOwn decrypts what SealOwn made; ErrShredded where own is nil, as the row's key was cleared; ErrTampered as Unseal.
	UnsealOwn(own []byte, at Cell, sealed []byte) ([]byte, error)
	// Shred destroys the data key of a row: nothing sealed under it can be read again. A key of the row's own is the caller's to clear,
	// with what it sealed; the log then forgets both soon.
	Shred(tx Tx, table, key string) error
	// MAC authenticates the named fields of a row. Fields are int64, string, []byte, bool or nil.
	MAC(table, key string, fields ...any) []byte
}
