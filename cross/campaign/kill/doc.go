// Package kill is the campaign that kills terminals with -9, many in parallel against one backend.
// A register asks each one until it has a definite answer. Then the backend's books must agree:
// told approved and one net payment, or not approved and none.
//
// TestKill and TestKillTills kill at random moments; the tills of each protocol ask again or go on
// (MONEY F.5). TestPoints lets the terminal kill itself at named points: around each commit of the
// journal and of a migration, each checkpoint, each call of the backend and each message to the
// register. The points are woven into a copy of a few sources (go build -overlay); the product has
// none. A plot is one way a sale may go. A run without a kill records the points of each plot. Then
// each run kills the terminal at one point, and half of the terminals are killed again while they
// recover. A full campaign fails if no terminal died at a point.
//
// TestKillClients and TestPointsOfClients do the same to local clients, each on a terminal of its
// own. A gate before the backend closes, opens and loses answers. Their plots are those of
// agent/gateway/offlinetest. A client repeats a call under its Idempotency-Key until it has the
// backend's own answer. The backend must have performed each call once, and no call of which no
// client knows. After a kill the next version of the program starts, with a migration of its own.
// A call that waits for a lost answer is sent again after 1.5 s, as a technician does it.
//
// The tests of damaged logs change bits and sectors of killed terminals' logs: a terminal starts
// with everything, or says that its journal was cut. The tests of false alarms kill without a
// change, also in verbs that replace the journal: no start may report a cut. `make cut` runs both.
//
// A sixth of TestKill's sales and two plots ask a person at the terminal's page; so does a refund.
// N is the number of sales at random moments. Named points get half of it, clients a quarter and a
// half. `make verify` runs N = 100; `make test` kills six sales and leaves the rest to it.
//
// It drives the built binary only. Other processes read the books and the journal, and the store's
// reader reads the backend's tables. Of agent it must not import anything but the clients' plots.
package kill
