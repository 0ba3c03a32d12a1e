// Package cert makes the certificate by which tills know a nexo terminal. It takes and returns bytes.
//
// It owns the names in the certificate and how long it holds.
//
// It guarantees:
//   - The authority that signs is made for one certificate, and its private key is never kept.
//   - That authority is constrained to the names and addresses of the terminal: a till that trusts it
//     trusts nobody else by it.
//   - What is kept is used again until 30 days before its end, whatever a clock that is behind says.
//
// It imports the standard library alone. Its caller keeps the bytes: they hold a private key.
package cert
