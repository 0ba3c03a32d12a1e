package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// KeyHeader is the HTTP header that carries a Key on every write.
const KeyHeader = "Idempotency-Key"

// Key names one operation for ever. Ours are UUIDv7, or UUIDv8 made of a caller's own, made before the first attempt and stored
// before the first send; a caller's own key may be any 1..64 visible ASCII characters.
type Key string

// NewKey makes a fresh UUIDv7 key. It panics when the system has no randomness, which no caller can mend.
func NewKey() Key { return Key(NoPAN(func() string { return uuid.Must(uuid.NewV7()).String() })) }

// NoPAN returns the first text of next that MaskPANs leaves as it is. One in a thousand ids looks like a card number: masked in an error
// or a remedy it would name nothing.
func NoPAN(next func() string) string {
	for {
		if id := next(); MaskPANs(id) == id {
			return id
		}
	}
}

// MakeKey makes the UUIDv8 key that a secret and the fields always make. Without the secret it tells nothing about them.
func MakeKey(secret []byte, fields ...string) Key {
	mac := hmac.New(sha256.New, secret)
	for _, field := range fields {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(field)))
		mac.Write(n[:])
		mac.Write([]byte(field))
	}
	id := uuid.UUID(mac.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
	return Key(id.String())
}

// Ours says that a key has the form of those that NewKey and MakeKey make.
func (k Key) Ours() bool { return len(k) == 36 && uuid.Validate(string(k)) == nil }

// Local says that an id is one of those that a store-and-forward service gives: "L" and a Key of our form. A service's own ids may begin
// with that letter, too.
func Local(id string) bool {
	key, ok := strings.CutPrefix(id, "L")
	return ok && Key(key).Ours()
}

// ErrKey is the answer to a key that is empty, too long or not visible ASCII.
var ErrKey = errors.New("idempotency key: want 1 to 64 visible ASCII characters")

// ParseKey checks a key that came over the wire.
func ParseKey(s string) (Key, error) {
	if len(s) == 0 || len(s) > 64 {
		return "", ErrKey
	}
	for i := 0; i < len(s); i++ {
		if s[i] < 0x21 || s[i] > 0x7e {
			return "", ErrKey
		}
	}
	return Key(s), nil
}
