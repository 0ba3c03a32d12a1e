package device

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"posagent/device/file"
)

// What can be wrong with a key. Decide with errors.Is.
var (
	// ErrKeyFile: the key file is not a private regular file of ours, or its content is not a key.
	ErrKeyFile = errors.New("device: unusable key file")
	// ErrKeyDamaged is ErrKeyFile where the file is ours, and its content is not a key.
	ErrKeyDamaged = fmt.Errorf("%w", ErrKeyFile)
	// ErrNoKey: there is no key file.
	ErrNoKey = errors.New("device: no key file")
	// ErrWrongKey: the value was wrapped under another key.
	ErrWrongKey = errors.New("device: wrapped under another key")
	// ErrUnwrap: the value is not a wrapped key, or was changed.
	ErrUnwrap = errors.New("device: wrapped key does not verify")
)

const (
	keyFile    = "device.key"
	keyMagic   = "posagent-device-key-1"
	keyBytes   = 32
	idBytes    = 8
	wrapFormat = 1
)

// Keys wraps data keys under the device key. It is safe for concurrent use and prints as its id.
type Keys struct {
	id   [idBytes]byte
	aead cipher.AEAD
	old  *Keys // opens what was wrapped before a change of the key that has not ended; nil = there is none
}

// OpenKeys is LoadKeys, and makes dir/device.key, and dir, where missing. Call it only where nothing was wrapped before.
func OpenKeys(dir string) (*Keys, error) {
	k, err := LoadKeys(dir)
	if !errors.Is(err, ErrNoKey) {
		return k, err
	}
	path := filepath.Join(dir, keyFile)
	if err := makeKey(dir, path); err != nil {
		return nil, fmt.Errorf("device: make %s: %w", path, err)
	}
	return LoadKeys(dir)
}

// LoadKeys reads dir/device.key. It answers ErrNoKey where there is none, and ErrKeyFile for a file that others may read or that is
// not a regular file. While the key is being changed (NextKeys) it answers the new one, which opens what the old one wrapped.
func LoadKeys(dir string) (*Keys, error) { return loadKeys(dir, os.Geteuid()) }

// LoadOwnersKeys is LoadKeys, and lets root read the key of the account that dir belongs to.
func LoadOwnersKeys(dir string) (*Keys, error) {
	uid := os.Geteuid()
	var st unix.Stat_t
	if uid == 0 && unix.Stat(dir, &st) == nil {
		uid = int(st.Uid)
	}
	return loadKeys(dir, uid)
}

func loadKeys(dir string, uid int) (*Keys, error) {
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path, uid)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoKey, path)
	}
	if err != nil {
		return nil, err
	}
	k, err := newKeys(key)
	if err != nil {
		return nil, err
	}
	switch next, err := readKey(filepath.Join(dir, nextFile), uid); {
	case errors.Is(err, os.ErrNotExist):
		return k, nil
	case err != nil:
		return nil, err
	default:
		n, err := newKeys(next)
		if err != nil {
			return nil, err
		}
		n.old = k
		return n, nil
	}
}

func newKeys(key []byte) (*Keys, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	k := &Keys{aead: aead}
	sum := sha256.Sum256(append([]byte(keyMagic+" id "), key...))
	copy(k.id[:], sum[:])
	return k, nil
}

// ID names the key without telling anything about it.
func (k *Keys) ID() string { return hex.EncodeToString(k.id[:]) }

// String implements fmt.Stringer.
func (k *Keys) String() string { return "device key " + k.ID() }

// GoString implements fmt.GoStringer.
func (k *Keys) GoString() string { return k.String() }

// Wrap encrypts plain. The result carries the id of the key.
func (k *Keys) Wrap(plain []byte) ([]byte, error) {
	head := k.head()
	out := make([]byte, len(head)+k.aead.NonceSize(), len(head)+k.aead.NonceSize()+len(plain)+k.aead.Overhead())
	copy(out, head)
	nonce := out[len(head):]
	rand.Read(nonce)
	return k.aead.Seal(out, nonce, plain, head), nil
}

// Unwrap decrypts what Wrap made. It answers ErrWrongKey or ErrUnwrap.
func (k *Keys) Unwrap(wrapped []byte) ([]byte, error) {
	head := k.head()
	n := len(head) + k.aead.NonceSize()
	if len(wrapped) < n+k.aead.Overhead() || wrapped[0] != wrapFormat {
		return nil, ErrUnwrap
	}
	if string(wrapped[:len(head)]) != string(head) {
		if k.old != nil {
			return k.old.Unwrap(wrapped)
		}
		return nil, fmt.Errorf("%w: %x, this device has %s", ErrWrongKey, wrapped[1:len(head)], k.ID())
	}
	plain, err := k.aead.Open(nil, wrapped[len(head):n], wrapped[n:], head)
	if err != nil {
		return nil, ErrUnwrap
	}
	return plain, nil
}

func (k *Keys) head() []byte { return append([]byte{wrapFormat}, k.id[:]...) }

// readKey never follows a link, and judges the file it has open, not its name.
func readKey(path string, uid int) ([]byte, error) {
	f, info, err := file.Open(path, file.NoFollow)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%w: %s is a symbolic link", ErrKeyFile, path)
	case errors.Is(err, file.ErrIrregular):
		return nil, fmt.Errorf("%w: %w", ErrKeyFile, err)
	case err != nil:
		return nil, fmt.Errorf("device: %w", err)
	}
	defer f.Close()
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case st.Mode&0o077 != 0:
		return nil, fmt.Errorf("%w: %s has mode %04o, want 0600", ErrKeyFile, path, st.Mode&0o7777)
	case st.Uid != 0 && int(st.Uid) != uid:
		return nil, fmt.Errorf("%w: %s belongs to user %d", ErrKeyFile, path, st.Uid)
	}
	text, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return nil, fmt.Errorf("device: %s: %w", path, err)
	}
	magic, digits, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	key, err := hex.DecodeString(digits)
	if magic != keyMagic || err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%w: %s does not hold a key", ErrKeyDamaged, path)
	}
	return key, nil
}

// makeKey writes a new key under a temporary name and gives it its own name when it is durable. A key that another
// process made meanwhile stays.
func makeKey(dir, path string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key := make([]byte, keyBytes)
	rand.Read(key)
	f, err := os.CreateTemp(dir, "."+keyFile+"-*") // 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removed(f.Name())) }()
	if _, err := fmt.Fprintf(f, "%s %x\n", keyMagic, key); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	switch err := unix.Renameat2(unix.AT_FDCWD, f.Name(), unix.AT_FDCWD, path, unix.RENAME_NOREPLACE); {
	case err == nil:
	case errors.Is(err, unix.EEXIST):
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		if err := os.Rename(f.Name(), path); err != nil {
			return err
		}
	default:
		return err
	}
	return file.SyncDir(dir)
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
