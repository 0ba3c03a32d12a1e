// Package methods is the contract with the terminal service (S1 2.5, 4.4): which payment methods a
// terminal may use. It also has the stateless rules that a definition states.
//
// It guarantees:
//   - A bad definition does not affect the others: Usable repairs or refuses each by itself and
//     gives the reason.
//   - NotFound means that the service itself said so. A 404 of any server in between is
//     Unavailable.
//   - Times are computed in int64 and capped: no value from the wire overflows or yields a timer of
//     zero.
//
// It must not import another service, the store or the agent.
package methods
