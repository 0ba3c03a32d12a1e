package wire

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// PAN is a card number. It prints, logs and marshals as nothing but [pan]; Reveal gives it away, and only the functions
// that write a wire body send it. The zero value is no number.
type PAN struct{ digits *string } // behind a pointer: not even a printer that ignores methods shows it

const maskedPAN = "[pan]"

// errPAN says that a card number was about to leave by a way that is not meant for it.
var errPAN = errors.New("a card number cannot be marshalled")

// NewPAN makes a card number of its digits.
func NewPAN(digits string) PAN {
	if digits == "" {
		return PAN{}
	}
	return PAN{&digits}
}

// Reveal returns the digits, for the one place that has to send or hash them.
func (p PAN) Reveal() string {
	if p.digits == nil {
		return ""
	}
	return *p.digits
}

// IsZero says that there is no number.
func (p PAN) IsZero() bool { return p.digits == nil }

// Valid says that it can be a card's: 13 to 19 digits with a good check digit (ISO/IEC 7812-1).
func (p PAN) Valid() bool { return luhn(p.Reveal()) }

// Masked is what may be shown: the first six and the last four digits; "" when there is no valid number.
func (p PAN) Masked() string {
	s := p.Reveal()
	if !luhn(s) {
		return ""
	}
	b := []byte(s)
	for i := 6; i < len(b)-4; i++ {
		b[i] = '*'
	}
	return string(b)
}

// String masks.
func (p PAN) String() string {
	if p.IsZero() {
		return ""
	}
	return maskedPAN
}

// GoString masks.
func (p PAN) GoString() string { return p.String() }

// Format masks under every verb.
func (p PAN) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) } // a fmt.State has nowhere to report to

// LogValue masks.
func (p PAN) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalJSON refuses.
func (p PAN) MarshalJSON() ([]byte, error) { return nil, errPAN }

// MarshalText refuses.
func (p PAN) MarshalText() ([]byte, error) { return nil, errPAN }

// UnmarshalText implements encoding.TextUnmarshaler: requests are read, never printed.
func (p *PAN) UnmarshalText(text []byte) error {
	*p = NewPAN(string(text))
	return nil
}

// luhn says whether s is a card number.
func luhn(s string) bool {
	if len(s) < 13 || len(s) > 19 {
		return false
	}
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i]) - '0'
		if d < 0 || d > 9 {
			return false
		}
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// MaskPANs masks whatever reads like a card number in a text for people: 13 to 19 digits that begin like a card
// scheme's, with a good check digit, single spaces, dashes and plus signs between them tolerated. What a path escapes (%20, %2D, %34,
// and %2520) is read as what it means. The first six and the last four digits of such a window stay, unless they lie in the middle of
// another: a number beside a card number makes windows of its own, and only the middles of all of them cover the card number's.
// What is masked stays as it is when it is masked again.
func MaskPANs(s string) string {
	var at []int // places of the digits of one run
	end := -1    // behind the last of them
	out := []byte(s)
	flush := func() {
		for from := 0; from+13 <= len(at); from++ {
			if strings.IndexByte("23456", s[at[from]]) < 0 {
				continue
			}
			var digits [19]byte
			for n := range min(19, len(at)-from) {
				digits[n] = s[at[from+n]]
				if !luhn(string(digits[:n+1])) {
					continue
				}
				for i := 6; i <= n-4; i++ {
					out[at[from+i]] = '*'
				}
			}
		}
		at = at[:0]
	}
	for i := 0; i < len(s); i++ {
		from, c := i, s[i]
		if c == '%' {
			j := i + 1
			for strings.HasPrefix(s[j:], "25") {
				j += 2
			}
			switch hex := s[j:min(j+2, len(s))]; {
			case hex >= "30" && hex <= "39":
				i, c = j+1, hex[1]
			case hex == "20" || hex == "2B" || hex == "2D" || hex == "2b" || hex == "2d":
				i, c = j+1, ' '
			}
		}
		switch {
		case c >= '0' && c <= '9':
			at, end = append(at, i), i+1 // of an escaped one the last letter
		case (c == ' ' || c == '-' || c == '+') && from == end:
		default:
			flush()
		}
	}
	flush()
	return string(out)
}

// MaskReference is MaskPANs for a client's own reference, as it is shown to that client: a UUID (RFC 9562) with a letter in it is no
// card number and stays whole, since programs look for it. Ids and digests are made with MaskPANs.
func MaskReference(s string) string {
	if isUUID(s) {
		return s
	}
	return MaskPANs(s)
}

// isUUID says that s is a UUID of hexadecimal digits, among them a letter.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	letter := false
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		case 14: // the version
			if c < '1' || c > '8' {
				return false
			}
		case 19: // the variant
			if strings.IndexByte("89abAB", c) < 0 {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
			letter = letter || c > '9'
		}
	}
	return letter
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
