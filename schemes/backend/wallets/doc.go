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
package wallets
