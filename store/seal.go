package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"reflect"
	"sync"
)

// A sealed value is one version byte, the nonce, and the ciphertext with its tag.
const sealVersion = 1

// Keyring seals values and authenticates rows by plain SQL, for any engine: it is the second half
// of DB. Its data keys lie in the table store_keys, which the engine makes.
type Keyring struct {
	of   KeyringOptions
	macs sync.Pool // of *macState
}

// KeyringOptions say what a Keyring works with.
type KeyringOptions struct {
	Wrapper  Wrapper               // nil = nothing can be sealed or unsealed
	MACKey   func() []byte         // the key of the row MACs, fixed by the first MAC
	Shredded func()                // called when a data key was deleted; the engine then cleans its log
	Name     func(err error) error // adds the sentinel of this package that an error of the engine means
}

// NewKeyring returns the keyring of an engine.
func NewKeyring(of KeyringOptions) *Keyring {
	k := &Keyring{of: of}
	k.macs.New = func() any { return &macState{h: hmac.New(sha256.New, of.MACKey())} }
	return k
}

// Seal implements DB. The data key of the row is 32 random bytes, wrapped, in a table of its own.
func (k *Keyring) Seal(tx Tx, at Cell, plain []byte) ([]byte, error) {
	if k.of.Wrapper == nil {
		return nil, ErrNoWrapper
	}
	// Most rows are sealed once: it is tried as the row's first.
	key, err := k.newDataKey(tx, at)
	if key == nil && err == nil {
		var wrapped []byte
		if wrapped, err = k.wrappedKey(tx, at); err == nil {
			key, err = unwrap(k.of.Wrapper, wrapped)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", at.Table, at.Column, err)
	}
	return seal(key, at, plain)
}

// SealOwn implements DB.
func (k *Keyring) SealOwn(own []byte, at Cell, plain []byte) (sealed, wrapped []byte, err error) {
	if k.of.Wrapper == nil {
		return nil, nil, ErrNoWrapper
	}
	var key []byte
	if own == nil {
		key, own, err = k.freshKey()
	} else {
		key, err = unwrap(k.of.Wrapper, own)
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
func (k *Keyring) Unseal(r Reader, at Cell, sealed []byte) ([]byte, error) {
	if k.of.Wrapper == nil {
		return nil, ErrNoWrapper
	}
	wrapped, err := k.wrappedKey(r, at)
	if err != nil {
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, err)
	}
	return k.UnsealOwn(wrapped, at, sealed)
}

// UnsealOwn implements DB.
func (k *Keyring) UnsealOwn(own []byte, at Cell, sealed []byte) ([]byte, error) {
	switch {
	case k.of.Wrapper == nil:
		return nil, ErrNoWrapper
	case len(own) == 0:
		return nil, fmt.Errorf("unseal %s.%s: %w", at.Table, at.Column, ErrShredded)
	}
	key, err := unwrap(k.of.Wrapper, own)
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

// Shred implements DB. The deleted key is overwritten in the file; copies in the log go with the
// next Truncate, which the store does by itself within minutes.
func (k *Keyring) Shred(tx Tx, table, key string) error {
	if _, err := tx.Exec("DELETE FROM store_keys WHERE tbl = ? AND key = ?", table, key); err != nil {
		return fmt.Errorf("shred %s: %w", table, err)
	}
	k.of.Shredded()
	return nil
}

func (k *Keyring) wrappedKey(r Reader, at Cell) (wrapped []byte, err error) {
	err = r.QueryRow("SELECT wrapped FROM store_keys WHERE tbl = ? AND key = ?", at.Table, at.Key).Scan(&wrapped)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrShredded
	}
	return wrapped, k.of.Name(err)
}

// unwrap opens a data key; ErrTampered where it does not verify.
func unwrap(w Wrapper, wrapped []byte) ([]byte, error) {
	key, err := w.Unwrap(wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w: data key: %w", ErrTampered, err)
	}
	return key, nil
}

// freshKey makes a data key.
func (k *Keyring) freshKey() (key, wrapped []byte, err error) {
	key = make([]byte, 32)
	rand.Read(key)
	wrapped, err = k.of.Wrapper.Wrap(key)
	return key, wrapped, err
}

// newDataKey makes the row's data key; nil = it has one.
func (k *Keyring) newDataKey(tx Tx, at Cell) ([]byte, error) {
	key, wrapped, err := k.freshKey()
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

// MAC implements DB: HMAC-SHA256 over an encoding in which every field carries its type and its
// length, so that no two different rows have the same input. Named types of the listed kinds are
// taken as those; empty bytes count as nil, because the driver returns both as nil. Any other type
// is a programmer's mistake and panics.
func (k *Keyring) MAC(table, key string, fields ...any) []byte {
	m := k.macs.Get().(*macState)
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
		k.macs.Put(m)
	}
	return sum
}

// macState is a MAC with its buffer. It is pooled, because to make one costs as much as to use it.
type macState struct {
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
