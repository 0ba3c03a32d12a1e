// Package once keeps the answers of writes that carried an Idempotency-Key, so that a repeated
// write has no second effect. It knows bytes and error codes, no service.
//
// It owns the table once_answer. It guarantees:
//   - An answer is stored in the commit of its effect, or not at all.
//   - A known key with another body is KeyReused. Of the body only a MAC is stored.
//   - Of concurrent writes with one key, the first one acts and the others get its answer: the
//     store has one writer.
//
// It must not import a service or another room of the backend.
package once
