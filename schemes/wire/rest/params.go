package rest

import (
	"encoding"
	"errors"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"posagent/schemes/wire"
)

// MaxID is how long a text in an address may be, in bytes, where its field says nothing.
const MaxID = 128

// request is what the engine knows of an In.
type request struct {
	params []Param
	body   bool
}

// reply is what the engine knows of an Out.
type reply struct {
	pending []int // of the field that holds a *wire.Pending; nil = none
	status  []int // of the field tagged `rest:"status"`, which is the HTTP status; nil = none
	date    []int // of the field tagged `rest:"date"`, which is when the service answered, by its own clock; nil = none
}

// What was found out about each In and each Out. What stands in them never changes.
var requests, replies sync.Map // reflect.Type: request, reply

// requestOf returns what the engine knows of an In. It panics at a mistake in its tags.
func requestOf(t reflect.Type) request {
	if known, ok := requests.Load(t); ok {
		return known.(request)
	}
	var in request
	if t.Kind() != reflect.Struct {
		return request{body: true}
	}
	for _, f := range reflect.VisibleFields(t) {
		p := Param{Type: f.Type, Max: MaxID, index: f.Index}
		switch path, query := f.Tag.Get("path"), f.Tag.Get("query"); {
		case path != "":
			p.Name, p.Place = path, "path"
		case query != "":
			p.Name, p.Place = query, "query"
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			continue
		default:
			in.body = in.body || f.IsExported() && f.Tag.Get("json") != "-"
			continue
		}
		if f.Tag.Get("json") != "-" {
			panic("rest: " + t.String() + "." + f.Name + " stands in the address, and so wants the tag json:\"-\"")
		}
		if kind := f.Type.Kind(); kind != reflect.String && kind != reflect.Int64 && kind != reflect.Int32 && !reflect.PointerTo(f.Type).Implements(textUnmarshaler) {
			panic("rest: " + t.String() + "." + f.Name + ": a " + f.Type.String() + " cannot stand in an address")
		}
		if max := f.Tag.Get("max"); max == "-" {
			p.Max = 0
		} else if max != "" {
			n, err := strconv.Atoi(max)
			if err != nil || n < 1 {
				panic("rest: " + t.String() + "." + f.Name + ": no such length: " + max)
			}
			p.Max = n
		}
		in.params = append(in.params, p)
	}
	requests.Store(t, in)
	return in
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
)

var (
	pendingType = reflect.TypeFor[*wire.Pending]()
	timeType    = reflect.TypeFor[time.Time]()
)

func replyOf(t reflect.Type) reply {
	if known, ok := replies.Load(t); ok {
		return known.(reply)
	}
	var out reply
	if t.Kind() != reflect.Struct {
		return out
	}
	for _, f := range reflect.VisibleFields(t) {
		switch {
		case f.Type == pendingType:
			out.pending = f.Index
		case f.Tag.Get("rest") == "status" && f.Type.Kind() == reflect.Int:
			out.status = f.Index
		case f.Tag.Get("rest") == "date" && f.Type == timeType:
			out.date = f.Index
		}
	}
	replies.Store(t, out)
	return out
}

// pendingOf returns the pending operation that an Out holds, nil = none.
func (out reply) pendingOf(v reflect.Value) *wire.Pending {
	if out.pending == nil {
		return nil
	}
	p, _ := v.FieldByIndex(out.pending).Interface().(*wire.Pending)
	return p
}

func (in request) find(place, name string) *Param {
	for i := range in.params {
		if p := &in.params[i]; p.Place == place && p.Name == name {
			return p
		}
	}
	return nil
}

// names lists the pieces in braces of a path.
func names(path string) (list []string) {
	for piece := range strings.SplitSeq(path, "/") {
		if name, ok := braced(piece); ok {
			list = append(list, name)
		}
	}
	return list
}

func braced(piece string) (string, bool) {
	if len(piece) < 2 || piece[0] != '{' || piece[len(piece)-1] != '}' {
		return "", false
	}
	return piece[1 : len(piece)-1], true
}

// readParams fills the fields of the request that into points at from its address; values are the path's pieces in braces. The
// error is Invalid and names the parameter.
func (i Info) readParams(into any, values []string, u *url.URL) error {
	v := reflect.ValueOf(into).Elem()
	var query url.Values
	for _, p := range i.Params {
		field := v.FieldByIndex(p.index)
		if p.Place == "path" {
			for n, name := range names(i.Path) {
				if name == p.Name {
					if err := p.read(field, values[n]); err != nil {
						return err
					}
				}
			}
			continue
		}
		if query == nil {
			query = u.Query()
		}
		switch list := query[p.Name]; {
		case len(list) > 1:
			return &wire.FieldError{Path: p.Name, Reason: "given more than once", Code: wire.Invalid}
		case len(list) == 1 && list[0] != "":
			if err := p.read(field, list[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyParams copies what stands in the address from one request to another.
func (i Info) copyParams(into, from any) {
	to, of := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for _, p := range i.Params {
		to.FieldByIndex(p.index).Set(of.FieldByIndex(p.index))
	}
}

// read reads a text into the parameter's field.
func (p Param) read(field reflect.Value, s string) error {
	if t, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return p.said(t.UnmarshalText([]byte(s)))
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(s)
	case reflect.Int64, reflect.Int32:
		n, err := strconv.ParseInt(s, 10, field.Type().Bits())
		if err != nil || strconv.FormatInt(n, 10) != s {
			return p.wants("want a whole number from 1")
		}
		field.SetInt(n)
	}
	return p.check(field)
}

// write writes the parameter's field as a text, "" = it is absent.
func (p Param) write(field reflect.Value) (string, error) {
	if p.Place == "query" && field.IsZero() {
		return "", nil
	}
	if t, ok := field.Interface().(encoding.TextMarshaler); ok {
		text, err := t.MarshalText()
		return string(text), p.said(err)
	}
	if err := p.check(field); err != nil {
		return "", err
	}
	if field.Kind() == reflect.String {
		return field.String(), nil
	}
	return strconv.FormatInt(field.Int(), 10), nil
}

// check applies the rule of a parameter: a text of 1 to Max bytes, in a path no dot name, or a number from 1.
func (p Param) check(field reflect.Value) error {
	switch s := field; {
	case s.Kind() != reflect.String && s.Int() < 1:
		return p.wants("want a whole number from 1")
	case s.Kind() != reflect.String || p.Max == 0:
	case p.Place == "path" && !wire.PathWord(s.String(), p.Max), !wire.PlainText(s.String(), p.Max):
		return p.wants("want 1 to " + strconv.Itoa(p.Max) + " characters")
	}
	return nil
}

func (p Param) wants(why string) error {
	return &wire.FieldError{Path: p.Name, Reason: why, Code: wire.Invalid}
}

// said gives the error of a type's own text form the parameter's name.
func (p Param) said(err error) error {
	var e *wire.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return p.wants(err.Error())
}

// address is the path and the query of a request of the endpoint.
func (i Info) address(in any) (string, error) {
	v := reflect.ValueOf(in)
	path, query := i.Path, []string(nil)
	for _, p := range i.Params {
		text, err := p.write(v.FieldByIndex(p.index))
		switch {
		case err != nil:
			return "", err
		case p.Place == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(text), 1)
		case text != "":
			text = url.QueryEscape(text)
			if p.Type.Implements(textMarshaler) { // the commas of a list stay
				text = strings.ReplaceAll(text, "%2C", ",")
			}
			query = append(query, p.Name+"="+text)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path, nil
}
