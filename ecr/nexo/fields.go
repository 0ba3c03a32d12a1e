package nexo

import (
	"encoding/json"
	"fmt"

	"posagent/schemes/money"
)

// fields reads an object of a request. A member that is absent reads as nothing. One that is there has
// the schema's type, or the request is refused: null, an empty text or a value of another type is never
// "absent", which may mean all, the last or a default (MONEY A.7).
type fields struct {
	path  string
	o     object
	fault **failure // of the whole request: the first
}

// wrong notes what is wrong with a member.
func (f fields) wrong(name, format string, args ...any) {
	if *f.fault == nil {
		*f.fault = at(f.path, name, fmt.Sprintf(format, args...))
	}
}

// missing is the failure of a member that is not there.
func (f fields) missing(name string) *failure { return at(f.path, name, "Missing") }

func (f fields) has(name string) bool {
	_, ok := f.o[name]
	return ok
}

// get reads a member of a type.
func get[T any](f fields, name, wanted string) (v T) {
	if !f.has(name) {
		return v
	}
	v, ok := f.o[name].(T)
	if !ok {
		f.wrong(name, "%s is sent, %s is wanted", called(f.o[name]), wanted)
	}
	return v
}

func (f fields) object(name string) fields {
	return fields{f.path + "." + name, get[object](f, name, "an object"), f.fault}
}

// text reads a text, which may be empty.
func (f fields) text(name string) string { return get[string](f, name, "a text") }

// word reads a text with at least one character.
func (f fields) word(name string) string {
	s := f.text(name)
	if s == "" && f.has(name) {
		f.wrong(name, "an empty text is sent; leave the field out, or fill it")
	}
	return s
}

func (f fields) flag(name string) bool { return get[bool](f, name, "true or false") }

// words reads a list of texts.
func (f fields) words(name string) (out []string) {
	for _, v := range get[[]any](f, name, "a list of texts") {
		s, _ := v.(string)
		if s == "" {
			f.wrong(name, "%s is in the list, a text is wanted", called(v))
		}
		out = append(out, s)
	}
	return out
}

// amount reads an amount above zero.
func (f fields) amount(name string, c money.Currency) money.Minor {
	number := get[json.Number](f, name, "a number")
	m, ok := parseAmount(number, c)
	switch {
	case !f.has(name):
		f.wrong(name, "Missing")
	case !ok:
		f.wrong(name, "%.40s is no amount that can be paid: it is above 0 and has at most %d decimals", number, c.Exponent)
	}
	return m
}

// nothing reads an amount that has to be zero.
func (f fields) nothing(name string) bool {
	number := get[json.Number](f, name, "a number")
	n, ok := rounded(number.String())
	return !f.has(name) || ok && n == 0
}

// called is what a value is called.
func called(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return "an empty text"
		}
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case object:
		return "an object"
	}
	return "a list"
}
