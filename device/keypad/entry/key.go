package entry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Key is a key of a pad, wherever the pad is. Printed, a digit does not say which it is; not even in a list, which of bytes
// would be printed as a text.
type Key uint16

// The keys.
const (
	None   Key = iota // no key
	Digit0            // the other nine follow it
	_
	_
	_
	_
	_
	_
	_
	_
	Digit9
	Correct // takes the last digit back
	Confirm
	Cancel
	Up
	Down
	F1 // choices, as the screen labels them; the others follow it
	_
	_
	_
	_
	_
	_
	_
	_
	_
	_
	F12
	// Gap is no key: keys were lost here, and what was typed before it may not be all that was pressed.
	Gap
)

// Digit returns the key of a digit, and None where n is not one.
func Digit(n int) Key {
	if n < 0 || n > 9 {
		return None
	}
	return Digit0 + Key(n)
}

// Digit returns the digit that is on the key.
func (k Key) Digit() (n int, ok bool) {
	return int(k) - int(Digit0), k >= Digit0 && k <= Digit9
}

// named are the keys that are neither digits nor choices.
var named = [...]string{Correct: "correct", Confirm: "confirm", Cancel: "cancel", Up: "up", Down: "down", Gap: "gap", None: "none"}

// String names the key. Each digit is "digit": a list of keys must not give away what was typed.
func (k Key) String() string {
	if _, ok := k.Digit(); ok {
		return "digit"
	}
	if k >= F1 && k <= F12 {
		return "f" + strconv.Itoa(int(k-F1)+1)
	}
	if int(k) < len(named) && named[k] != "" {
		return named[k]
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler, with String's words.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Parse returns the key of a name: 0 to 9, correct, confirm, cancel, up, down, f1 to f12, and none.
func Parse(name string) (Key, error) {
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		return Digit(int(name[0] - '0')), nil
	}
	if i := slices.Index(named[:], name); name != "" && i >= 0 && Key(i) != Gap {
		return Key(i), nil
	}
	if number, ok := strings.CutPrefix(name, "f"); ok {
		if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= 12 && strconv.Itoa(n) == number {
			return F1 + Key(n-1), nil
		}
	}
	return None, fmt.Errorf("%q is no key: want 0 to 9, correct, confirm, cancel, up, down, f1 to f12 or none", name)
}
