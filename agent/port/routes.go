package port

import (
	"net/http"
	"strings"

	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi"
)

// mount is one group of routes: what it has, where it is found, and who serves it.
type mount struct {
	openapi.Group
	at      []string                 // prefixes of paths
	is      func(*http.Request) bool // in place of at: found in any case of letters
	handler http.Handler             // of at and is
	own     map[string]http.HandlerFunc
}

// route serves each request by its mount.
func (a *auth) route(mounts []mount) http.Handler {
	mux := http.NewServeMux()
	var folded []mount
	for _, m := range mounts {
		for _, i := range m.Infos {
			if h := m.own[i.Path]; h != nil {
				mux.Handle(i.Method+" "+i.Path, http.MaxBytesHandler(h, wire.MaxRequest))
			}
		}
		for _, prefix := range m.at {
			mux.Handle(prefix, m.handler)
		}
		if m.is != nil {
			folded = append(folded, m)
		}
	}
	// The services of S0 are found in any case of letters, which no pattern of a mux does; nor may
	// it mend their paths, since a client that follows a redirect looks like a browser.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, m := range folded {
			if m.is(r) {
				m.handler.ServeHTTP(w, r)
				return
			}
		}
		if path := r.URL.Path; len(path) > 7 && strings.EqualFold(path[:8], "/api/v1/") {
			wire.WriteProblemNoRoute(w, r, "")
			return
		}
		if h, pattern := mux.Handler(r); pattern == "" {
			a.nowhere(w, r, h)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// nowhere answers what no route is for, as the mux would, but as JSON.
func (a *auth) nowhere(w http.ResponseWriter, r *http.Request, h http.Handler) {
	a.public(func(w http.ResponseWriter, r *http.Request) {
		said := verdict{http.Header{}}
		h.ServeHTTP(said, r)
		wire.WriteProblemNoRoute(w, r, said.Header().Get("Allow"))
	})(w, r)
}

// verdict keeps the header of an answer that goes nowhere.
type verdict struct{ header http.Header }

// Header implements http.ResponseWriter.
func (v verdict) Header() http.Header { return v.header }

// WriteHeader implements http.ResponseWriter.
func (verdict) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (verdict) Write(p []byte) (int, error) { return len(p), nil }
