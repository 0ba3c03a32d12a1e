// Package disputes is the contract with the dispute service (S1 2.3, 4.2): an issuer disputes a card transaction, lists its
// cases, lists those of a queue, moves them along, and sends and fetches documents.
//
// Guarantees:
//   - A card number travels encrypted only (RSA-2048, OAEP); who holds this package and the public key cannot read it. Names,
//     expiry dates, passwords and access tokens print, log and marshal as nothing; EncodeCreate, EncodeList, EncodeQueue and
//     EncodeUpdate are the only ways they leave, onto the wire.
//   - A document is never in memory as a whole: Handler and Client keep it in a nameless file while the call lasts.
//   - Every code of S1 7 survives the wire both ways; a reply that is not exactly what S1 4.2 promises is an error; a write
//     whose effect is not known is UnknownOutcome (or Internal where the service itself says so).
//   - What another service calls a file is a plain name without a path.
//
// It imports schemes/money, schemes/wire and the standard library, and must not import another service, the store or
// the agent.
package disputes
