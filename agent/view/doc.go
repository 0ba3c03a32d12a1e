// Package view is what a terminal shows of itself, as JSON with versioned schemas: the command line prints it, the local
// port serves it, and neither has a form of its own.
//
// It guarantees that nothing in it is a secret or card data, that amounts are whole minor units, that times are UTC, and that
// reading changes nothing. It works beside a running daemon, and without one; what only the daemon can tell is in House.
//
// It must not import the local port, the register link, the services that it does not show, or the configuration.
package view
