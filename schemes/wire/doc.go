// Package wire holds what the contracts with the backend share: the closed list of error codes,
// the Key of an operation, strict JSON, body limits, how a call is sent and how its reply is
// judged, the two forms of error bodies (fault.go, problem.go), the types of card numbers and
// secrets, and the mark of a pending operation.
//
// It guarantees:
//   - Decode accepts exactly one JSON text in UTF-8. It refuses what two readers could understand
//     differently: duplicate keys, other-case twins of known keys, null for a required value,
//     numbers outside the Go type, trailing bytes. It ignores unknown keys.
//   - A write is Unavailable only if it provably never left (see Call.Do). In each other case its
//     outcome is unknown.
//   - Nothing here logs, and no error text carries a value that was read.
//
// It must not import any service, nor a third-party module but google/uuid (for NewKey).
package wire
