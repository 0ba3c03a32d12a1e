package paylinks

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Bit is a boolean that the service writes as 0 or 1. Clients also understand true and false.
type Bit bool

// MarshalJSON implements json.Marshaler.
func (b Bit) MarshalJSON() ([]byte, error) {
	if b {
		return []byte("1"), nil
	}
	return []byte("0"), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bit) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "1", "true":
		*b = true
	case "0", "false", "null":
		*b = false
	default:
		return wire.Errorf(wire.Invalid, "", "neither 0 nor 1")
	}
	return nil
}

// Cents is an amount that the service writes as an integer here and as a text there.
type Cents int64

// UnmarshalJSON implements json.Unmarshaler; nothing at all is 0.
func (c *Cents) UnmarshalJSON(data []byte) error {
	text := string(bytes.Trim(data, `"`))
	if text == "" || text == "null" || text == "false" {
		*c = 0
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return wire.Errorf(wire.Invalid, "", "not an amount")
	}
	*c = Cents(n)
	return nil
}

// Provider is a payment provider's id; 0 = any. The service writes an integer, and where there is none or many, false or a list.
type Provider int64

// UnmarshalJSON implements json.Unmarshaler; of a list it takes the first.
func (p *Provider) UnmarshalJSON(data []byte) error {
	var ids []int64
	if json.Unmarshal(data, &ids) == nil {
		*p = 0
		if len(ids) > 0 {
			*p = Provider(ids[0])
		}
		return nil
	}
	return (*Cents)(p).UnmarshalJSON(data)
}

// Percent is a decimal number as it was written ("7.7"); "" = none, null on the wire. It never becomes a float.
type Percent string

// MarshalJSON implements json.Marshaler.
func (p Percent) MarshalJSON() ([]byte, error) {
	if p == "" {
		return []byte("null"), nil
	}
	return []byte(p), nil
}

// UnmarshalJSON implements json.Unmarshaler: a number, or one in a text; what is neither counts as none.
func (p *Percent) UnmarshalJSON(data []byte) error {
	if *p = Percent(bytes.Trim(data, `"`)); !percent(string(*p)) {
		*p = ""
	}
	return nil
}

// String returns the number as it was written.
func (p Percent) String() string { return string(p) }

// percent says whether a text is a decimal number from 0 to 100, with at most 8 digits after the point.
func percent(text string) bool {
	whole, frac, point := strings.Cut(text, ".")
	n, ok := int64(0), whole != ""
	if ok {
		n, ok = digits(whole)
	}
	if !ok || n > 100 || point && (frac == "" || len(frac) > 8) {
		return false
	}
	return strings.Trim(frac, "0123456789") == "" && (n < 100 || strings.Trim(frac, "0") == "")
}

func digits(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n >= 0 && text[0] != '+' && text[0] != '-' && (text[0] != '0' || text == "0")
}
