// Package wallets simulates the providers behind the alternative-scheme service: it implements aapay.Service
// (S1 2.4, 3.2, 4.3) and methods.Service (S1 2.5, 4.4) over a store, and the page a customer opens from the QR code.
//
// It guarantees: one effect per Idempotency-Key and per terminalReference, however many ask at once; what was
// answered is durable; money moves only as the books decide, in the commit that changes the state; accountState
// COMMIT stands on a transaction exactly when its postings moved money to or from the merchant; a payment that was
// reversed, even before it arrived, takes no money any more.
//
// Time is evaluated lazily at every touch, in the order things were due, and by Run for those nobody touches, so
// that a restart or a late reader sees the same history.
//
// It must not import another room of the backend besides books, pages, scenario and sweep.
//
// Decisions:
//
// 2026-11-21: "elapsed" (S1 3.2) means at or after: INITIALIZED for exactly the stale age is STALE. On the same
// millisecond the customer comes before the timer.
//
// 2026-11-21: a status id is looked up as ppref, then transactionId, then terminalReference. A reversal's
// originalReference is the terminalReference (S1 2.4); ppref and transactionId are understood too, because a reversal
// that buried an existing payment under a name nobody has would be the worse answer. A refund's originalReference is
// the transactionId; ppref is understood too.
//
// 2026-11-21: a terminalReference that any transaction has is answered 201, -1, extended code 1001, and nothing is
// created, on both routes, unless the Idempotency-Key is the one it was first sent under.
//
// 2026-11-21: a 201 for any other reason creates the transaction as REJECTED (CANCELLED for -2), readable by status.
// Extended codes: 1001 reference used, 1002 type or trigger not supported, 1003 reversed before it arrived,
// 1004 original unknown or no payment, 1005 differs from the original, 1006 forbidden by the rest of the original.
//
// 2026-11-21: a reversal whose originalReference is not known is accepted, ends REVERSED without money, and buries
// the reference: a later initialize under it answers 201.
//
// 2026-11-21: a reversal of an open payment makes it CANCELLED (a reservation goes back: ROLLBACK) and ends REVERSED;
// of a committed one the money goes back, the payment keeps its words, the reversal ends FINALIZED with COMMIT;
// of one that is already reversed it ends REVERSED and moves nothing. REVERSED is in the okCodes of every method with
// REVERSAL, so that all three prove that the undo is done. A reversal after any refund is answered 201, as is a
// refund above the rest. A reversal's amount is the original's, or 0.
//
// 2026-11-21: reversals and refunds happen in the commit of their initialize, unless a scenario row delays them.
//
// 2026-11-21: the key is bound to the decoded body and the type; its row keeps a MAC of the body, not the body.
// A request refused before any effect (500, 429, resend) leaves no key behind.
//
// 2026-11-21: qrCodePayload is shown while the payment can still be scanned.
//
// 2026-11-21: methods are listed with the lowest priority number first: that one is the best.
//
// 2026-11-21: numbers are assigned from wallets_seq inside the one writer; under PostgreSQL the row lock of the
// UPDATE does the same.
package wallets
