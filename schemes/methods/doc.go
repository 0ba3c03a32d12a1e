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
package methods
