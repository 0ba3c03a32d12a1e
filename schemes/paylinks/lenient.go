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
	var list []int64
	if json.Unmarshal(data, &list) == nil {
		*p = 0
		if len(list) > 0 {
			*p = Provider(list[0])
		}
		return nil
	}
	return (*Cents)(p).UnmarshalJSON(data)
}

// Invoices are a link's items. What a foreign service writes there in another shape is left out: it must not cost the link.
type Invoices []Invoice

// MarshalJSON implements json.Marshaler: no items are [].
func (i Invoices) MarshalJSON() ([]byte, error) {
	if len(i) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]Invoice(i))
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Invoices) UnmarshalJSON(data []byte) error {
	*i = nil
	var raw []json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	for _, r := range raw {
		var one Invoice
		if wire.Decode(r, &one) == nil {
			*i = append(*i, one)
		}
	}
	return nil
}

// CustomFields are what customers wrote into custom fields, by field id. Nothing is null, and understood as [] too.
type CustomFields map[string]CustomValue

// UnmarshalJSON implements json.Unmarshaler.
func (c *CustomFields) UnmarshalJSON(data []byte) error {
	*c = nil
	if text := string(bytes.TrimSpace(data)); text == "null" || strings.Join(strings.Fields(text), "") == "[]" {
		return nil
	}
	return wire.Decode(data, (*map[string]CustomValue)(c))
}

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

// UnmarshalJSON implements json.Unmarshaler. What a foreign service writes there in another shape leaves its field off: how a
// page looks must not cost the link.
func (f *Fields) UnmarshalJSON(data []byte) error {
	type plain Fields
	_ = json.Unmarshal(data, (*plain)(f)) // what fits is in
	return nil
}

// String returns the number as it was written.
func (p Percent) String() string { return string(p) }
