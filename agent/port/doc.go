// Package port is the terminal's local HTTP port. It owns the local credentials, the guard against
// web pages, the routes and the OpenAPI document.
//
// Files: table.go lists all routes and routes.go finds the one of a request; services.go has those
// of the services and gateway.go bounds their calls; terminal.go and events.go have those of the
// terminal itself, page.go and visits.go its page for people. clients.go and pace.go are the clients, auth.go finds the one that asks,
// permissions.go is what it may do. guard.go refuses web pages, throttle.go and connections.go hold
// unproven requests back, large.go their large bodies.
//
// It guarantees:
//   - A request reaches a handler only if its Host is one of the port's names and it carries
//     neither Origin, Referer nor Sec-Fetch-Site. Browsers always send at least one of these
//     headers, so web pages are refused. The port listens on this machine alone. Three things are open
//     to a browser: a payment's page, the customer's screen (display.go), and the terminal's own pages, which no other page may lead to,
//     frame or read. They show amounts only after a client's token or the PIN was entered. What a
//     person does there is not the port's: Person proves the login and does it.
//   - A service's route, /agent/v1 and /metrics need a client's token in the form of that service.
//     The comparison takes constant time, and a refusal says nothing about the token.
//   - Bodies, headers, time and the number of connections are bounded.
//   - No GET changes state.
//   - The caller of a write gets one of four results: the backend's own answer; stored (202,
//     Location names the operation); provably not sent (503 with Retry-After); outcome not known
//     (504).
//   - The OpenAPI document is made from the routes that are mounted: the tables of the services and
//     of the terminal itself.
//
// It must not import the store, the outbox's writers, the register link, the configuration or any
// third-party module.
package port
