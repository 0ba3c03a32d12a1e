// Package kill is the campaign that kills the terminal with -9, many terminals in parallel against one backend, each asked by a
// register that asks again until it has a definite answer. Then the backend's books say whether the two promises held: told
// approved and one net payment, or not approved and none.
//
// It kills in two ways that share everything else. TestKill kills at random moments. TestPoints lets the terminal kill itself at
// named points: before and behind every commit of its journal and of a migration, every folding of the log into the file, every call
// of the backend, every message to the register. The points are woven into a copy of a few sources for the build under test (go build
// -overlay); the product has none. A plot without a death tells which points there are and how often each is reached; then a terminal
// dies at every one of them, every time, in every plot, and half of them once more while they pick up the pieces. A whole campaign fails
// where nobody died at a point.
//
// Both are told again of local clients (TestKillClients, TestPointsOfClients), each on a terminal of its own with a gate before the
// backend, which goes, comes back, and loses answers. Their stories are those of agent/offline/offlinetest: every kind the operation
// table stores for them – payments, tokens, terms, card checks, payment links and what is done to their transactions – each on what was
// made before it by the id that its client was told. A client asks again under its Idempotency-Key until the backend's own answer is
// there; the backend has done each once, and nothing that nobody was told of. At the named points an acceptance, a sending, a settling, a
// folding and a migration are met: what lives on after a death is the next version of the program, with a step of its own. Who waits for
// the end of a lost answer is helped on after 1.5 s, as a technician does who sends what waits.
//
// A campaign of N tells N sales at random moments, half as many at named points, and of clients a quarter and a half as many. A plain
// test is one of 100, a fiftieth.
//
// It drives the built binary only; the books and the journal are read by other processes, the backend's tables through the store's
// reader. Of agent it must not import but the clients' stories.
package kill
