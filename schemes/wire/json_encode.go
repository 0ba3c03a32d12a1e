package wire

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Encode writes v as json.Marshal does, but with secrets and card numbers in it: it is the one way they leave, onto the wire.
// Keep what it returns out of logs, and sealed on a disk. A nil list tagged `wire:"list"` is written as [], a nil map as {}, an empty
// secret tagged `wire:"nullable"` as null. The error is json.Marshal's.
func Encode(v any) ([]byte, error) {
	if v == nil {
		return json.Marshal(v)
	}
	return encode(nil, reflect.ValueOf(v))
}

func encode(b []byte, v reflect.Value) ([]byte, error) {
	if !infoOf(v.Type()).special {
		return marshal(b, v.Interface())
	}
	if r, ok := v.Interface().(revealer); ok && v.Kind() != reflect.Pointer {
		return marshal(b, r.Reveal())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return encode(b, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Array || !v.IsNil() {
			return encodeList(b, v)
		}
	case reflect.Map:
		if !v.IsNil() {
			return encodeMap(b, v)
		}
	case reflect.Struct:
		return encodeStruct(b, v)
	}
	return append(b, "null"...), nil
}

func marshal(b []byte, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return append(b, data...), err
}

func encodeList(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = encode(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func encodeMap(b []byte, v reflect.Value) (_ []byte, err error) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = marshal(b, k.String()); err != nil {
			return nil, err
		}
		if b, err = encode(append(b, ':'), v.MapIndex(k)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func encodeStruct(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for _, f := range infoOf(v.Type()).fields {
		value, err := v.FieldByIndexErr(f.index)
		if err != nil || f.omitEmpty && empty(value) || f.omitZero && value.IsZero() {
			continue // or below an embedded nil pointer
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, f.label...)
		switch r, secret := value.Interface().(revealer); {
		case f.list && value.Kind() == reflect.Slice && value.IsNil():
			b = append(b, "[]"...)
		case f.list && value.Kind() == reflect.Map && value.IsNil():
			b = append(b, "{}"...)
		case f.nullable && secret && r.Reveal() == "":
			b = append(b, "null"...)
		default:
			if b, err = encode(b, value); err != nil {
				return nil, err
			}
		}
	}
	return append(b, '}'), nil
}

// empty says what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// visit calls f with v and everything it is made of, and with the field of a struct that it stands in, or nil.
func visit(field *fieldInfo, v reflect.Value, f func(*fieldInfo, reflect.Value)) {
	f(field, v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(nil, v.Elem(), f)
		}
	case reflect.Slice, reflect.Array:
		if !bare(v.Type().Elem()) {
			for i := range v.Len() {
				visit(nil, v.Index(i), f)
			}
		}
	case reflect.Map:
		if !bare(v.Type().Elem()) {
			for _, k := range v.MapKeys() {
				visit(nil, v.MapIndex(k), f)
			}
		}
	case reflect.Struct:
		fields := infoOf(v.Type()).fields
		for i := range fields {
			if value, err := v.FieldByIndexErr(fields[i].index); err == nil {
				visit(&fields[i], value, f)
			}
		}
	}
}

// Secrets returns every secret and card number in v, which a reply to it must not repeat.
func Secrets(v any) (list []string) {
	if v == nil || !infoOf(reflect.TypeOf(v)).special {
		return nil
	}
	visit(nil, reflect.ValueOf(v), func(_ *fieldInfo, v reflect.Value) {
		if r, ok := v.Interface().(revealer); ok && v.Kind() != reflect.Pointer && r.Reveal() != "" {
			list = append(list, r.Reveal())
		}
	})
	return list
}
