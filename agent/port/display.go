package port

import (
	"net/http"

	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// DisplayPath is the customer's screen as a page; the stream of its scenes is below it.
const (
	DisplayPath   = "/display"
	displayEvents = DisplayPath + "/events"
)

// Display is the customer's screen as a page. The port refuses what another page could send; a form
// of the page proves by its word which scene it is of.
type Display interface {
	http.Handler // of DisplayPath

	// Follow streams what is shown until the reader leaves or ended is closed.
	Follow(w http.ResponseWriter, r *http.Request, ended <-chan struct{})
}

// maxDisplays bounds the streams of the customer's screen. They are apart from those of clients.
const maxDisplays = 4

// shown serves the customer's screen. It needs no token, and is answered at the pace of requests
// without one.
type shown struct {
	*auth
	Display
	places chan struct{}
	ended  <-chan struct{}
}

// mount makes the mount of the customer's screen. Its forms are for people, so the document does not
// name them.
func (s *shown) mount() mount {
	return mount{
		Group: openapi.Group{Name: "customer's screen", About: "For a browser on the box.", Infos: []rest.Info{
			contracts.Describe[struct{}, openapi.Page]("display.page", "what the customer's screen shows", http.MethodGet, DisplayPath, 0),
			contracts.Describe[ofNothing, openapi.Stream]("display.events", "the page's own stream of it", http.MethodGet, displayEvents, 0),
		}},
		at:      []string{DisplayPath, displayEvents},
		handler: http.MaxBytesHandler(http.HandlerFunc(s.serve), maxCredential),
	}
}

func (s *shown) serve(w http.ResponseWriter, r *http.Request) {
	throttleOf(r).wait(r.Context().Done())
	switch {
	case r.Method == http.MethodPost && !fromOwnPage(r), r.Method == http.MethodPost && r.URL.Path != DisplayPath, r.Method != http.MethodGet && r.Method != http.MethodPost:
		unread(w, r)
		wire.WriteProblemNoRoute(w, r, http.MethodGet)
	case r.URL.Path == DisplayPath:
		s.ServeHTTP(w, r)
	default:
		s.follow(w, r)
	}
}

// follow streams to as many as there are places.
func (s *shown) follow(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many follow the customer's screen already", http.StatusServiceUnavailable)
		return
	}
	s.conns.follows(r)
	s.Follow(w, r, s.ended)
}
