package wire

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Secret is a text that must never be logged, printed or marshalled. Only Reveal gives it away.
type Secret string

const masked = "[secret]"

// Reveal returns the secret itself, for the one place that has to send it.
func (s Secret) Reveal() string { return string(s) }

// String masks.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString masks.
func (s Secret) GoString() string { return s.String() }

// Format masks under every verb, the wrong ones too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) } // a fmt.State has nowhere to report to

// LogValue masks.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON masks.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// leastDigits is how many different digits a code has that nobody guesses at once.
const leastDigits = 3

// Guessable reports whether digits are among a stranger's first guesses: all in order, or few different ones.
func Guessable(digits string) bool {
	up, down, seen := true, true, map[rune]bool{}
	for i, digit := range digits {
		seen[digit] = true
		if i > 0 {
			step := (digits[i] - digits[i-1] + 10) % 10 // 0 follows 9
			up, down = up && step == 1, down && step == 9
		}
	}
	return up || down || len(seen) < leastDigits
}

// Withhold keeps a foreign service's words from repeating a secret of the request that it answers: an *Error whose text has
// one, or whose cause has one in its Texts, says so instead and loses the cause. err is returned as it came otherwise.
func Withhold(err error, secrets ...string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	said := []string{e.Msg}
	if f := interface{ Texts() []string }(nil); errors.As(e.Err, &f) {
		said = append(said, f.Texts()...)
	}
	all := strings.Join(said, "\n")
	for _, s := range secrets {
		if s != "" && strings.Contains(all, s) {
			e.Msg = "the reply's own words are withheld"
			if len(said) > 1 {
				e.Err = nil
			}
			return err
		}
	}
	return err
}
