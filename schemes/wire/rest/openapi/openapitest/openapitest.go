package openapitest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Document is a document that was read.
type Document struct {
	root     map[string]any
	Routes   []string // "GET /livez", in order
	Examples int      // that were held against their schemas
}

type object = map[string]any

// Read reads a document and checks it.
func Read(t testing.TB, data []byte) *Document {
	t.Helper()
	d := &Document{}
	require.NoError(t, json.Unmarshal(data, &d.root), string(data))
	require.Equal(t, "3.1.0", d.root["openapi"])
	servers := list(d.root["servers"])
	require.NotEmpty(t, servers)
	require.NotEmpty(t, at(servers[0], "url"))
	ids := map[string]bool{}
	for path, ops := range at(d.root, "paths").(object) {
		for method, v := range ops.(object) {
			name, op := strings.ToUpper(method)+" "+path, v.(object)
			d.Routes = append(d.Routes, name)
			id := op["operationId"].(string)
			require.False(t, id == "" || ids[id], "%s: operationId %q", name, id)
			ids[id] = true
			require.NotEmpty(t, op["summary"], name)
			for _, s := range list(op["security"]) {
				for proof := range s.(object) {
					require.NotNil(t, at(d.root, "components", "securitySchemes", proof), "%s: %s", name, proof)
				}
			}
			d.parameters(t, name, op)
			if body, ok := op["requestBody"].(object); ok {
				d.content(t, name+" request", body)
			}
			answers := op["responses"].(object)
			require.Contains(t, answers, "default", name)
			for status, a := range answers {
				d.content(t, name+" "+status, d.resolve(t, a.(object)))
			}
		}
	}
	slices.Sort(d.Routes)
	return d
}

// Part returns a part of the document as JSON.
func (d *Document) Part(t testing.TB, path ...string) string {
	t.Helper()
	data, err := json.Marshal(at(d.root, path...))
	require.NoError(t, err)
	return string(data)
}

// Request returns the example of a route's request, "" where it has no body of JSON.
func (d *Document) Request(t testing.TB, method, path string) string {
	t.Helper()
	example := at(d.root, "paths", path, strings.ToLower(method), "requestBody", "content", "application/json", "example")
	if example == nil {
		return ""
	}
	data, err := json.Marshal(example)
	require.NoError(t, err)
	return string(data)
}

// parameters checks that the pieces in braces of a path are its path parameters, and that a write takes a key.
func (d *Document) parameters(t testing.TB, name string, op object) {
	t.Helper()
	var want, got []string
	for piece := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(piece, "{") {
			want = append(want, strings.Trim(piece, "{}"))
		}
	}
	keyed := false
	for _, v := range list(op["parameters"]) {
		p := v.(object)
		if p["in"] == "path" {
			require.Equal(t, true, p["required"], name)
			got = append(got, p["name"].(string))
		}
		keyed = keyed || p["in"] == "header" && p["name"] == "Idempotency-Key"
		require.Empty(t, d.Flaw(p["schema"], p["example"]), "%s: %s", name, p["name"])
		d.Examples++
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got, name)
	answers := op["responses"].(object)
	require.Equal(t, keyed, answers["504"] != nil, "%s: a write, and only a write, may leave its outcome unknown", name)
	require.Equal(t, keyed, answers["422"] != nil, name)
}

// content checks the bodies of a request or a reply. One without a body has none.
func (d *Document) content(t testing.TB, name string, body object) {
	t.Helper()
	kinds, _ := body["content"].(object)
	for kind, v := range kinds {
		media := v.(object)
		require.NotNil(t, media["schema"], "%s %s", name, kind)
		if example, there := media["example"]; there || kind != "text/plain" {
			require.True(t, there, "%s %s: an example is missing", name, kind)
			require.Empty(t, d.Flaw(media["schema"], example), "%s %s: its example", name, kind)
			d.Examples++
		}
	}
}

// resolve follows a reference.
func (d *Document) resolve(t testing.TB, v object) object {
	t.Helper()
	ref, ok := v["$ref"].(string)
	if !ok {
		return v
	}
	out, ok := at(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(object)
	require.True(t, ok, "%s leads nowhere", ref)
	return out
}

// Fits requires that an answer of a server is one that the document describes for the route.
func (d *Document) Fits(t testing.TB, method, path string, status int, body string) {
	t.Helper()
	name := fmt.Sprintf("%s %s %d", method, path, status)
	answer, ok := at(d.root, "paths", path, strings.ToLower(method), "responses", strconv.Itoa(status)).(object)
	require.True(t, ok, "%s is not described: %s", name, body)
	kinds, _ := d.resolve(t, answer)["content"].(object)
	require.Len(t, kinds, 1, name)
	for _, media := range kinds {
		var value any
		require.NoError(t, json.Unmarshal([]byte(body), &value), body)
		require.Empty(t, d.Flaw(at(media, "schema"), value), "%s: %s", name, body)
	}
}

// Flaw says where a value does not fit a schema, "" = it fits. It knows the words of JSON Schema that our documents use.
func (d *Document) Flaw(schema, value any) string { return d.flaw("", schema, value) }

func (d *Document) flaw(where string, schema, value any) string {
	s, ok := schema.(object)
	if !ok {
		return where + ": no schema"
	}
	if ref, ok := s["$ref"].(string); ok {
		return d.flaw(where, at(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), value)
	}
	if any := list(s["anyOf"]); len(any) > 0 {
		why := ""
		for _, one := range any {
			if why = d.flaw(where, one, value); why == "" {
				return ""
			}
		}
		return why
	}
	if kinds, there := s["type"]; there {
		one, single := kinds.(string)
		fits := single && is(value, one)
		for _, kind := range list(kinds) {
			fits = fits || is(value, kind.(string))
		}
		if !fits {
			return fmt.Sprintf("%s: %v is no %v", where, value, kinds)
		}
	}
	if words := list(s["enum"]); len(words) > 0 && !slices.Contains(words, value) {
		return fmt.Sprintf("%s: %v is none of %v", where, value, words)
	}
	switch v := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); s["format"] == "date-time" && err != nil {
			return where + ": no time"
		}
		if least, ok := s["minLength"].(float64); ok && float64(len(v)) < least {
			return where + ": too short"
		}
		if most, ok := s["maxLength"].(float64); ok && float64(len(v)) > most {
			return where + ": too long"
		}
	case float64:
		if least, ok := s["minimum"].(float64); ok && v < least {
			return where + ": too small"
		}
	case []any:
		for i, item := range v {
			if s["items"] == nil {
				break
			}
			if why := d.flaw(fmt.Sprintf("%s[%d]", where, i), s["items"], item); why != "" {
				return why
			}
		}
	case object:
		for _, name := range list(s["required"]) {
			if _, there := v[name.(string)]; !there {
				return fmt.Sprintf("%s: %v is missing", where, name)
			}
		}
		known, _ := s["properties"].(object)
		for name, member := range v {
			inner, there := known[name]
			if !there {
				if inner, there = s["additionalProperties"]; !there && known != nil {
					return where + ": " + name + " is not described"
				}
			}
			if inner == nil {
				continue
			}
			if why := d.flaw(where+"."+name, inner, member); why != "" {
				return why
			}
		}
	}
	return ""
}

// is returns whether a value is of a kind of JSON Schema.
func is(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	case []any:
		return kind == "array"
	case object:
		return kind == "object"
	}
	return false
}

func at(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
