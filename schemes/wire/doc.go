// Package wire holds what every contract with the backend shares: the closed list of error codes,
// the Key of an operation, strict JSON, body limits, how a call is sent and what its reply proves, the two
// shapes of error bodies (fault.go, problem.go), the types of card numbers and secrets, and the mark of a
// pending operation.
//
// Guarantees:
//   - Decode accepts exactly one JSON text in UTF-8 and refuses everything two readers could
//     understand differently: duplicate keys, other-case twins of known keys, null where a value is
//     required, numbers outside the Go type, trailing bytes. Unknown keys are ignored.
//   - A write is called Unavailable only when it provably never left (see Call.Do); in every other case
//     its outcome is unknown.
//   - Nothing here logs, and no error text carries a value that was read.
//
// It imports the standard library and google/uuid (for NewKey) only. It must not import any service.
//
// Decisions:
//
// 2026-11-21: null stands for "absent" where the field is optional, that is a pointer, slice, map,
// RawMessage, or a field tagged omitempty, omitzero or `wire:"nullable"`; services of this family write null for optional
// texts. Null is refused for every other field, in array elements and as the whole text.
//
// 2026-11-21: an other-case twin of a known key is refused even when it stands alone, because one
// reader would take it and the next would not.
//
// 2026-11-21: integers are written as integers: 1.0, 1e3 and -0 are refused for integer fields.
//
// 2026-11-21: Retry-After as a date is measured against the reply's own Date header, never
// against our clock, which may stand in 1970; without a Date header it is ignored.
package wire
