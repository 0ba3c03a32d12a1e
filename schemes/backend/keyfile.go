package backend

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"posagent/store"
)

// keyFile wraps data keys with the key in one file (AES-256-GCM, random nonce first). A file that is not there is made when a key is
// wrapped for the first time: books that were made with another key leave none behind.
type keyFile struct {
	path string
	mu   sync.Mutex
	aead cipher.AEAD // nil = the file is not there yet
}

var _ store.Wrapper = (*keyFile)(nil)

const keySize = 32

// ErrKey: the key file is damaged, or is not the one of these books.
var ErrKey = errors.New("backend: key file is damaged")

// OpenKey reads the key of a backend's directory, which is made where it is not there. A key that is not there is made for new books.
func OpenKey(dir string) (store.Wrapper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("backend key: %w", err)
	}
	k, err := openKey(filepath.Join(dir, KeyName))
	if err != nil {
		return nil, err
	}
	return k, nil
}

// openKey reads the key file, where there is one.
func openKey(path string) (*keyFile, error) {
	k := &keyFile{path: path}
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("backend key: %w", err)
	}
	return k, k.take(key)
}

// readKey reads a key file that is there.
func readKey(path string) (*keyFile, error) {
	k, err := openKey(path)
	if err == nil && k.aead == nil {
		err = fmt.Errorf("backend key: %s: %w", path, fs.ErrNotExist)
	}
	return k, err
}

// take makes a key the one that wraps.
func (k *keyFile) take(key []byte) error {
	if len(key) != keySize {
		return fmt.Errorf("%w: %s", ErrKey, k.path)
	}
	block, err := aes.NewCipher(key)
	if err == nil {
		k.aead, err = cipher.NewGCM(block)
	}
	if err != nil {
		return fmt.Errorf("backend key: %w", err)
	}
	return nil
}

// makeKey makes the key file (0600, synced, linked into place), or reads the one that another process has just made.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(key)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Link(f.Name(), path) // unlike rename it never replaces a key that another process just made
	}
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return key, dir.Sync()
}

// Wrap implements store.Wrapper.
func (k *keyFile) Wrap(plain []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.aead == nil {
		key, err := makeKey(k.path)
		if err == nil {
			err = k.take(key)
		}
		if err != nil {
			return nil, fmt.Errorf("backend key: %w", err)
		}
	}
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return k.aead.Seal(nonce, nonce, plain, nil), nil
}

// Unwrap implements store.Wrapper.
func (k *keyFile) Unwrap(wrapped []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.aead == nil {
		return nil, fmt.Errorf("%w: %s is not there", ErrKey, k.path)
	}
	n := k.aead.NonceSize()
	if len(wrapped) < n {
		return nil, ErrKey
	}
	plain, err := k.aead.Open(nil, wrapped[:n], wrapped[n:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: wrapped key does not verify", ErrKey)
	}
	return plain, nil
}
