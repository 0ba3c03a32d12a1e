// Package journal writes down what books decided and reads it back.
//
// It owns the tables books_ledger and books_posting. It guarantees that a posting is written only as the outcome of
// books.Apply on the stored ledger, in the same commit as the ledger's change, and is never changed or deleted.
// It must not import a service or another room of the backend.
//
// 2026-11-21: the postings of an event belong to the transaction that caused it (a reversal's to the reversal) and
// name the payment whose ledger they moved, so that both a transaction's postings and a payment's sum to zero.
package journal
