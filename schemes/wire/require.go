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
		return notNull(at, raw)
	})
}

// NotNull reports every path of paths that is present and null.
func NotNull(data []byte, paths ...string) error {
	return eachPath(data, paths, func(at string, found bool, raw json.RawMessage) error {
		if !found {
			return nil
		}
		return notNull(at, raw)
	})
}

func notNull(at string, raw json.RawMessage) error {
	if isNull(raw) {
		return &FieldError{Path: at, Reason: "null where a value is required", Code: Invalid}
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return strings.TrimSpace(string(raw)) == "null" }

type pathCheck func(at string, found bool, raw json.RawMessage) error

func eachPath(data []byte, paths []string, check pathCheck) error {
	var errs []error
	for _, p := range paths {
		walk(data, strings.Split(p, "."), "", check, &errs)
	}
	return errors.Join(errs...)
}

func walk(data json.RawMessage, path []string, at string, check pathCheck, errs *[]error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || object == nil {
		return // absent, null or another kind of parent: Decode's business
	}
	name, list := strings.CutSuffix(path[0], "[]")
	if at != "" {
		at += "."
	}
	at += name
	raw, found := object[name]
	if len(path) == 1 {
		if err := check(at, found, raw); err != nil {
			*errs = append(*errs, err)
		}
		return
	}
	if !found || isNull(raw) {
		return
	}
	if !list {
		walk(raw, path[1:], at, check, errs)
		return
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return
	}
	for i, item := range items {
		walk(item, path[1:], at+"["+strconv.Itoa(i)+"]", check, errs)
	}
}
