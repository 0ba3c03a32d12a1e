// Package cases is the dispute desk of the embedded backend: it implements disputes.Service and disputes.Keys over a store.
//
// It owns the tables cases_case, cases_status, cases_document, cases_file and cases_key. It guarantees: what was answered is
// durable; a case belongs to one purchase of the books, and a purchase has one case at most; a case moves only as
// disputes.Next says, one row of cases_status per move, in the commit of the move; one effect per Idempotency-Key, however many
// ask at once; a card number is read with the private key, turned into the bank's keyed name of the card, and kept nowhere;
// the private key, documents, names, expiry dates and private notes are sealed.
//
// The purchases and the cards' names are given by two functions of the bank's. It must not import another room of the
// backend besides once.
package cases
