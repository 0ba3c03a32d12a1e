// Package view is what a terminal shows of itself, as JSON with versioned schemas. The command
// line prints it and the local port serves it; both use the same form.
//
// It guarantees:
//   - It shows no secret and no card data.
//   - Amounts are whole minor units and times are UTC.
//   - Reading changes nothing.
//
// Files: status.go, sale.go, day.go, operation.go, waiting.go, methods.go, deed.go, checks.go and
// report.go are what it shows, screen.go most of it at once; event.go, cursor.go, stream.go and
// lately.go are the events. happened.go makes them. daemon.go answers for a running daemon.
//
// It works with and without a running daemon. Daemon reads what only a running daemon can show.
//
// It must not import the local port, the register link, services that it does not show, or the
// configuration.
package view
