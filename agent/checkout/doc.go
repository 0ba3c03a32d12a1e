// Package checkout is the pure state machine of a sale: what state it is in, which events it
// takes, and which effects follow. Next is a pure function over one table; agent/checkout/drive
// stores the states and performs the effects.
//
// Files: state.go is what a sale is, event.go what happens to it. table.go is the table; payment.go,
// abort.go, approved.go, declined.go, undo.go, forward.go and held.go decide, steps.go has what they share,
// judge.go reads a status. choose.go picks the method, timers.go and poll.go compute times.
//
// It guarantees:
//   - The table names every pair of phase and event. An impossible event is refused.
//   - After approval a sale can only be confirmed or undone. After undo has begun it is never
//     approved.
//   - Every payment that was sent and not approved is undone, unless it is proven that no money can
//     move, or a journal that took another's place holds it: then a person decides. Owed computes
//     this from the state alone, so no separate row can be missing.
//   - Every time in a State is on the boot clock, so a jump of the wall clock changes no decision.
//
// It must not import os, net, database/sql, the store or the outbox. It calls no clock and starts
// no goroutine.
package checkout
