package port

import (
	"context"
	"net/http"
	"strings"
	"time"

	"posagent/schemes/wire"
)

// The ways a caller proves itself, as the document names them.
const (
	byToken     = "token"
	bySignature = "signature"
	byHook      = "hook"
	byKey       = "key"
)

const (
	jsonBody    = "application/json"
	problemBody = "application/problem+json"
	formBody    = "application/x-www-form-urlencoded"
)

// mount is one group of routes: where it is found, how its callers prove themselves, and what it has.
type mount struct {
	name, proof string
	body        string                   // content type of requests
	errors      string                   // content type of errors
	at          []string                 // prefixes of paths
	is          func(*http.Request) bool // in place of at: found in any case of letters
	handler     http.Handler             // of at and is
	routes      string                   // a line each: METHOD STATUS[,202] PATH, ?a,b where it has parameters, and what it does
	own         map[string]http.HandlerFunc
}

// route is one line of a mount's routes.
type route struct{ method, status, path, query, what string }

// each calls f with every route.
func (m mount) each(f func(route)) {
	for line := range strings.SplitSeq(m.routes, "\n") {
		var r route
		line = strings.TrimSpace(line)
		r.method, line, _ = strings.Cut(line, " ")
		r.status, line, _ = strings.Cut(line, " ")
		r.path, r.what, _ = strings.Cut(line, " ")
		if query, yes := strings.CutPrefix(r.what, "?"); yes {
			r.query, r.what, _ = strings.Cut(query, " ")
		}
		if r.path != "" {
			f(r)
		}
	}
}

// table is everything the port serves.
func (a *api) table() []mount {
	list := []mount{{name: "probes", errors: "text/plain",
		routes: `GET 200 /livez the daemon runs
			GET 200 /readyz a register may ask for a sale
			GET 200 /openapi.json this document`,
		own: map[string]http.HandlerFunc{"/livez": a.anybody(probe(a.o.Live)), "/readyz": a.anybody(probe(a.o.Ready)), "/openapi.json": a.anybody(a.document)},
	}}
	if a.o.Pages != nil {
		list = append(list, mount{name: "payment pages", errors: "text/plain",
			routes: "GET 200 " + PayPath + "{paymentId} the page of a stored payment: the shop is offline, or the way on to the backend's page",
			own:    map[string]http.HandlerFunc{PayPath + "{paymentId}": a.anybody(a.o.Pages.ServeHTTP)},
		})
	}
	if a.o.Hooks != nil {
		list = append(list, mount{name: "hooks", proof: byHook, body: jsonBody, errors: jsonBody, at: []string{HooksPath},
			handler: http.MaxBytesHandler(proving(a.o.Hooks), wire.MaxRequest),
			routes:  "POST 200 " + HooksPath + " take a webhook over"})
	}
	if a.o.Token == "" {
		return list
	}
	if a.o.House != nil {
		list = append(list, a.house())
	}
	list = append(list, mount{name: "tokens for clients", body: formBody, errors: jsonBody,
		routes: `POST 200 /token the terminal's token, for clients that fetch one (client credentials)
			POST 200 /oauth2/v2.0/token the same`,
		own: map[string]http.HandlerFunc{"/token": proving(http.HandlerFunc(a.token)).ServeHTTP, "/oauth2/v2.0/token": proving(http.HandlerFunc(a.token)).ServeHTTP},
	})
	for _, s := range a.o.Services {
		list = append(list, s.mount(a))
	}
	return list
}

// routes mounts the table.
func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	var folded []mount
	for _, m := range a.mounts {
		m.each(func(r route) {
			if h := m.own[r.path]; h != nil {
				mux.Handle(r.method+" "+r.path, http.MaxBytesHandler(h, wire.MaxRequest))
			}
		})
		for _, prefix := range m.at {
			mux.Handle(prefix, m.handler)
		}
		if m.is != nil {
			folded = append(folded, m)
		}
	}
	// The services of S0 are found in any case of letters, which no pattern of a mux does; nor may it mend their paths, since
	// a client that follows a redirect looks like a browser.
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
func (a *api) nowhere(w http.ResponseWriter, r *http.Request, h http.Handler) {
	a.anybody(func(w http.ResponseWriter, r *http.Request) {
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

// calling serves what calls the backend: within its time, whether its caller waits or not, and with a hint when to come back.
func (a *api) calling(limit int64, h http.Handler) http.Handler {
	return http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && a.o.Touched != nil {
			defer a.o.Touched()
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readTime+a.o.Within+5*time.Second)
		defer cancel()
		defer context.AfterFunc(a.work, cancel)()
		h.ServeHTTP(hint{w}, r.WithContext(ctx))
	}), limit)
}

// hint says when to come back where a service does not.
type hint struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (h hint) WriteHeader(status int) {
	if status == http.StatusServiceUnavailable && h.Header().Get("Retry-After") == "" {
		h.Header().Set("Retry-After", "2")
	}
	h.ResponseWriter.WriteHeader(status)
}
