// Package disputes is the dispute desk of the embedded backend. It implements disputes.Service and
// disputes.Keys over a store.
//
// It owns the tables cases_case, cases_status, cases_document, cases_file and cases_key. It
// guarantees:
//   - What was answered is durable. An Idempotency-Key has one effect, however many calls use it at
//     once.
//   - A case belongs to one purchase of the books. A purchase has at most one case.
//   - A case moves only as disputes.Next says. Each move is one row of cases_status, in the same
//     commit.
//   - A card number is read with the private key, turned into the bank's keyed name of the card,
//     and not stored.
//   - The private key, documents, names, expiry dates and private notes are sealed.
//
// The bank gives the purchases and the names of the cards by two functions. It must not import
// another room of the backend besides room and scenario.
package disputes
