// Package badinput is the campaign of bad input: hostile backends, registers and local clients
// against the real binary, one table row per input.
//
// A row passes if all of this holds:
//   - The answer was clear and came in time, and the process lived on within its memory.
//   - A normal sale worked afterwards.
//   - Journal and backend agree to the cent: one Key and one body per reference, approved exactly
//     if the money stayed moved, an undo where one is owed.
//   - No secret and no consumer id stood in the output.
//
// Three more tables are for the embedded backend: payment routes; tokens, onboarding, token grant,
// payment links, pages and webhooks; disputes and hosted build. There each answer is a refusal in
// the service's shape, and the write-ahead log stays the same to the byte.
//
// It owns the numbers of the rows, by a letter: A local port, B bodies, C meaning and replay, D
// the backend's replies, E the register line. BADINPUT=full runs all; otherwise a subset runs from
// each group. Configured timers replace minutes by milliseconds. A row that would need real time
// (60 s without ETX, T4) names its twin in a synctest bubble. Another printed table lists the
// other tests of each row of D.
//
// Not covered: downloads of documents; a revoked certificate of the backend (agent/upstream does
// not look it up); BREAK, wrong speed and flow control on real wires (their bytes are played); the
// timing of signature checks (they compare hashes of equal length).
//
// It drives the built binary only. It must not import agent, store or schemes/backend.
package badinput
