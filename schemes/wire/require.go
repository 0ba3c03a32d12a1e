package wire

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Required reports every path of paths that is absent or null in a text that Decode accepted.
// A path is "a.b" or "a[].b"; what stands below an absent optional parent is not required:
// to demand the parent too, list it. The errors are *FieldError, joined.
func Required(data []byte, paths ...string) error {
	return eachPath(data, paths, func(at string, found bool, raw json.RawMessage) error {
		if !found {
			return &FieldError{Path: at, Reason: "missing", Code: Invalid}
		}
		if isNull(raw) {
			return &FieldError{Path: at, Reason: "null where a value is required", Code: Invalid}
		}
		return nil
	})
}

func isNull(raw json.RawMessage) bool { return strings.TrimSpace(string(raw)) == "null" }

type pathCheck func(at string, found bool, raw json.RawMessage) error

func eachPath(data []byte, paths []string, check pathCheck) error {
	var errs []error
	for _, p := range paths {
		walk(data, p, "", check, &errs)
	}
	return errors.Join(errs...)
}

// walk checks a path below at. An absent parent, null, or another kind of one is Decode's business.
func walk(data []byte, path, at string, check pathCheck, errs *[]error) {
	name, rest, deeper := strings.Cut(path, ".")
	name, list := strings.CutSuffix(name, "[]")
	if at != "" {
		at += "."
	}
	at += name
	raw, found, object := member(data, name)
	switch {
	case !object:
	case !deeper:
		if err := check(at, found, raw); err != nil {
			*errs = append(*errs, err)
		}
	case !list:
		walk(raw, rest, at, check, errs)
	default:
		s := &scanner{data: raw}
		s.space()
		for i := 0; s.eat('[') || i > 0 && s.eat(','); i++ {
			item := s.skip()
			walk(item, rest, at+"["+strconv.Itoa(i)+"]", check, errs)
		}
	}
}

// member finds a key of the object that data is; the last of several.
func member(data []byte, name string) (raw json.RawMessage, found, object bool) {
	s := &scanner{data: data}
	s.space()
	if !s.eat('{') {
		return nil, false, false
	}
	for {
		s.space()
		if s.pos == len(data) || data[s.pos] != '"' {
			return raw, found, true // its end
		}
		quoted, escaped, err := s.quoted()
		if err != nil {
			return raw, found, true
		}
		key := quoted[1 : len(quoted)-1]
		same := string(key) == name
		if escaped {
			plain, err := unquote(quoted)
			same = err == nil && plain == name
		}
		s.space()
		s.eat(':')
		value := s.skip()
		if same {
			raw, found = value, true
		}
		s.eat(',')
	}
}
