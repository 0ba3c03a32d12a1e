package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"posagent/device/file"
)

// MetaSecrets begins the names of the secrets in store_meta. Their values are wrapped.
const MetaSecrets = "secret:"

// metaMade begins the names in store_meta that say that a secret was made in this database, and comes
// of no older one.
const metaMade = "made:"

// SecretKnown forgets that the secrets of this database were made in it, in the caller's commit: it is
// a copy of the one that they were made in.
func SecretKnown(tx Tx) error {
	if _, err := tx.Exec("DELETE FROM store_meta WHERE name LIKE ?", metaMade+"%"); err != nil {
		return fmt.Errorf("age of the secrets: %w", err)
	}
	return nil
}

// SecretMade reports whether a secret of this database was made in it: what an older database made of
// the one that it had is not known again.
func SecretMade(r Reader) (made bool, err error) {
	err = r.QueryRow("SELECT COUNT(*) > 0 FROM store_meta WHERE name LIKE ?", metaMade+"%").Scan(&made)
	if err != nil {
		return false, fmt.Errorf("age of the secrets: %w", err)
	}
	return made, nil
}

// secretBytes is the length of a secret.
const secretBytes = 32

// Secret returns the 32 random bytes that name stands for. They are kept twice, wrapped: in the
// database, whose copies and bundles carry them, and in the file beside, which outlives the
// database. The database's are the ones that count. It makes them where neither has them, and
// brings the file up to date, or warns. It fails when the database cannot be read, or not written
// where it has to be.
func Secret(ctx context.Context, db DB, w Wrapper, log *slog.Logger, name, beside string) ([]byte, error) {
	if w == nil {
		return nil, ErrNoWrapper
	}
	saved, err := readSecret(w, beside)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	var secret []byte
	inside := func(r Reader) error {
		var wrapped []byte
		if err := r.QueryRow("SELECT value FROM store_meta WHERE name = ?", MetaSecrets+name).Scan(&wrapped); err != nil {
			return err
		}
		secret, err = unwrap(w, wrapped)
		return err
	}
	err = db.Read(ctx, inside)
	if errors.Is(err, sql.ErrNoRows) { // the rest costs no write: a full disk keeps no terminal from starting
		fresh := saved
		if fresh == nil {
			fresh = make([]byte, secretBytes)
			rand.Read(fresh)
		}
		err = db.Write(ctx, func(tx Tx) error {
			wrapped, err := w.Wrap(fresh)
			if err != nil {
				return err
			}
			if saved == nil {
				_, err = tx.Exec(PutMeta, metaMade+name, []byte("1"))
			}
			if err == nil {
				_, err = tx.Exec("INSERT INTO store_meta (name, value) VALUES (?, ?)", MetaSecrets+name, wrapped)
			}
			return err
		})
		secret = fresh
	}
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	if string(saved) != string(secret) {
		if err := KeepSecret(beside, w, secret); err != nil {
			log.Warn("secret not kept beside the key", "name", name, "err", err)
		}
	}
	return secret, nil
}

// MACKey returns the key of the row MACs, and makes it where the store is new.
func MACKey(tx Tx, w Wrapper) (key []byte, err error) {
	key, err = ReadMACKey(tx, w)
	if errors.Is(err, sql.ErrNoRows) {
		key = make([]byte, secretBytes)
		rand.Read(key)
		var wrapped []byte
		if wrapped, err = w.Wrap(key); err == nil {
			_, err = tx.Exec("INSERT INTO store_meta (name, value) VALUES ('mac_key', ?)", wrapped)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	return key, nil
}

// ReadMACKey returns the key of the row MACs; sql.ErrNoRows where the store has none yet.
func ReadMACKey(r Reader, w Wrapper) ([]byte, error) {
	var wrapped []byte
	if err := r.QueryRow("SELECT value FROM store_meta WHERE name = 'mac_key'").Scan(&wrapped); err != nil {
		return nil, err
	}
	key, err := w.Unwrap(wrapped)
	if err != nil {
		return nil, fmt.Errorf("row key: %w", err)
	}
	return key, nil
}

// KeepSecret writes a secret, wrapped under w, into the file beside a database.
func KeepSecret(beside string, w Wrapper, secret []byte) error {
	wrapped, err := w.Wrap(secret)
	if err == nil {
		err = file.Replace(beside, 0o600, file.Bytes(wrapped))
	}
	if err != nil {
		return fmt.Errorf("keep secret: %w", err)
	}
	return nil
}

// readSecret reads the file beside a database. nil = there is none, or one of a key that this box
// does not have any more.
func readSecret(w Wrapper, beside string) ([]byte, error) {
	wrapped, err := readPrivate(beside, 4<<10)
	if wrapped == nil || err != nil {
		return nil, err
	}
	secret, err := w.Unwrap(wrapped)
	if err != nil || len(secret) != secretBytes {
		return nil, nil
	}
	return secret, nil
}
