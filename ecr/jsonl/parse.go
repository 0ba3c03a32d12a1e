package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds how deep a message nests. Order lines are two deep.
const maxDepth = 8

// fault says why a message was refused: it has begun nothing.
type fault struct {
	Code faultCode `json:"code"`
	Text string    `json:"text"`         // for the developer, in English; for a person where it names a state of the terminal
	At   string    `json:"at,omitempty"` // the path of the field
}

type faultCode string

// The codes of faults. Damaged is the transport's.
const (
	malformed faultCode = "malformed"  // not one JSON object, or written in a way that is not clear
	invalid   faultCode = "invalid"    // a field is missing, or its value is not allowed
	unknownOp faultCode = "unknown_op" // op names no message
	password  faultCode = "password"   // hello must show the password first
	busyFault faultCode = "busy"       // not now: ask again
	notTold   faultCode = "not_told"   // ack names no outcome that is being told here
)

// object is a JSON object as it was written.
type object struct {
	at     string
	values map[string]value
	fold   map[string]string // a key without regard to case: the key as it was written
}

// value is one JSON value. Its kind is the first letter of what it is: object, array, string,
// number, boolean or 0 for null.
type value struct {
	kind   byte
	text   string // of a string, a number or a boolean
	object *object
	list   []value
}

// parse reads exactly one JSON object. It refuses duplicate keys, keys that differ in case alone,
// deep nesting and what is not UTF-8.
func parse(data []byte) (*object, *fault) {
	if !utf8.Valid(data) {
		return nil, &fault{Code: malformed, Text: "the line is not UTF-8"}
	}
	if !json.Valid(data) {
		return nil, &fault{Code: malformed, Text: "the line is not one JSON object: a message is one line, without line breaks inside"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, f := read(dec, "", 0)
	if f == nil && v.kind != 'o' {
		f = &fault{Code: malformed, Text: "the line is not a JSON object"}
	}
	return v.object, f
}

// read takes the next value of a text that is valid JSON.
func read(dec *json.Decoder, at string, depth int) (value, *fault) {
	tok, err := dec.Token()
	switch t := tok.(type) {
	case json.Delim:
		if depth == maxDepth {
			return value{}, &fault{malformed, "the message nests too deep", at}
		}
		if t == '[' {
			return readArray(dec, at, depth)
		}
		return readObject(dec, at, depth)
	case string:
		return value{kind: 's', text: t}, nil
	case json.Number:
		return value{kind: 'n', text: t.String()}, nil
	case bool:
		return value{kind: 'b', text: strconv.FormatBool(t)}, nil
	}
	if err != nil {
		return value{}, &fault{malformed, "the message ends in the middle", at}
	}
	return value{kind: '0'}, nil
}

func readArray(dec *json.Decoder, at string, depth int) (value, *fault) {
	v := value{kind: 'a'}
	for dec.More() {
		one, f := read(dec, fmt.Sprintf("%s[%d]", at, len(v.list)), depth+1)
		if f != nil {
			return v, f
		}
		v.list = append(v.list, one)
	}
	_, _ = dec.Token()
	return v, nil
}

func readObject(dec *json.Decoder, at string, depth int) (value, *fault) {
	o := &object{at: at, values: map[string]value{}, fold: map[string]string{}}
	for dec.More() {
		tok, _ := dec.Token()
		key, _ := tok.(string)
		path := join(at, key)
		if twin, ok := o.fold[folded(key)]; ok {
			return value{}, &fault{malformed, "the key stands twice, first as " + strconv.Quote(cut(twin)), cut(path)}
		}
		v, f := read(dec, path, depth+1)
		if f != nil {
			return value{}, f
		}
		o.values[key], o.fold[folded(key)] = v, key
	}
	_, _ = dec.Token()
	return value{kind: 'o', object: o}, nil
}

// folded is a key without regard to case, as loose readers of JSON compare it.
func folded(key string) string { return strings.ToLower(strings.ToUpper(key)) }

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// cut bounds what an answer repeats of a message.
func cut(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// fields reads the fields of an object. The first fault stays.
type fields struct {
	*object
	fault *fault
}

func (r *fields) fail(name, format string, args ...any) {
	if r.fault == nil {
		r.fault = &fault{invalid, fmt.Sprintf(format, args...), cut(join(r.at, name))}
	}
}

// get returns a field; ok is false where it is absent, or where it is no value of that kind.
func (r *fields) get(name string, kind byte, required bool) (v value, ok bool) {
	written, ok := r.fold[folded(name)]
	switch {
	case !ok && required:
		r.fail(name, "missing")
	case ok && written != name:
		r.fail(written, "the key is written %s", name)
		return value{}, false
	case ok:
		v = r.values[name]
		if ok = v.kind == kind; !ok {
			r.fail(name, "%s where %s is wanted", kindName(v.kind), kindName(kind))
		}
	}
	return v, ok
}

func kindName(kind byte) string {
	switch kind {
	case 'o':
		return "an object"
	case 'a':
		return "an array"
	case 's':
		return "a string"
	case 'n':
		return "an integer"
	case 'b':
		return "true or false"
	}
	return "null"
}

// integer returns a whole number from low to high, 0 where an optional one is absent.
func (r *fields) integer(name string, required bool, low, high int64) int64 {
	v, ok := r.get(name, 'n', required)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(v.text, 10, 64) // takes no point and no exponent
	if err != nil || v.text == "-0" || n < low || n > high {
		r.fail(name, "want a whole number from %d to %d", low, high)
		return 0
	}
	return n
}

// text returns a string of 1 to most characters without control characters; "" where an optional
// one is absent.
func (r *fields) text(name string, required bool, most int) string {
	v, ok := r.get(name, 's', required)
	if ok && (v.text == "" || utf8.RuneCountInString(v.text) > most || strings.ContainsFunc(v.text, unicode.IsControl)) {
		r.fail(name, "want 1 to %d characters, none of them a control character", most)
	}
	return v.text
}

// name returns a string of 1 to most characters of the set of ids.
func (r *fields) name(name string, required bool, most int) string {
	s := r.text(name, required, most)
	if strings.ContainsFunc(s, notOfIDs) {
		r.fail(name, "want 1 to %d characters of A-Z a-z 0-9 . _ : -", most)
	}
	return s
}

func notOfIDs(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._:-", c)
}

func (r *fields) flag(name string) bool {
	v, ok := r.get(name, 'b', false)
	return ok && v.text == "true"
}
