// Package browser drives the backend's pages, the terminal's own page and the customer's screen in a
// real Chromium against the built binary. A hostile page of it attacks the terminal.
//
// It is a module of its own, so that its dependencies never reach the shipped module. It knows the
// product by its binary, HTTP routes, pages and register line, and must not import its packages.
//
// `make browser` runs it; so does `make verify`. `make screens` leaves a picture of each page in
// out/screens.
package browser
