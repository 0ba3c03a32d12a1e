// Package methods is the contract with the terminal service: which payment methods a terminal may use
// (S1 2.5, 4.4), and the stateless rules read from a definition.
//
// Guarantees:
//   - One bad definition never costs the others: Usable repairs or refuses each on its own and says why.
//   - NotFound means that the service itself said so; a 404 from anything in between is Unavailable.
//   - Times are computed in int64 and capped; no value of the wire overflows or yields a zero timer.
//
// It imports schemes/wire and the standard library, and must not import another service,
// the store or the agent.
//
// Decisions:
//
// 2026-11-21: the list is a top-level JSON array; the Client also accepts one object. Items that cannot be
// read are left out and reported to Client.Problem.
//
// 2026-11-21: errors have the shape of the sibling scheme service, {"valid":false,"error":{"message"}}
// (S1 2.4), with the code in the params of its first fault. A 404 counts as the service's own
// only in that shape.
//
// 2026-11-21: staleTimeOut and finalizeTimeOut are in a configured unit, minutes by default;
// absent, zero or negative means 5 minutes. They are capped at one year.
//
// 2026-11-21: a definition without a trigger is MANUAL (S1 2.4: trigger default 0).
//
// 2026-11-21: words that mean "not yet" or "no" (INITIALIZED, PENDING, STALE, REJECTED, CANCELLED,
// FAILED, TIMEDOUT) are never success, even if okCodes lists them.
//
// 2026-11-21: exclude holds paymentProviderIds, at most 1000. S1 4.4 speaks of scheme ids, and S1 2.5 gives a definition no other id.
//
// 2026-11-22: a list of a definition that S1 2.5 does not require is left out where it is empty; absent and empty mean the same.
package methods
