// Package offline holds the typed adapters between the outbox and the services: one file per service, one
// outbox.Kind per row of the operation table. Here: reversals and refunds of the alternative-scheme service.
//
// It guarantees that an undo is called done only when the backend says so (MONEY B.2), that it is sent again under
// its own Key only, and that on a backend without the idempotent route it is sent once.
//
// It must not import the checkout: Settled and After are handed in.
//
// Decisions.
//
// 2026-11-21. COMMIT outranks a final bad word (MONEY A.1), so an undo that says FAILED with COMMIT is done, and so is a
// STALE one; with another live word it is waited for. ROLLBACK is never success. REVERSED ends a reversal and REFUNDED a refund
// well whether or not the method lists them; RESERVED never does, because an undo has to be proven.
//
// 2026-11-21. 201 is final with -1 or -2, or without a response and not valid. -1 and -2 in a 202, contradictions and unknown words are live: the status decides (MONEY B.9).
//
// 2026-11-21. A backend that answers 404 or 405 without its own body has no idempotent route. That the plain route
// comes next is stored before it is used, with the number of the one attempt that may use it; every other attempt only
// reads the status by terminalReference. The same answer from the plain route means that nobody like the service
// is there (a captive portal): the plan is dropped and everything starts again.
//
// 2026-11-21. "Not found" is live until it has been said for UndoPayload.Window. Then an undo under a Key is
// sent again under that Key, and one on the plain route, or past the backend's memory of the Key, ends FAILED with
// NotFound set: the checkout reads the original and makes a new attempt with its own Key (MONEY B.3). Asking status
// was preferred to DOUBT, because money is waiting to be given back and a new attempt needs no technician.
//
// 2026-11-21. A refund that says TIMEDOUT without COMMIT is live for UndoPayload.Window more: it may still commit, and whoever is told
// that it failed makes another. A reversal needs no such wait, a second one gives nothing back twice.
package offline
