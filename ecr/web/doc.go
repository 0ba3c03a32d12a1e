// Package web is a register that sells over HTTP, written from agent/till/README.md: the tools and the
// campaigns use it, and other registers over HTTP carry their requests as it does.
//
// It guarantees
//   - One request at a time on one connection; each is one write.
//   - An answer is returned whole or not at all.
//   - No token is printed.
//
// It shares no code with the terminal, and imports the standard library.
package web
