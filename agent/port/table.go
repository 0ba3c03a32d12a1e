package port

import (
	"context"
	"net/http"
	"strings"
	"time"

	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// byHook names the proof of a webhook's sender in the document.
const byHook = "hook"

const (
	jsonBody    = "application/json"
	problemBody = "application/problem+json"
	formBody    = "application/x-www-form-urlencoded"
)

// mount is one group of routes: what it has, where it is found, and who serves it.
type mount struct {
	openapi.Group
	at      []string                 // prefixes of paths
	is      func(*http.Request) bool // in place of at: found in any case of letters
	handler http.Handler             // of at and is
	own     map[string]http.HandlerFunc
}

// table is everything the port serves.
func (a *api) table() []mount {
	const get = http.MethodGet
	list := []mount{{
		Group: openapi.Group{Name: "probes", About: "For supervisors and tools.", Infos: []rest.Info{
			contracts.Describe[struct{}, openapi.Text]("probes.live", "the daemon runs", get, "/livez", 0),
			contracts.Describe[struct{}, openapi.Text]("probes.ready", "a register may ask for a sale", get, "/readyz", 0),
			contracts.Describe[struct{}, openapi.Any]("probes.openapi", "this document", get, "/openapi.json", 0),
		}},
		own: map[string]http.HandlerFunc{"/livez": a.anybody(probe(a.o.Live)), "/readyz": a.anybody(probe(a.o.Ready)), "/openapi.json": a.anybody(a.document)},
	}}
	if a.o.Pages != nil {
		const path = PayPath + "{paymentId}"
		list = append(list, mount{
			Group: openapi.Group{Name: "payment pages", About: "For a customer's browser.", Infos: []rest.Info{
				contracts.Describe[ofPayment, openapi.Page]("pages.pay", "the page of a stored payment: the shop is offline, or the way on to the backend's page", get, path, 0),
			}},
			own: map[string]http.HandlerFunc{path: a.anybody(a.o.Pages.ServeHTTP)},
		})
	}
	if a.o.Hooks != nil {
		list = append(list, mount{
			Group: contracts.Webhooks(HooksPath, byHook), at: []string{HooksPath},
			handler: http.MaxBytesHandler(proving(a.o.Hooks), wire.MaxRequest),
		})
	}
	if a.o.Token == "" {
		return list
	}
	if a.o.House != nil {
		list = append(list, a.house())
	}
	own := map[string]http.HandlerFunc{}
	for _, i := range contracts.Access().Infos {
		own[i.Path] = proving(http.HandlerFunc(a.token)).ServeHTTP
	}
	list = append(list, mount{Group: contracts.Access(), own: own})
	for _, s := range a.o.Services {
		list = append(list, s.mount(a))
	}
	return list
}

// ofPayment names the payment of a page.
type ofPayment struct {
	ID string `path:"paymentId" json:"-"`
}

// routes mounts the table.
func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	var folded []mount
	for _, m := range a.mounts {
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
