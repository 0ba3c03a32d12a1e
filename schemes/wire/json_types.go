package wire

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// structInfo is what the decoder knows of a struct: its wire names.
type structInfo struct {
	names  []string
	fields map[string]fieldInfo
}

type fieldInfo struct {
	typ      reflect.Type // nil: opaque
	optional bool
}

var (
	rawMessage      = reflect.TypeFor[json.RawMessage]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
	jsonNumber      = reflect.TypeFor[json.Number]()
)

func kindOf(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}

// fits says whether a value beginning with c can be read into t, and what t wants.
func fits(t reflect.Type, c byte) (want string, ok bool) {
	if t == jsonNumber {
		return "a number", c == '-' || c >= '0' && c <= '9'
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return "a string", c == '"'
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object", c == '{'
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a base64 string", c == '"'
		}
		return "an array", c == '['
	case reflect.Array:
		return "an array", c == '['
	case reflect.String:
		return "a string", c == '"'
	case reflect.Bool:
		return "a boolean", c == 't' || c == 'f'
	}
	return "a number", c == '-' || c >= '0' && c <= '9'
}

func inRange(text string, whole bool, t reflect.Type) error {
	var err error
	switch k := t.Kind(); k {
	case reflect.Float32, reflect.Float64:
		_, err = strconv.ParseFloat(text, t.Bits())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if !whole || text == "-0" {
			return bad("not written as an integer")
		}
		_, err = strconv.ParseInt(text, 10, t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if !whole || text == "-0" {
			return bad("not written as an integer")
		}
		_, err = strconv.ParseUint(text, 10, t.Bits())
	default:
		return bad("a number where none is wanted")
	}
	if err != nil {
		return bad("out of range of %s", t.Kind())
	}
	return nil
}

func (s *scanner) info(t reflect.Type) *structInfo {
	if in := s.infos[t]; in != nil {
		return in
	}
	in := &structInfo{fields: map[string]fieldInfo{}}
	s.infos[t] = in
	s.collect(t, in)
	return in
}

func (s *scanner) collect(t reflect.Type, in *structInfo) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, opts, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				s.collect(inner, in)
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		fi := fieldInfo{typ: f.Type, optional: f.Tag.Get("wire") == "nullable"}
		for _, o := range strings.Split(opts, ",") {
			switch o {
			case "omitempty", "omitzero":
				fi.optional = true
			case "string":
				fi.typ = nil
			}
		}
		if _, known := in.fields[name]; !known {
			in.names = append(in.names, name)
			in.fields[name] = fi
		}
	}
}
