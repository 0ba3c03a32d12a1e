// Package httpd is what the terminal's two HTTP servers share: the local port and the socket of the
// command line.
//
// It guarantees:
//   - A server that is told to stop takes no more requests, and has 3 s for those in flight.
//   - A stream of events ends when its reader leaves, when it does not read, and when the server
//     stops. A stream without events shows that it lives.
//   - Heard says that the peer's TCP has acknowledged an answer to its last byte. It never says so of
//     a connection that the peer had ended before.
//
// It must not know a route, a caller or the form of a text: its callers do.
package httpd
