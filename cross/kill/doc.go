// Package kill is the campaign that kills the terminal with -9, many terminals in parallel against one backend, each asked by a
// register that asks again until it has a definite answer. Then the backend's books say whether the two promises held: told
// approved and one net payment, or not approved and none.
//
// It kills in two ways that share everything else. TestKill kills at random moments. TestPoints lets the terminal kill itself at
// named points: before and behind every commit of its journal, every call of the backend, every message to the register. The
// points are woven into a copy of three sources for the build under test (go build -overlay); the product has none. A plot without
// a death tells which points there are and how often each is reached; then a terminal dies at every one of them, every time, in
// every plot, and half of them once more while they pick up the pieces. A whole campaign fails where nobody died at a point.
//
// Both are told again of local clients, each on a terminal of its own with a gate before the backend, which goes, comes back, and
// loses answers: a client makes a card payment and captures a part of it over the local port, asks again under its Idempotency-Key
// until the backend's own answer is there, and the books have that payment, its reservation and that capture, once.
//
// It drives the built binary only; the books and the journal are read by other processes. It must not import agent,
// store or schemes/backend.
package kill
