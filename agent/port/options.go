package port

import (
	"log/slog"
	"net"
	"net/http"
	"time"

	"posagent/agent/port/pages"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi"
)

// Options of a port. Listener, Live and Ready are required.
type Options struct {
	Listener net.Listener
	Live     func() error  // nil error = every loop of the daemon is alive
	Ready    func() error  // nil error = the store can be written and older sales are in hand
	Pages    http.Handler  // pages of stored payments at PayPath, for a customer's browser; nil = none
	Display  Display       // the customer's screen at DisplayPath, which any program on the box may see; nil = none
	Hooks    http.Handler  // takes webhooks at HooksPath and proves who sends; nil = none are taken
	Token    wire.Secret   // what local clients show; "" = no service, nothing of the terminal
	Clients  []Client      // who have a token of their own
	Rate     int           // requests per second of one client; 0 = 1000
	Parallel int           // requests in flight of one client; 0 = 48
	House    *view.Daemon  // nil = nothing of the terminal is shown
	Sales    Sales         // takes sales, and shows them; nil = neither
	Person   Person        // what persons do in a browser; nil = the page only shows
	Services []Service     // mounted with a Token only
	Within   time.Duration // of one call to the backend, as upstream bounds it; 0 = 30 s
	Dir      string        // where attachments lie while a request is served; "" = the system's folder
	Version  string
	Refused  func(address string) // is told of each request without a client's credential; it must not block; nil = nothing
	Touched  func()               // is called after each request that may have carried card data; it must not block; nil = nothing
	Log      *slog.Logger
}

// Sales takes sales from clients that the port has proven, and says what it serves. Requests are paced
// by the port, and one of a client's reads is served at a time.
type Sales interface {
	http.Handler
	Groups() []openapi.Group
}

// Person is what a person may see and do in a browser once the PIN was entered. The port refuses what
// another page could send, and holds strangers back; it has none of the deeds itself.
type Person interface {
	http.Handler // of everything below PersonPath; it proves the session itself

	// Entry is what the form of the PIN says to who sent a request.
	Entry(r *http.Request) pages.Entry
	// Enter leads the browser to a session where the PIN is right, and returns pages.NoFault.
	// Otherwise it answers nothing, and returns why.
	Enter(w http.ResponseWriter, r *http.Request, pin string) pages.Fault
	// Knows says whether a request is of a session that is not over.
	Knows(r *http.Request) bool
}
