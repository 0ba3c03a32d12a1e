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

	"posagent/store"
)

// keyFile wraps data keys with the key in one file (AES-256-GCM, random nonce first).
type keyFile struct{ aead cipher.AEAD }

var _ store.Wrapper = (*keyFile)(nil)

const keySize = 32

// ErrKey: the key file is damaged, or is not the one of these books.
var ErrKey = errors.New("backend: key file is damaged")

// OpenKey reads the key of a backend's directory, or makes both.
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

// openKey reads the key file, or makes it (0600, synced, renamed into place).
func openKey(path string) (*keyFile, error) {
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("backend key: %w", err)
	}
	return keyOf(path, key)
}

// readKey reads a key file that is there.
func readKey(path string) (*keyFile, error) {
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("backend key: %w", err)
	}
	return keyOf(path, key)
}

// keyOf makes a wrapper of the key that a file holds.
func keyOf(path string, key []byte) (*keyFile, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("%w: %s", ErrKey, path)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("backend key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("backend key: %w", err)
	}
	return &keyFile{aead}, nil
}

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
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return k.aead.Seal(nonce, nonce, plain, nil), nil
}

// Unwrap implements store.Wrapper.
func (k *keyFile) Unwrap(wrapped []byte) ([]byte, error) {
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
