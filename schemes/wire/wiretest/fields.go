package wiretest

import (
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire/rest"
)

// Fields holds a specification's field list against Go types. The file has one line per field,
// "<type>.<path> <kind>", where path uses "." and "[]" as in "purchaseAmount.totalAmount" and kind is one of string,
// integer32, integer64, number, boolean, object, array, map, any. Every line must be present in the types, and every
// field of the types (but those in ours) must be in the file.
func Fields(t *testing.T, file string, types map[string]any, ours ...string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		path, kind, ok := strings.Cut(line, " ")
		require.True(t, ok, line)
		require.NotContains(t, want, path, "twice in the list")
		want[path] = kind
	}
	got := map[string]string{}
	for name, v := range types {
		list(reflect.TypeOf(v), name, got)
	}
	for _, name := range ours {
		require.Contains(t, got, name)
		delete(got, name)
	}
	require.Equal(t, want, got)
}

// Compared fails for a body of a service's table that is none of the types which Fields compares: a new write, or a new reply, brings
// its fields along. A request may hold its body beside what stands in its address. Other bodies stand in besides, with the reason.
func Compared(t *testing.T, table []rest.Info, types map[string]any, besides map[string]string) {
	t.Helper()
	known := map[reflect.Type]bool{}
	for _, v := range types {
		known[reflect.TypeOf(v)] = true
	}
	met := map[string]bool{}
	for _, i := range table {
		for _, body := range []reflect.Type{i.In, i.Out} {
			field := unknown(body, known)
			if _, ok := besides[body.String()]; ok {
				require.NotEmpty(t, field, "%s is compared: take it out of besides", body)
				met[body.String()] = true
				continue
			}
			require.Empty(t, field, "%s has %s, which no field list is compared with", i.Op, body)
		}
	}
	for name := range besides {
		require.True(t, met[name], "%s is no body of the table: take it out of besides", name)
	}
}

// unknown returns a field of a body that belongs to no known type, "" = each does.
func unknown(t reflect.Type, known map[reflect.Type]bool) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if known[t] || t.Kind() != reflect.Struct {
		return ""
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("json") != "-" && (!f.Anonymous || unknown(f.Type, known) != "") {
			return t.String() + "." + f.Name
		}
	}
	return ""
}

// Exercised holds a specification's field list against the transcripts of testdata/both, which client and handler agree with:
// each name must stand in a request or a response, or in what is sent besides.
func Exercised(t *testing.T, file string, besides ...string) {
	t.Helper()
	list, err := os.ReadFile(file)
	require.NoError(t, err)
	all := strings.Join(besides, "\n")
	for _, tr := range Load(t, "testdata/both") {
		all += tr.parts["request"] + tr.parts["response"]
	}
	met, of := 0, 0
	for line := range strings.Lines(string(list)) {
		if path, _, ok := strings.Cut(line, " "); ok && path[0] != '#' {
			of++
			if strings.Contains(all, `"`+path[strings.LastIndex(path, ".")+1:]+`":`) {
				met++
			} else {
				t.Error("not exercised:", path)
			}
		}
	}
	t.Logf("%d of %d fields exercised", met, of)
	require.Equal(t, of, met)
	require.Positive(t, of)
}

func list(t reflect.Type, at string, out map[string]string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case isText(t):
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name == "-" || t.Field(i).Name == "_" {
				continue
			}
			path := at + "." + name
			out[path] = kind(t.Field(i).Type)
			list(t.Field(i).Type, path, out)
		}
	case t == reflect.TypeFor[json.RawMessage]():
	case t.Kind() == reflect.Slice:
		list(t.Elem(), at+"[]", out)
	case t.Kind() == reflect.Map:
		list(t.Elem(), at+"{}", out)
	}
}

func kind(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if isText(t) {
		return "string"
	}
	switch t.Kind() {
	case reflect.String:
		if t == reflect.TypeFor[json.Number]() {
			return "number"
		}
		return "string"
	case reflect.Int32, reflect.Int:
		return "integer32"
	case reflect.Int64:
		return "integer64"
	case reflect.Bool:
		return "boolean"
	case reflect.Map:
		return "map"
	case reflect.Struct:
		return "object"
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return "any"
		}
		return "array"
	}
	return t.String()
}

// isText says that a type is read from a text, whatever it is made of.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
