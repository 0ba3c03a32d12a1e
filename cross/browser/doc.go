// Package browser drives the backend's pages in a real Chromium, against the built binary, and lets a page attack the
// terminal.
//
// It is a module of its own, so that what it needs never reaches the module that is shipped. It knows the product by its
// binary, its HTTP routes, its pages and its register line only, and imports none of its packages.
//
// `make browser` runs it; `make test` does where Chromium is installed. `make screens` leaves a picture of each page in
// out/screens.
package browser
