package wire

import (
	"fmt"
	"io"
	"log/slog"
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
