package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

const exampleKey = "01936f0e-7c1a-7b3e-9a52-4d1f0c2b8e77"

// request returns the example of a request body: the one that was given, or one made from its type.
func (s *schemas) request(t reflect.Type, given string) (any, error) {
	if given == "" {
		return s.example(t, "", false, 0), nil
	}
	if !json.Valid([]byte(given)) {
		return nil, fmt.Errorf("its example is no JSON: %s", given)
	}
	return json.RawMessage(given), nil
}

// example makes an example of a type. name is that of its field; withPending fills in a pending operation.
func (s *schemas) example(t reflect.Type, name string, withPending bool, depth int) any {
	if known, ok := s.types[t]; ok {
		return json.RawMessage(known.Example)
	}
	switch t {
	case pending:
		return object{"key": exampleKey, "status": "pending"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[json.Number]():
		return 1250
	case reflect.TypeFor[time.Time]():
		return "2026-11-22T10:00:00Z"
	}
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(fromText) {
		return valueOf(name, reflect.TypeFor[string]())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.example(t.Elem(), name, withPending, depth)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "cG9zYWdlbnQ="
		}
		if depth > 4 {
			return []any{}
		}
		return []any{s.example(t.Elem(), name, false, depth+1)}
	case reflect.Map, reflect.Interface:
		return object{}
	case reflect.Struct:
		out := object{}
		for _, f := range fieldsOf(t) {
			switch {
			case f.Type == pending && !withPending || f.Type != pending && f.optional && !f.required || depth > 8:
			case s.words[t][f.name] != nil:
				out[f.name] = s.words[t][f.name][0]
			default:
				out[f.name] = s.example(f.Type, f.name, withPending, depth+1)
			}
		}
		return out
	}
	return valueOf(name, t)
}

// words are examples of texts, by how the name of a field ends. The first that fits counts.
var words = [...][2]string{
	{"paymentid", "0193a5b27c1a7b3e9a524d1f0c2b8e77"}, {"key", exampleKey}, {"uuid", exampleKey}, {"lasteventid", "1-1"},
	{"currency", "EUR"}, {"currencycode", "EUR"}, {"currencyalpha3", "EUR"}, {"countrycode", "DK"}, {"country", "DK"}, {"countryiso", "DK"},
	{"email", "ada@shop.example"}, {"phone", "+4512345678"}, {"url", "https://shop.example/thanks"}, {"uri", "https://shop.example/thanks"},
	{"link", "https://shop.example/thanks"}, {"src", "https://shop.example/field"}, {"date", "2026-11-22"}, {"time", "2026-11-22T10:00:00Z"},
	{"timestamp", "2026-11-22T10:00:00Z"}, {"than", "2026-11-22 10:00:00"}, {"created", "2026-11-22T10:00:00Z"}, {"updated", "2026-11-22T10:00:00Z"}, {"lang", "en"},
	{"language", "en"}, {"amount", "1250"}, {"instance", "demo"}, {"type", "payment"}, {"responsecode", "00"}, {"flag", "N"}, {"id", "7"},
	{"number", "7"}, {"status", "waiting"}, {"", "text"},
}

// valueOf returns an example of a plain value.
func valueOf(name string, t reflect.Type) any {
	name = strings.ToLower(name)
	switch t.Kind() {
	case reflect.Bool:
		return true
	case reflect.String:
		for _, w := range words {
			if strings.HasSuffix(name, w[0]) {
				return w[1]
			}
		}
	}
	if strings.HasSuffix(name, "amount") {
		return 1250
	}
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Struct { // a type with a text form of its own
		return "7"
	}
	return 1
}
