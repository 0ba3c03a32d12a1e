// Package room holds what the rooms of the embedded backend share: their options, their clock and
// log, the sweep over what is due, writes under an Idempotency-Key, and uploads in pieces. It knows
// bytes and error codes, no service.
//
// A room embeds a Room. It adds its routes, its tables and its rules.
//
// It owns the table once_answer. It guarantees:
//   - An answer is stored in the commit of its effect, or not at all.
//   - A known key with another body is KeyReused. Of the body only a MAC is stored.
//   - Of concurrent writes with one key, the first one acts and the others get its answer: the
//     store has one writer.
//   - Run looks for due work at least every second, so it notices a jump of the wall clock. A look
//     that ends in an error is followed by another.
//
// Only the backend and its rooms may import it. It must not import a service, nor another room
// besides scenario and pages/form.
package room
