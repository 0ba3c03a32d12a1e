package rest

import (
	"net/http"
	"reflect"

	"posagent/schemes/wire"
)

// own are the functions that an endpoint may have besides Do. They are called by reflection: few endpoints have one, and typed
// code would stand in the program once for every pair of In and Out.
type own struct{ endpoint reflect.Value }

func ownOf(endpoint any) own { return own{reflect.ValueOf(endpoint).Elem()} }

func (o own) has(name string) bool { return !o.endpoint.FieldByName(name).IsNil() }

func (o own) call(name string, args ...any) []reflect.Value {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	return o.endpoint.FieldByName(name).Call(in)
}

func errorOf(v reflect.Value) error {
	err, _ := v.Interface().(error)
	return err
}

// says is Says; false where there is none.
func (o own) says(in any, e *wire.Error) (any, bool) {
	if !o.has("Says") {
		return nil, false
	}
	got := o.call("Says", in, e)
	return got[0].Interface(), got[1].Bool()
}

// said is Said; nil where there is none.
func (o own) said(out any) error {
	if !o.has("Said") {
		return nil
	}
	return errorOf(o.call("Said", out)[0])
}

// flaw is Flaw; "" where there is none.
func (o own) flaw(in, out any) string {
	if !o.has("Flaw") {
		return ""
	}
	return o.call("Flaw", in, out)[0].String()
}

// read is Read, or the engine's own reading. It fills out.
func (o own) read(c wire.Call, a wire.Answer, out reflect.Value) error {
	if !o.has("Read") {
		return c.Read(a, out.Addr().Interface())
	}
	got := o.call("Read", c, a)
	out.Set(got[0])
	return errorOf(got[1])
}

// spool is Spool. It fills in.
func (o own) spool(r *http.Request, in reflect.Value, opts Options) (release func(), err error) {
	got := o.call("Spool", r, opts)
	in.Set(got[0])
	return got[1].Interface().(func()), errorOf(got[2])
}
