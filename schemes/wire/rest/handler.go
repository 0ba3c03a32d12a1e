package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"posagent/schemes/wire"
)

// Is returns whether a request is for the service, for a router that compares paths as they are written.
func (a API) Is(r *http.Request) bool {
	for _, prefix := range append([]string{a.Prefix}, a.Aliases...) {
		if _, ok := a.pieces(r, prefix); ok {
			return true
		}
	}
	return false
}

// Roots returns the paths that everything of the service lies below, each with a slash at its end, for a router by prefixes.
func (a API) Roots() []string {
	list := []string{a.Prefix + "/"}
	for _, alias := range a.Aliases {
		list = append(list, alias+"/")
	}
	return list
}

// pieces splits what follows a prefix in a request's path.
func (a API) pieces(r *http.Request, prefix string) (list []string, ok bool) {
	switch path := r.URL.EscapedPath(); {
	case a.Fold:
		list, ok = wire.FoldSegments(r, prefix)
	case path == prefix || path == prefix+"/":
		ok = true
	default:
		list, ok = wire.Segments(r, prefix+"/")
	}
	if ok && a.Pieces != nil {
		list, ok = a.Pieces(list)
	}
	return list, ok && (a.First == nil || len(list) > 0 && slices.Contains(a.First, list[0]))
}

// Handler serves the routes. Authentication, Host checks and time limits are the caller's.
func (a API) Handler(o Options, routes ...[]Bound) http.Handler {
	h := &handler{api: a, o: o, prefixes: append([]string{a.Prefix}, a.Aliases...)}
	for _, list := range routes {
		for _, b := range list {
			rt := route{Bound: b}
			for _, text := range strings.Split(strings.TrimSuffix(b.Path, "/"), "/")[1:] {
				_, named := braced(text)
				rt.path = append(rt.path, piece{text, named})
				if !named {
					rt.plain++
				}
			}
			h.routes = append(h.routes, rt)
		}
	}
	return h
}

type handler struct {
	api      API
	o        Options
	prefixes []string
	routes   []route
}

// route is a route with its path taken apart.
type route struct {
	Bound
	path  []piece
	plain int // pieces that are spelled out
}

// piece is a piece of a path: its text, or a name in braces.
type piece struct {
	text  string
	named bool
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rt, values, allow := h.find(r)
	if rt == nil {
		h.api.Shape.NoRoute(w, r, allow)
		return
	}
	wire.ServedOf(r.Context()).Names(rt.Op)
	if rt.Write() {
		wire.EchoKey(w.Header(), r)
	}
	if h.o.Open == nil {
		h.serve(w, r, rt, values, nil)
		return
	}
	read, err := h.o.Open(r, rt.Info, values)
	if read != nil {
		defer read.Close()
	}
	switch serve := func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, rt, values, read) }; {
	case err != nil:
		h.api.Shape.Refuse(w, r, h.o.Log, h.api.refused(rt.Op, err))
	case h.o.Admit != nil:
		h.o.Admit(w, r, read, serve)
	default:
		serve(w, r)
	}
}

// serve does what a request asks for. read is nil where its body is JSON.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, rt *route, values []string, read Opened) {
	var out any
	a, err := h.open(r, rt, values, read)
	if a != nil {
		defer a.release()
	}
	switch {
	case err != nil:
	case h.o.Around != nil:
		out, err = h.o.Around(r.Context(), a)
	default:
		out, err = a.Do(r.Context())
	}
	if err != nil {
		e, said := unproven(wire.AsError(rt.Op, err)), false
		in := reflect.Zero(rt.In).Interface() // what could not be read
		if a != nil {
			in = a.Request
		}
		out, said = rt.fn.says(in, e)
		if !said {
			h.api.Shape.Refuse(w, r, h.o.Log, e)
			return
		}
		if e.Code == wire.Internal && h.o.Log != nil {
			h.o.Log.Error("request failed", "op", e.Op, "err", e)
		}
	}
	if err == nil && rt.fn.has("Write") {
		rt.fn.call("Write", w, r, h.o, out)
		return
	}
	h.answer(w, r, rt, out)
}

// unproven is an error as it is told to a caller who asks somebody else through us: what proves nothing of his write must not read as a
// refusal.
func unproven(e *wire.Error) *wire.Error {
	if !wire.ProvesNothing(e) {
		return e
	}
	return &wire.Error{
		Code: wire.UnknownOutcome, Op: e.Op, RetryAfter: e.RetryAfter, Err: e,
		Msg: "what came back (" + e.Msg + ") is no word of the service about this call: read what became of it, or send it again under its Idempotency-Key (a proxy on the way, or credentials: posagent net check)",
	}
}

// open reads a request. The error of one that breaks a rule has the service's word for it, and the request beside it.
func (h *handler) open(r *http.Request, rt *route, values []string, read Opened) (a *Asked, err error) {
	if h.api.Accept != nil {
		err = h.api.Accept(r)
	}
	if err == nil {
		a, err = rt.open(r, values, h.o, read)
	}
	if err == nil {
		return a, nil
	}
	return a, h.api.refused(rt.Op, err)
}

// find picks the route of a request: of those whose path fits, the one that spells the most of it out. Without one, allow names
// the methods that the path has.
func (h *handler) find(r *http.Request) (_ *route, values []string, allow string) {
	for _, prefix := range h.prefixes {
		pieces, ok := h.api.pieces(r, prefix)
		if !ok {
			continue
		}
		var best *route
		var methods []string
		for i := range h.routes {
			rt := &h.routes[i]
			if !h.fits(rt.path, pieces) {
				continue
			}
			switch {
			case best == nil || rt.plain > best.plain:
				best, methods = rt, []string{rt.Method}
			case rt.plain == best.plain:
				methods = append(methods, rt.Method)
				if best.Method != r.Method {
					best = rt
				}
			}
		}
		switch {
		case best == nil:
		case best.Method != r.Method:
			return nil, nil, strings.Join(methods, ", ")
		default:
			for i, p := range best.path {
				if p.named {
					values = append(values, pieces[i])
				}
			}
			return best, values, ""
		}
	}
	return nil, nil, ""
}

func (h *handler) fits(path []piece, pieces []string) bool {
	if len(path) != len(pieces) {
		return false
	}
	for i, p := range path {
		if !p.named && p.text != pieces[i] && !(h.api.Fold && strings.EqualFold(p.text, pieces[i])) {
			return false
		}
	}
	return true
}

// answer writes a success.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, rt *route, out any) {
	known, v := replyOf(rt.Out), reflect.ValueOf(out)
	if v.Kind() == reflect.Slice && v.IsNil() {
		out = []struct{}{}
	}
	status := rt.Status
	if known.status != nil {
		if status = int(v.FieldByIndex(known.status).Int()); status != rt.Status && !slices.Contains(rt.Also, status) {
			h.api.Shape.Refuse(w, r, h.o.Log, wire.Errorf(wire.Internal, rt.Op, "service answered status %d", status))
			return
		}
	}
	if p := known.pendingOf(v); p != nil && rt.Pends {
		if known.status == nil {
			status = http.StatusAccepted
		}
		if h.o.OperationURL != nil {
			w.Header().Set("Location", h.o.OperationURL(p.Key))
		}
	}
	if h.api.Wrap != nil {
		out = h.api.Wrap(out)
	}
	data, err := wire.Encode(out)
	if err == nil {
		err = wire.WriteBody(w, status, h.api.contentType(), data)
	} else {
		w.WriteHeader(http.StatusInternalServerError) // never half a document
	}
	if err != nil && h.o.Log != nil {
		h.o.Log.Warn("reply not written", "op", rt.Op, "err", err)
	}
}
