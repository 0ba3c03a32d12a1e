package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"posagent/schemes/wire"
)

// value is a text, a number as it is written, or a truth value. Null is absent.
type value string

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		var s string
		err := json.Unmarshal(data, &s)
		*v = value(s)
		return err
	case '{', '[':
		return errors.New("want a text or a number")
	case 'n':
		*v = ""
		return nil
	}
	*v = value(data)
	return nil
}

// object is a row of a JSON list.
type object struct {
	Time        value `json:"time"`
	Type        value `json:"type"`
	Amount      value `json:"amount"`
	Minor       value `json:"minor"`
	Currency    value `json:"currency"`
	Paid        value `json:"paid"`
	ID          value `json:"id"`
	Reference   value `json:"reference"`
	Receipt     value `json:"receipt"`
	Transaction value `json:"transaction"`
	Sale        value `json:"sale"`
}

// readJSON reads a list of objects, or an object whose "sales" is that list.
func readJSON(data []byte, currency string, zone *time.Location) (List, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	at := lines{data: data}
	depth, err := openList(dec)
	if err != nil {
		return List{}, bad(at.of(dec.InputOffset()), "%s", wordsOf(err))
	}
	var list List
	for dec.More() {
		var raw json.RawMessage
		before := dec.InputOffset()
		if err := dec.Decode(&raw); err != nil {
			return List{}, bad(at.of(at.value(before)), "%s", wordsOf(err))
		}
		line := at.of(dec.InputOffset() - int64(len(raw)))
		var o object
		if err := wire.Decode(raw, &o); err != nil {
			return List{}, bad(line, "%s", wordsOf(err))
		}
		t := texts{
			Time: string(o.Time), Type: string(o.Type), Amount: string(o.Amount), Minor: string(o.Minor), Currency: string(o.Currency),
			Paid: string(o.Paid), ID: string(o.ID), Reference: string(o.Reference), Receipt: string(o.Receipt), Transaction: string(o.Transaction), Sale: string(o.Sale),
		}
		row, err := t.row(line, currency, zone)
		if err != nil {
			return List{}, err
		}
		list.Rows = append(list.Rows, row)
	}
	for { // what closes the list, and the object around it
		tok, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF) && depth == 0:
			return list, nil
		case err != nil:
			return List{}, bad(at.of(dec.InputOffset()), "%s", wordsOf(err))
		case tok == json.Delim(']'), tok == json.Delim('}'):
			depth--
		case tok == json.Delim('['), tok == json.Delim('{'):
			depth++
		}
	}
}

// openList goes to the first row. It returns how many lists and objects are open there.
func openList(dec *json.Decoder) (depth int, err error) {
	tok, err := dec.Token()
	if err != nil || tok == json.Delim('[') {
		return 1, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 1, err
		}
		if name == "sales" {
			tok, err := dec.Token()
			if err == nil && tok != json.Delim('[') {
				err = errors.New(`"sales" is no list`)
			}
			return 2, err
		}
		var other json.RawMessage
		if err := dec.Decode(&other); err != nil {
			return 1, err
		}
	}
	return 1, errors.New(`want a list of objects, or an object with the list "sales"`)
}

// wordsOf is an error without the names of types.
func wordsOf(err error) string {
	var own *wire.Error
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the list ends too early"
	case errors.As(err, &own) && own.Msg != "":
		return own.Msg
	}
	return err.Error()
}

// lines finds the line of an offset. Offsets are asked for in ascending order.
type lines struct {
	data []byte
	done int64
	n    int
}

func (l *lines) of(offset int64) int {
	offset = min(max(offset, l.done), int64(len(l.data)))
	l.n += bytes.Count(l.data[l.done:offset], []byte("\n"))
	l.done = offset
	return l.n + 1
}

// value is where the value behind an offset begins.
func (l *lines) value(offset int64) int64 {
	for offset < int64(len(l.data)) && bytes.IndexByte([]byte(" \t\r\n,"), l.data[offset]) >= 0 {
		offset++
	}
	return offset
}
