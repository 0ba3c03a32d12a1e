// Package disputes is the contract with the dispute service (S1 2.3, 4.2). An issuer disputes a
// card transaction, lists its cases and those of a queue, moves them along, and sends and fetches
// documents.
//
// It guarantees:
//   - A card number travels encrypted only (RSA-2048, OAEP). This package and the public key cannot
//     read it. Names, expiry dates, passwords and access tokens are masked in print, log and JSON;
//     wire.Encode alone writes them onto the wire.
//   - A document is never in memory as a whole. Handler and Client keep it in a nameless file
//     during the call.
//   - Each code of S1 7 survives the wire in both directions. A reply that is not exactly what S1
//     4.2 promises is an error. A write whose effect is not known is UnknownOutcome, or Internal if
//     the service itself says so.
//   - A file name of another service is reduced to a plain name without a path.
//
// It must not import another service, the store or the agent.
package disputes
