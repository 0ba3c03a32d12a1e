package wire

import (
	"errors"

	"github.com/google/uuid"
)

// KeyHeader is the HTTP header that carries a Key on every write.
const KeyHeader = "Idempotency-Key"

// Key names one operation for ever. Ours are UUIDv7, made before the first attempt and stored
// before the first send; a caller's own key may be any 1..64 visible ASCII characters.
type Key string

// NewKey makes a fresh UUIDv7 key. It panics when the system has no randomness, which no caller can mend.
func NewKey() Key { return Key(uuid.Must(uuid.NewV7()).String()) }

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
