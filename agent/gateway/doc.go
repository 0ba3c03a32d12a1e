// Package gateway holds the typed adapters between the outbox and the services: one outbox.Kind
// per row of the operation table. table.go joins the rows, which stand with their services.
// aapay.go has the undos of the alternative schemes. Front accepts the writes of local clients.
//
// From the top: front.go wires the kinds; payments, tokens, linkrows and links are the services;
// accept and put store a write, send, ours and settled end it; owner, keys and things are its records.
//
// It owns the tables offline_claims (Idempotency-Keys), offline_keys (of purged ones), offline_things (ids
// and owners), offline_dependants, offline_left (other books), offline_totals, _purged and _proven.
//
// It guarantees for an undo: it is done only when the backend says so. A retry uses the same
// idempotency key. If the backend has no idempotent route, the undo is sent once.
//
// It guarantees for a local client's write:
//   - A write that breaks a rule of the contract is refused and never stored. A 202 means that it
//     is durable with its Key and local id.
//   - The answer is the backend's own if it comes within Options.Within, and "pending" at once if
//     the backend is known to be away. A final answer is kept under the caller's Idempotency-Key,
//     for one client, route and body; a purged one is 410.
//   - Our Key is derived from the caller's and from the create's Key of what the write is about,
//     whichever id names it. So a restored journal makes the same one, or a person releases it.
//   - A create is done by an answer that names our Key or reference, or that a reading agrees with.
//   - A local id stays good for ever. Operations by it and by the backend's id are one aggregate
//     and are sent with the backend's.
//   - A validation code is never stored; a card number is sealed until its operation ends, or not.
//   - A write is stored only within its limits, and only if its service has once given an answer
//     that no other service gives. Otherwise 503 gives the reason.
//
// It must not import the checkout; the caller passes the callbacks Settled and After.
package gateway
