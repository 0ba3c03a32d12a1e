package openapi

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// schemas collects the schemas of named types.
type schemas struct {
	defs  object
	types map[reflect.Type]Type
	words map[reflect.Type]Words
	reply bool // fields are described as a reply has them

	called map[string]reflect.Type // by the name of its schema
	shared map[string]bool         // names that several types have
	again  bool                    // one more was found
}

var (
	fromText = reflect.TypeFor[encoding.TextUnmarshaler]()
	pending  = reflect.TypeFor[*wire.Pending]()
)

// of returns the schema of a type, which for a named struct is a reference.
func (s *schemas) of(t reflect.Type) object {
	if known, ok := s.types[t]; ok {
		var schema object
		if json.Unmarshal([]byte(known.Schema), &schema) != nil {
			panic("openapi: the schema of " + t.String() + " is no JSON object")
		}
		return schema
	}
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[json.Number]():
		return object{"type": "number"}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[wire.Secret](), reflect.TypeFor[wire.PAN]():
		return object{"type": "string", "format": "password"}
	}
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(fromText) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16:
		return object{"type": "integer", "format": "int32"}
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.named(t)
	}
	return object{}
}

// named returns a reference to a struct's schema, or the schema itself where the struct has no name of its own.
func (s *schemas) named(t reflect.Type) object {
	if t.Name() == "" || strings.Contains(t.String(), "[") {
		return s.object(t)
	}
	name := s.name(t)
	if s.defs[name] == nil {
		s.defs[name] = object{} // a type that holds itself
		s.defs[name] = s.object(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// name is what a type is called: its own name, with its package before it where another type has that name, too, and with the folders of
// that where it still has.
func (s *schemas) name(t reflect.Type) string {
	name := capital(t.Name())
	if s.shared[name] {
		pkg, _, _ := strings.Cut(t.String(), ".")
		name = capital(pkg) + name
	}
	if s.shared[name] {
		for folder := range strings.FieldsFuncSeq(t.PkgPath(), func(r rune) bool { return r == '/' || r == '.' }) {
			name = capital(folder) + name
		}
	}
	if of := s.called[name]; of != nil && of != t {
		s.shared[name], s.again = true, true
	}
	s.called[name] = t
	return name
}

// capital begins a name with a capital letter.
func capital(name string) string {
	name = strings.ReplaceAll(name, "_", "")
	return strings.ToUpper(name[:1]) + name[1:]
}

func (s *schemas) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		schema := s.of(f.Type)
		if words := s.words[t][f.name]; words != nil {
			schema["enum"] = words
		}
		if s.reply && !f.optional && f.mayBeNull() {
			schema = orNull(schema)
		}
		properties[f.name] = schema
		if s.reply && !f.optional || !s.reply && f.required {
			required = append(required, f.name)
		}
	}
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// mayBeNull says that an empty field is written as null: a pointer, a map, a secret that a foreign service may leave out.
func (f field) mayBeNull() bool {
	secret := f.Type == reflect.TypeFor[wire.Secret]() && slices.Contains(strings.Split(f.Tag.Get("wire"), ","), "nullable")
	return secret || f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Map
}

func orNull(schema object) object {
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []string{kind, "null"}
		return schema
	}
	if len(schema) == 0 {
		return schema
	}
	return object{"anyOf": []object{schema, {"type": "null"}}}
}

// field is a field of a body.
type field struct {
	reflect.StructField
	name     string
	optional bool // left out where it is empty
	required bool // of a request
}

// fieldsOf lists the fields of a body, without those that stand in the address.
func fieldsOf(t reflect.Type) (list []field) {
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || tag == "-" || f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			continue
		}
		if name == "" {
			name = f.Name
		}
		list = append(list, field{
			StructField: f, name: name, optional: strings.Contains(options, "omit"),
			required: slices.Contains(strings.Split(f.Tag.Get("wire"), ","), "required"),
		})
	}
	return list
}

// bodyOf returns the type of a request's body: the request, or what it embeds where nothing else of it is in the body.
func bodyOf(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Struct {
		return t
	}
	var embedded []reflect.Type
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "":
			if len(fieldsOf(f.Type)) > 0 {
				embedded = append(embedded, f.Type)
			}
		case f.IsExported() && f.Tag.Get("json") != "-":
			return t
		}
	}
	if len(embedded) == 1 {
		return bodyOf(embedded[0])
	}
	return t
}

// statusOf returns the field of a reply that is its HTTP status.
func statusOf(t reflect.Type) (reflect.StructField, bool) {
	if t != nil && t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			if f.Tag.Get("rest") == "status" {
				return f, true
			}
		}
	}
	return reflect.StructField{}, false
}
