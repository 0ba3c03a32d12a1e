package wire

import "log/slog"

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

// LogValue masks.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON masks.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }
