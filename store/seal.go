package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"reflect"
)

// A sealed value is one version byte, the nonce, and the ciphertext with its tag.
const sealVersion = 1

// Seal implements DB. The data key of the row is 32 random bytes, wrapped, in a table of its own.
func (s *Store) Seal(tx Tx, at Cell, plain []byte) ([]byte, error) {
	if s.opt.Wrapper == nil {
		return nil, ErrNoWrapper
	}
	// Most rows are sealed once: it is tried as the row's first.
	key, err := s.newDataKey(tx, at)
	if key == nil && err == nil {
		var wrapped []byte
		if wrapped, err = s.wrappedKey(tx, at); err == nil {
			key, err = s.unwrap(wrapped)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", at.Table, at.Column, err)
	}
	return seal(key, at, plain)
}

// SealOwn implements DB.
func (s *Store) SealOwn(own []byte, at Cell, plain []byte) (sealed, wrapped []byte, err error) {
	if s.opt.Wrapper == nil {
		return nil, nil, ErrNoWrapper
	}
	var key []byte
	if own == nil {
		key, own, err = s.freshKey()
	} else {
		key, err = s.unwrap(own)
	}
	if err == nil {
		sealed, err = seal(key, at, plain)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("seal %s.%s: %w", at.Table, at.Column, err)
	}
	return sealed, own, nil
}

// seal encrypts plain under a data key.
func seal(key []byte, at Cell, plain []byte) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(plain)+aead.Overhead())
	out[0] = sealVersion
	rand.Read(out[1:])
	return aead.Seal(out, out[1:], plain, at.aad()), nil
}

// Unseal implements DB.
func (s *Store) Unseal(r Reader, at Cell, sealed []byte) ([]byte, error) {
	if s.opt.Wrapper == nil {
		return nil, ErrNoWrapper
	}
	wrapped, err := s.wrappedKey(r, at)
	if err != nil {
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, err)
	}
	return s.UnsealOwn(wrapped, at, sealed)
}

// UnsealOwn implements DB.
func (s *Store) UnsealOwn(own []byte, at Cell, sealed []byte) ([]byte, error) {
	switch {
	case s.opt.Wrapper == nil:
		return nil, ErrNoWrapper
	case len(own) == 0:
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, ErrShredded)
	}
	key, err := s.unwrap(own)
	if err != nil {
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, err)
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	n := aead.NonceSize()
	if len(sealed) < 1+n+aead.Overhead() || sealed[0] != sealVersion {
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, ErrTampered)
	}
	plain, err := aead.Open([]byte{}, sealed[1:1+n], sealed[1+n:], at.aad())
	if err != nil {
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, ErrTampered)
	}
	return plain, nil
}

// Shred implements DB. The deleted key is overwritten in the file; copies in the log go with the next Truncate, which
// the store does by itself within minutes.
func (s *Store) Shred(tx Tx, table, key string) error {
	if _, err := tx.Exec("DELETE FROM store_keys WHERE tbl = ? AND key = ?", table, key); err != nil {
		return fmt.Errorf("shred %s: %w", table, err)
	}
	s.shred.Store(true)
	return nil
}

func (s *Store) wrappedKey(r Reader, at Cell) (wrapped []byte, err error) {
	err = r.QueryRow("SELECT wrapped FROM store_keys WHERE tbl = ? AND key = ?", at.Table, at.Key).Scan(&wrapped)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrShredded
	}
	return wrapped, classify(err)
}

// unwrap opens a data key; ErrTampered where it does not verify.
func (s *Store) unwrap(wrapped []byte) ([]byte, error) {
	key, err := s.opt.Wrapper.Unwrap(wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w: data key: %w", ErrTampered, err)
	}
	return key, nil
}

// freshKey makes a data key.
func (s *Store) freshKey() (key, wrapped []byte, err error) {
	key = make([]byte, 32)
	rand.Read(key)
	wrapped, err = s.opt.Wrapper.Wrap(key)
	return key, wrapped, err
}

// newDataKey makes the row's data key; nil = it has one.
func (s *Store) newDataKey(tx Tx, at Cell) ([]byte, error) {
	key, wrapped, err := s.freshKey()
	if err != nil {
		return nil, err
	}
	res, err := tx.Exec("INSERT INTO store_keys (tbl, key, wrapped) VALUES (?, ?, ?) ON CONFLICT (tbl, key) DO NOTHING", at.Table, at.Key, wrapped)
	if err != nil {
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, err
	}
	return key, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("%w: data key: %w", ErrTampered, err)
	}
	return cipher.NewGCM(block)
}

// aad is table, key and column, each behind its length: no two cells share it.
func (c Cell) aad() []byte {
	b := appendField(nil, c.Table)
	b = appendField(b, c.Key)
	return appendField(b, c.Column)
}

func appendField(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}

// Tags of the MAC's fields.
const (
	tagNil byte = iota
	tagInt
	tagString
	tagBytes
	tagBool
)

const macDomain = "posagent store row 1"

// MAC implements DB: HMAC-SHA256 over an encoding in which every field carries its type and its length, so that no
// two different rows have the same input. Named types of the listed kinds are taken as those; empty bytes count as nil,
// because the driver returns both as nil.
// Any other type is a programmer's mistake and panics.
func (s *Store) MAC(table, key string, fields ...any) []byte {
	m := s.macs.Get().(*macer)
	b := appendField(m.b[:0], macDomain)
	b = appendField(b, table)
	b = appendField(b, key)
	b = binary.BigEndian.AppendUint64(b, uint64(len(fields)))
	for _, f := range fields {
		b = appendTagged(b, f)
	}
	m.h.Reset()
	m.h.Write(b)
	sum := m.h.Sum(nil)
	clear(b) // it may have been card data
	if m.b = b; cap(b) <= macKeeps {
		s.macs.Put(m)
	}
	return sum
}

// macer is what a MAC is made with: to make one costs as much as to use it.
type macer struct {
	h hash.Hash
	b []byte
}

// macKeeps is the longest input whose memory is kept.
const macKeeps = 4 << 10

func appendBytes(b, f []byte) []byte {
	if len(f) == 0 { // comes back from the database as nil
		return append(b, tagNil)
	}
	b = binary.BigEndian.AppendUint64(append(b, tagBytes), uint64(len(f)))
	return append(b, f...)
}

func appendTagged(b []byte, field any) []byte {
	switch f := field.(type) { // the usual ones, without the detour
	case nil:
		return append(b, tagNil)
	case int64:
		return binary.BigEndian.AppendUint64(append(b, tagInt), uint64(f))
	case string:
		return appendField(append(b, tagString), f)
	case []byte:
		return appendBytes(b, f)
	}
	v := reflect.ValueOf(field)
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.BigEndian.AppendUint64(append(b, tagInt), uint64(v.Int()))
	case reflect.String:
		return appendField(append(b, tagString), v.String())
	case reflect.Bool:
		if v.Bool() {
			return append(b, tagBool, 1)
		}
		return append(b, tagBool, 0)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return appendBytes(b, v.Bytes())
		}
	}
	panic(fmt.Sprintf("store: MAC of a %T", field))
}
