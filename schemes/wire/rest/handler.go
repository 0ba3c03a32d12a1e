package rest

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"posagent/schemes/wire"
)

// Options adjusts a Handler. The zero value works.
type Options struct {
	Log          *slog.Logger              // gets internal errors; nil drops them
	MaxBody      int64                     // bytes of a request body; 0 means wire.MaxRequest
	OperationURL func(key wire.Key) string // names a pending operation in the Location header; nil = none
	// Around gets every good request in place of the service, which a.Do asks; nil = a.Do. Its answer is the endpoint's Out.
	Around func(ctx context.Context, a *Asked) (any, error)
}

// Is returns whether a request is for the service, for a router that compares paths as they are written.
func (a API) Is(r *http.Request) bool {
	_, ok := a.pieces(r, a.Prefix)
	return ok
}

// pieces splits what follows a prefix in a request's path.
func (a API) pieces(r *http.Request, prefix string) ([]string, bool) {
	if a.Fold {
		return wire.FoldSegments(r, prefix)
	}
	if path := r.URL.EscapedPath(); path == prefix || path == prefix+"/" {
		return nil, true
	}
	return wire.Segments(r, prefix+"/")
}

// Handler serves the routes. Authentication, Host checks and time limits are the caller's.
func (a API) Handler(o Options, routes ...[]Bound) http.Handler {
	h := &handler{api: a, o: o}
	for _, list := range routes {
		for _, b := range list {
			h.routes = append(h.routes, route{b, strings.Split(b.Path, "/")[1:]})
		}
	}
	return h
}

type handler struct {
	api    API
	o      Options
	routes []route
}

// route is a route with its path taken apart.
type route struct {
	Bound
	path []string
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rt, values, allow := h.find(r)
	if rt == nil {
		h.api.Shape.NoRoute(w, r, allow)
		return
	}
	var out any
	a, err := rt.open(r, values, h.o.MaxBody)
	switch {
	case err != nil:
	case h.o.Around != nil:
		out, err = h.o.Around(r.Context(), a)
	default:
		out, err = a.Do(r.Context())
	}
	if err != nil {
		h.api.Shape.Refuse(w, r, h.o.Log, wire.AsError(rt.Op, err))
		return
	}
	h.answer(w, r, rt, out)
}

// find picks the route of a request: of those whose path fits, the one that spells the most of it out. Without one, allow names
// the methods that the path has.
func (h *handler) find(r *http.Request) (_ *route, values []string, allow string) {
	for _, prefix := range append([]string{h.api.Prefix}, h.api.Aliases...) {
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
			switch plain := literals(rt.path); {
			case best == nil || plain > literals(best.path):
				best, methods = rt, []string{rt.Method}
			case plain == literals(best.path):
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
			for i, piece := range best.path {
				if _, ok := braced(piece); ok {
					values = append(values, pieces[i])
				}
			}
			return best, values, ""
		}
	}
	return nil, nil, ""
}

func (h *handler) fits(path, pieces []string) bool {
	if len(path) != len(pieces) {
		return false
	}
	for i, piece := range path {
		_, named := braced(piece)
		if !named && piece != pieces[i] && !(h.api.Fold && strings.EqualFold(piece, pieces[i])) {
			return false
		}
	}
	return true
}

// literals counts the pieces of a path that are spelled out.
func literals(path []string) (n int) {
	for _, piece := range path {
		if _, named := braced(piece); !named {
			n++
		}
	}
	return n
}

// answer writes a success.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, rt *route, out any) {
	known, v := replyOf(rt.Out), reflect.ValueOf(out)
	status := rt.Status
	if known.status != nil {
		if status = int(v.FieldByIndex(known.status).Int()); status != rt.Status && !slices.Contains(rt.Also, status) {
			h.api.Shape.Refuse(w, r, h.o.Log, wire.Errorf(wire.Internal, rt.Op, "service answered status %d", status))
			return
		}
	}
	if p := known.pendingOf(v); p != nil {
		if known.status == nil {
			status = http.StatusAccepted
		}
		if h.o.OperationURL != nil {
			w.Header().Set("Location", h.o.OperationURL(p.Key))
		}
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
