// Package demo runs `posagent demo`: a day at the counter, as a test that a person can read. It
// starts its own binary as backend, terminal, register and wallet, and talks to them over a real
// pair of pseudo terminals and real HTTP.
//
// It guarantees exit 0 only if every step of the demo succeeded and the backend's books equal the
// terminal's journal.
//
// It must not import anything of this project.
package demo
