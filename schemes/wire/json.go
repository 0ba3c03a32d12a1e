package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
)

// Decode reads exactly one JSON text into the value that into points at. Unknown keys are ignored;
// what else is refused is listed in the package comment. Fields tagged `wire:"required"` must stand in the text, where what
// they stand in does. In strings tagged `wire:"masked"` card numbers are masked. On success the value is replaced,
// on error it is left as it was, and the error is a *FieldError naming the path, or several joined.
func Decode(data []byte, into any) error { return decode(data, into, true, false) }

// DecodeReply is Decode for what another service says: its texts stay as they are, because a client compares them with its own.
func DecodeReply(data []byte, into any) error { return decode(data, into, false, false) }

func decode(data []byte, into any, mask, own bool) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errors.New("wire.Decode: want a non-nil pointer")
	}
	lacks, err := scan(data, v.Elem().Type(), own)
	if err != nil {
		return err
	}
	fresh := reflect.New(v.Elem().Type())
	if err := json.Unmarshal(data, fresh.Interface()); err != nil {
		var fe *FieldError
		if errors.As(err, &fe) {
			return fe
		}
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) {
			return &FieldError{Path: te.Field, Reason: "wrong type", Code: Invalid}
		}
		return &FieldError{Reason: "not readable", Code: Invalid}
	}
	info := infoOf(v.Elem().Type())
	if lacks { // which takes a pass of the text for each field to say
		if err := Required(data, info.required...); err != nil {
			return err
		}
	}
	if mask && info.masked {
		visit(nil, fresh.Elem(), func(f *fieldInfo, v reflect.Value) {
			if f != nil && f.masked && v.Kind() == reflect.String {
				v.SetString(MaskPANs(v.String()))
			}
		})
	}
	v.Elem().Set(fresh.Elem())
	return nil
}

// Parse is Decode into a fresh T, with the error as the contracts have it: *Error with code Invalid or TooLarge, which names
// every field. op names the call in it.
func Parse[T any](op string, data []byte) (T, error) {
	var v T
	if err := Decode(data, &v); err != nil {
		return v, AsError(op, err)
	}
	return v, nil
}

// ParseOwn is Parse for an interface of the terminal's own: a name that T does not have is a mistake of the caller's, who would else be
// taken to have said nothing of it; in a service's text it may be a newer service's.
func ParseOwn[T any](op string, data []byte) (T, error) {
	var v T
	if err := decode(data, &v, true, true); err != nil {
		return v, AsError(op, err)
	}
	return v, nil
}

// Check applies Decode's rules to a JSON text of any shape, without reading it into anything.
func Check(data []byte) error {
	_, err := scan(data, nil, false)
	return err
}

// scan checks a text against t; own refuses names that t does not have. lacks says that a field which t requires may be missing; without
// it none is.
func scan(data []byte, t reflect.Type, own bool) (lacks bool, err error) {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return false, &FieldError{Reason: "starts with a byte order mark", Code: Invalid}
	}
	s := &scanner{data: data, own: own}
	s.space()
	if s.pos == len(data) {
		return false, &FieldError{Reason: "empty", Code: Invalid}
	}
	if bytes.HasPrefix(data[s.pos:], []byte("null")) && t != nil {
		return false, &FieldError{Reason: "null where a value is required", Code: Invalid}
	}
	if err := s.value(t, true); err != nil {
		return false, err
	}
	s.space()
	if s.pos != len(data) {
		return false, &FieldError{Reason: "bytes after the end of the text", Code: Invalid}
	}
	return s.lacks, nil
}

// value checks one value against t; t nil accepts any. optional allows null.
func (s *scanner) value(t reflect.Type, optional bool) error {
	for t != nil && t.Kind() == reflect.Pointer && !t.Implements(jsonUnmarshaler) {
		t, optional = t.Elem(), true
	}
	opaque := false
	if t != nil && !bare(t) {
		switch {
		case t == rawMessage, t.Kind() == reflect.Interface:
			optional, t = true, nil
		case t.Implements(jsonUnmarshaler) || reflect.PointerTo(t).Implements(jsonUnmarshaler):
			optional = optional || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map || t.Kind() == reflect.Slice
			opaque = true
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
			optional = true
		}
	}
	if s.pos >= len(s.data) {
		return bad("ends in the middle")
	}
	c := s.data[s.pos]
	if c == 'n' {
		if err := s.word("null"); err != nil {
			return err
		}
		if !optional {
			return bad("null where a value is required")
		}
		return nil
	}
	if opaque {
		s.lacks = s.lacks || len(infoOf(t).required) > 0
		t = nil
	}
	if t != nil {
		if want, ok := fits(t, c); !ok {
			return bad("%s where %s is wanted", kindOf(c), want)
		}
	}
	switch {
	case c == '{':
		return s.object(t)
	case c == '[':
		return s.array(t)
	case c == '"':
		_, _, err := s.quoted()
		return err
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == '-' || c >= '0' && c <= '9':
		return s.number(t)
	}
	return bad("not JSON")
}

func (s *scanner) object(t reflect.Type) error {
	if err := s.enter(); err != nil {
		return err
	}
	var info structInfo
	var elem reflect.Type
	if t != nil {
		if t.Kind() == reflect.Struct {
			info = infoOf(t).fields
		} else {
			elem = t.Elem()
		}
	}
	if s.eat('}') {
		s.depth--
		s.lacks = s.lacks || info.lacks(nil)
		return nil
	}
	seen := map[string]struct{}{}
	for {
		if s.pos >= len(s.data) || s.data[s.pos] != '"' {
			return bad("a key was expected")
		}
		key, err := s.text()
		if err != nil {
			return err
		}
		if _, twice := seen[key]; twice {
			return under(bad("duplicate key"), show(key))
		}
		seen[key] = struct{}{}
		typ, optional, required, rule := elem, elem == nil, false, rules{}
		if f := info.field(key); f != nil {
			typ, optional, required, rule = f.typ, f.optional, f.required, f.rules
		} else {
			for i := range info {
				if SameName(key, info[i].name) {
					return under(bad("differs from %q in the case of its letters, or in blanks", info[i].name), show(key))
				}
			}
			if s.own && info != nil {
				return under(bad("unknown: known are %s", info.names()), show(key))
			}
		}
		s.space()
		if !s.eat(':') {
			return bad("a colon was expected") // which may be a secret that slipped into a name's place
		}
		s.space()
		s.lacks = s.lacks || required && s.pos < len(s.data) && s.data[s.pos] == 'n'
		if err := s.blank(rule, typ); err != nil {
			return under(err, show(key))
		}
		if err := s.value(typ, optional); err != nil {
			return under(err, show(key))
		}
		s.space()
		if s.eat(',') {
			s.space()
			continue
		}
		if s.eat('}') {
			s.depth--
			s.lacks = s.lacks || info.lacks(seen)
			return nil
		}
		return bad("a comma or the end of an object was expected")
	}
}

// blank refuses the next value where it is none and its field, absent, would mean all, the last or a default: a caller whose
// variable was not set writes null, "" or 0, and must not be taken to mean that.
func (s *scanner) blank(r rules, t reflect.Type) error {
	rest := s.data[s.pos:]
	if r.given && len(rest) > 0 && t != nil && t.Kind() == reflect.String && bytes.IndexByte([]byte("{[tf"), rest[0]) >= 0 {
		return bad("%s where a text or a number is required", kindOf(rest[0]))
	}
	switch {
	case r.notNull && bytes.HasPrefix(rest, []byte("null")):
		return bad("null where a value is required")
	case !r.given:
		return nil
	case bytes.HasPrefix(rest, []byte(`""`)):
		return bad("an empty text where a value is required (leave the field out, or give one)")
	}
	number := rest[:len(rest)-len(bytes.TrimLeft(rest, "-0123456789.eE+"))]
	if mantissa, _, _ := bytes.Cut(bytes.ToLower(number), []byte("e")); len(mantissa) > 0 && len(bytes.Trim(mantissa, "-0.")) == 0 {
		return bad("zero where a value is required (leave the field out, or give one)")
	}
	return nil
}

func (s *scanner) array(t reflect.Type) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.eat(']') {
		s.depth--
		return nil
	}
	var elem reflect.Type
	if t != nil {
		elem = t.Elem()
	}
	for i := 0; ; i++ {
		if err := s.value(elem, elem == nil); err != nil {
			return under(err, "["+strconv.Itoa(i)+"]")
		}
		s.space()
		if s.eat(',') {
			s.space()
			continue
		}
		if s.eat(']') {
			s.depth--
			return nil
		}
		return bad("a comma or the end of an array was expected")
	}
}

func (s *scanner) number(t reflect.Type) error {
	start := s.pos
	s.eat('-')
	if !s.eat('0') && !s.digits() {
		return bad("not a number")
	}
	whole := true
	if s.eat('.') {
		if whole = false; !s.digits() {
			return bad("not a number")
		}
	}
	if s.eat('e') || s.eat('E') {
		whole = false
		if !s.eat('+') {
			s.eat('-')
		}
		if !s.digits() {
			return bad("not a number")
		}
	}
	if t == nil || t == jsonNumber {
		return nil
	}
	return inRange(string(s.data[start:s.pos]), whole, t)
}
