// Package room holds what the rooms of the embedded backend share: their options, their clock and
// log, the sweep over what is due, writes under an Idempotency-Key, and uploads in pieces. It
// knows bytes and error codes, no service.
//
// A room of the backend is a package such as cards or links. It embeds a Room and adds its routes,
// its tables and its rules.
//
// It owns the tables once_answer and room_owner. It guarantees:
//   - A closure knows on whose behalf it runs. What another merchant owns is not there for it.
//   - An answer is stored in the commit of its effect, or not at all.
//   - A known key with another body is KeyReused. Only a MAC of the body is stored.
//   - Of concurrent writes with one key, the first one acts and the others get its answer: the
//     store has one writer.
//   - Run looks for due work at least every second, so it notices a jump of the wall clock. An
//     error does not stop it.
//
// Only the backend and its rooms may import it. It must not import a service, nor another room
// besides scenario and pages/form.
package room
