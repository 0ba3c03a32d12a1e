// Package cases is the dispute desk of the embedded backend: it implements disputes.Service and disputes.Keys over a store.
//
// It owns the tables cases_case, cases_status, cases_document, cases_file and cases_key. It guarantees: what was answered is
// durable; a case belongs to one purchase of the books, and a purchase has one case at most; a case moves only as
// disputes.Next says, one row of cases_status per move, in the commit of the move; one effect per Idempotency-Key, however many
// ask at once; a card number is read with the private key, turned into the bank's keyed name of the card, and kept nowhere;
// the private key, documents, names, expiry dates and private notes are sealed.
//
// The purchases and the cards' names are given by two functions of the bank's. It must not import another room of the
// backend besides once.
//
// Decisions:
//
// 2026-11-22. A case moves no money: what a card scheme settles is not simulated, and the books stay as they are.
//
// 2026-11-22. The operator answers two seconds after a submission (5000); a purchase of which nothing is left after refunds
// cannot be submitted (3000). Time is looked at whenever somebody asks.
//
// 2026-11-22. The key pair is made by Init, which posagent backend calls before it listens; a backend inside another
// program makes it when it is first needed, because a slow box takes seconds for it.
//
// 2026-11-22. Case numbers count up from 500001, group numbers from 700001. A group is a card and a UTC day.
//
// 2026-11-22. The documents of a request are stored before its case, in commits of their own: one commit would hold 10 MB. Those of
// a request that is refused, or was answered before, are dropped at once, and what a killed process left behind after an hour.
//
// 2026-11-22. A document is found by the id of the list, and by the issuer's own documentID too, the newest first.
//
// 2026-11-22. The body that guards a Key has the card's name in place of its encrypted number, which is never the same twice.
package cases
