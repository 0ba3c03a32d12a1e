package store

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"posagent/device/file"
)

// besideMost is how many bytes of a Beside are read.
const besideMost = 16 << 20

// Beside is a file that lies beside a database and outlives it. What it holds is sealed under a secret
// that outlives the database, too (Secret): a file of another one is taken for none. The zero Beside
// keeps nothing.
type Beside struct {
	Path   string
	Secret []byte
}

// Load returns what Keep has kept. nil = there is nothing, or nothing that the secret opens.
func (b Beside) Load() ([]byte, error) {
	if b.Path == "" {
		return nil, nil
	}
	sealed, err := readPrivate(b.Path, besideMost)
	if sealed == nil || err != nil {
		return nil, err
	}
	aead, err := b.aead()
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, nil
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], nil)
	if err != nil {
		return nil, nil
	}
	return plain, nil
}

// Keep replaces what is kept. After a power cut the file is the old one or the new one.
func (b Beside) Keep(plain []byte) error {
	if b.Path == "" {
		return nil
	}
	aead, err := b.aead()
	if err != nil {
		return err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	if err := file.Replace(b.Path, 0o600, file.Bytes(aead.Seal(nonce, nonce, plain, nil))); err != nil {
		return fmt.Errorf("keep %s: %w", b.Path, err)
	}
	return nil
}

func (b Beside) aead() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, b.Secret, nil, "posagent beside 1", secretBytes)
	if err != nil {
		return nil, err
	}
	return newAEAD(key)
}

// readPrivate reads a small file; nil = there is none.
func readPrivate(path string, most int64) ([]byte, error) {
	data, _, err := file.Read(path, file.Follow, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
