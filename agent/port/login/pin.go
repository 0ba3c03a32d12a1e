package login

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// The rule of a PIN.
const (
	minDigits = 6
	maxDigits = 12
)

// Rule is the rule in words.
const Rule = "6 to 12 digits, at least 3 different ones, and not all in order (like 123456 or 987654)"

// ErrPIN is the answer to digits that are no PIN.
var ErrPIN = errors.New("a PIN has " + Rule)

// Fits returns nil where a text may be the terminal's PIN, else ErrPIN.
func Fits(pin string) error {
	if len(pin) < minDigits || len(pin) > maxDigits || strings.Trim(pin, "0123456789") != "" || wire.Guessable(pin) {
		return ErrPIN
	}
	return nil
}

// The stored form of a PIN: its scheme, rounds, salt and hash.
const (
	scheme     = "pbkdf2-sha256"
	rounds     = 50_000
	mostRounds = 1_000_000 // a file that was changed does not keep the processor for long
	saltBytes  = 16
)

// PIN is what is stored of a PIN: a salted hash that is slow to make.
type PIN struct {
	rounds     int
	salt, hash []byte
}

// Keep makes what is stored of a PIN. ErrPIN.
func Keep(pin string) (PIN, error) {
	if err := Fits(pin); err != nil {
		return PIN{}, err
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	hash, err := slow(pin, salt, rounds)
	return PIN{rounds, salt, hash}, err
}

func slow(pin string, salt []byte, rounds int) ([]byte, error) {
	return pbkdf2.Key(sha256.New, pin, salt, rounds, sha256.Size)
}

// Parse reads what is stored of a PIN. An error says what is wrong with its form, and repeats
// nothing of it.
func Parse(text string) (PIN, error) {
	parts := strings.Fields(text)
	if len(parts) != 4 || parts[0] != scheme {
		return PIN{}, errors.New("holds no PIN")
	}
	n, err := strconv.Atoi(parts[1])
	salt, badSalt := base64.RawStdEncoding.Strict().DecodeString(parts[2])
	hash, badHash := base64.RawStdEncoding.Strict().DecodeString(parts[3])
	if err != nil || n < 1 || n > mostRounds || badSalt != nil || badHash != nil || len(salt) != saltBytes || len(hash) != sha256.Size {
		return PIN{}, errors.New("holds a PIN that is not whole")
	}
	return PIN{n, salt, hash}, nil
}

// Text is what is stored.
func (p PIN) Text() string {
	raw := base64.RawStdEncoding
	return fmt.Sprintf("%s %d %s %s", scheme, p.rounds, raw.EncodeToString(p.salt), raw.EncodeToString(p.hash))
}

// String implements fmt.Stringer; it shows nothing of the PIN.
func (PIN) String() string { return "[pin]" }

// GoString implements fmt.GoStringer likewise.
func (PIN) GoString() string { return "[pin]" }

// is compares in a time that tells nothing about the stored PIN.
func (p PIN) is(pin string) bool {
	hash, err := slow(pin, p.salt, p.rounds)
	return err == nil && subtle.ConstantTimeCompare(hash, p.hash) == 1
}

// id names a stored PIN. Nothing follows from it about the PIN: the salt is in it.
func (p PIN) id() string {
	sum := sha256.Sum256([]byte(p.Text()))
	return hex.EncodeToString(sum[:16])
}
