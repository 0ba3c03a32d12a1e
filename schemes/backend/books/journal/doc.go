// Package journal stores the postings that books decided, and reads them back.
//
// It owns the tables books_ledger and books_posting. It guarantees:
//   - A posting is written only as the result of books.Apply on the stored ledger, in the commit
//     that changes the ledger.
//   - A posting is never changed or deleted.
//
// It must not import a service or another room of the backend.
package journal
