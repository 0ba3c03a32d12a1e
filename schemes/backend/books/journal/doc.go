// Package journal writes down what books decided and reads it back.
//
// It owns the tables books_ledger and books_posting. It guarantees that a posting is written only as the outcome of
// books.Apply on the stored ledger, in the same commit as the ledger's change, and is never changed or deleted.
// It must not import a service or another room of the backend.
package journal
