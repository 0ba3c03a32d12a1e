package wire

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// typeInfo is what the tags of a type say. It is made once of each type.
type typeInfo struct {
	fields   structInfo // of a struct
	required []string   // paths of the fields that must stand in a text, as Required reads them
	masked   bool       // a field of it, or below it, hides card numbers
	special  bool       // Encode writes it in another way than encoding/json
}

// structInfo are the fields of a struct by their wire names, in the order they are written.
type structInfo []fieldInfo

type fieldInfo struct {
	name      string
	label     []byte // the name as Encode writes it, with its colon
	index     []int
	typ       reflect.Type // nil: opaque
	optional  bool
	omitEmpty bool
	omitZero  bool
	rules
}

// revealer is a type that masks itself wherever it is printed or marshalled: Secret and PAN.
type revealer interface{ Reveal() string }

// rules is what the tag `wire:"…"` of a field says.
type rules struct {
	nullable bool // null is read as the zero value; Encode writes an empty secret as null
	required bool // it must stand in a text that is read
	notNull  bool // it may be absent, but not null
	given    bool // it may be absent, but not null, an empty text or a zero: absent means all, the last or a default
	masked   bool // card numbers in it are masked as it is read
	list     bool // Encode writes a nil list as [], a nil map as {}
}

// rulesOf reads the tag of a field. It panics at a word that is none, which is a mistake of the program.
func rulesOf(f reflect.StructField) (r rules) {
	tag := f.Tag.Get("wire")
	if tag == "" {
		return r
	}
	for word := range strings.SplitSeq(tag, ",") {
		switch word {
		case "nullable":
			r.nullable = true
		case "required":
			r.required = true
		case "notnull":
			r.notNull = true
		case "given":
			r.notNull, r.given = true, true
		case "masked":
			r.masked = true
		case "list":
			r.list = true
		default:
			panic("wire: " + f.Name + ": no such word in a tag: " + strconv.Quote(word))
		}
	}
	return r
}

// InAddress refuses an address with a parameter that a body of type t would have, where its absence means all, the last or a default:
// the address is not read for it, and a caller who put it there has not left it out. The error is Invalid and names the parameter.
func InAddress(u *url.URL, t reflect.Type) error {
	for piece := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) { // Query leaves out what has a semicolon
		name, _, _ := strings.Cut(piece, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		name, _, _ = strings.Cut(name, "[")
		for _, f := range infoOf(t).fields {
			if f.notNull && SameName(name, f.name) {
				return &FieldError{Path: f.name, Reason: "stands in the address, where it is not read (put it into the body)", Code: Invalid}
			}
		}
	}
	return nil
}

// SameName says that a name is another one but for its letters' case and blanks around it.
func SameName(name, other string) bool { return strings.EqualFold(strings.TrimSpace(name), other) }

// field finds a field by its wire name; nil = there is none.
func (in structInfo) field(name string) *fieldInfo {
	for i := range in {
		if in[i].name == name {
			return &in[i]
		}
	}
	return nil
}

// names lists the names.
func (in structInfo) names() string {
	list := make([]string, len(in))
	for i := range in {
		list[i] = in[i].name
	}
	return strings.Join(list, ", ")
}

// lacks says that a required field is not among the keys of an object.
func (in structInfo) lacks(keys map[string]struct{}) bool {
	for i := range in {
		if _, ok := keys[in[i].name]; in[i].required && !ok {
			return true
		}
	}
	return false
}

// types holds the typeInfo of every type that was asked for. What stands in it never changes.
var types sync.Map // reflect.Type: *typeInfo

// infoOf returns what the tags of t and of the types below it say.
func infoOf(t reflect.Type) *typeInfo {
	if known, ok := types.Load(t); ok {
		return known.(*typeInfo)
	}
	info := gather(t, map[reflect.Type]bool{})
	types.Store(t, info)
	return info
}

// gather makes the typeInfo of t; above are the types it stands in, below which a recursive type is not followed again.
func gather(t reflect.Type, above map[reflect.Type]bool) *typeInfo {
	info := &typeInfo{}
	if bare(t) || above[t] {
		return info
	}
	if t.Implements(revealing) {
		info.special = true
		return info
	}
	opaque := t.Implements(jsonMarshaler) || t.Implements(textMarshaler)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		below := gather(t.Elem(), above)
		info.masked, info.special = below.masked, below.special
		if t.Kind() == reflect.Pointer {
			info.required = below.required
		}
	case reflect.Struct:
		above[t] = true
		info.fields = collect(t, nil, make(structInfo, 0, t.NumField()))
		for i := range info.fields {
			f := &info.fields[i]
			if f.required {
				info.required = append(info.required, f.name)
			}
			info.masked = info.masked || f.masked
			info.special = info.special || f.list
			if f.typ == nil {
				continue
			}
			below := gather(f.typ, above)
			info.masked, info.special = info.masked || below.masked, info.special || below.special
			under, list := f.typ, ""
			for under.Kind() == reflect.Pointer {
				under = under.Elem()
			}
			if under.Kind() == reflect.Slice || under.Kind() == reflect.Array {
				below, list = gather(under.Elem(), above), "[]"
			}
			for _, path := range below.required {
				info.required = append(info.required, f.name+list+"."+path)
			}
		}
		delete(above, t)
	}
	info.special = info.special && !opaque
	return info
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
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	textMarshaler   = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
	revealing       = reflect.TypeFor[revealer]()
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
	if c == '-' || c >= '0' && c <= '9' {
		return "a number"
	}
	return "no JSON value"
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

func collect(t reflect.Type, at []int, in structInfo) structInfo {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
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
				in = collect(inner, index, in)
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		fi := fieldInfo{name: name, index: index, typ: f.Type, rules: rulesOf(f)}
		fi.optional = fi.nullable
		for opts != "" {
			var o string
			switch o, opts, _ = strings.Cut(opts, ","); o {
			case "omitempty":
				fi.optional, fi.omitEmpty = true, true
			case "omitzero":
				fi.optional, fi.omitZero = true, true
			case "string":
				fi.typ = nil
			}
		}
		if in.field(name) == nil {
			label, _ := json.Marshal(name) // a text marshals
			fi.label = append(label, ':')
			in = append(in, fi)
		}
	}
	return in
}
