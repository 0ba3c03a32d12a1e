package wire

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// structInfo is what the decoder knows of a struct: its wire names.
type structInfo []fieldInfo

type fieldInfo struct {
	name     string
	typ      reflect.Type // nil: opaque
	optional bool
}

// field finds a field by its wire name; nil = there is none.
func (in structInfo) field(name string) *fieldInfo {
	for i := range in {
		if in[i].name == name {
			return &in[i]
		}
	}
	return nil
}

// bare says that a type is one of the language's own that holds no other: none has methods, and asking is dear.
func bare(t reflect.Type) bool {
	k := t.Kind()
	return (k <= reflect.Complex128 || k == reflect.String) && t.PkgPath() == ""
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
	if !bare(t) && reflect.PointerTo(t).Implements(textUnmarshaler) {
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

func (s *scanner) info(t reflect.Type) structInfo {
	in, known := s.infos[t]
	if !known {
		in = collect(t, make(structInfo, 0, t.NumField()))
		s.infos[t] = in
	}
	return in
}

func collect(t reflect.Type, in structInfo) structInfo {
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
				in = collect(inner, in)
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		fi := fieldInfo{name: name, typ: f.Type, optional: f.Tag.Get("wire") == "nullable"}
		for opts != "" {
			var o string
			switch o, opts, _ = strings.Cut(opts, ","); o {
			case "omitempty", "omitzero":
				fi.optional = true
			case "string":
				fi.typ = nil
			}
		}
		if in.field(name) == nil {
			in = append(in, fi)
		}
	}
	return in
}
