// Package badinput is the attacker's campaign: hostile backends, hostile registers and hostile local clients against the
// real binary, one table row per bad input.
//
// Every row says what was sent and what came back. A row is ok when the answer was clear and came within its time, the
// process lived on within its memory, a normal sale worked afterwards, the journal and the backend agreed to the cent
// (one Key and one body per reference, approved if and only if the money stayed moved, an undo where one is owed), and no
// secret and no consumer id stood in what the process wrote.
//
// The embedded backend has tables of its own (A, B and C): one for the payment routes, one for tokens, onboarding with the
// sandbox's acts, the token grant, payment links with their proofs, the forms of the link and payment pages, and the
// administration of webhooks, and one for disputes, hosted build and its fields. Every answer is a clear refusal in the service's shape, nothing is committed to the database (its
// write-ahead log is the same to the byte), and neither card numbers nor secrets stand in answers, output or files. The
// terminal's receiver of webhooks is a scene of the first table.
//
// It owns the numbers of the rows: A for the local port, B for bodies, C for meaning and replay, D for the backend's replies, E for the register line. BADINPUT=full
// runs all of them, otherwise a subset runs that touches every group. Minutes are shortened by configured timers (time-outs
// in milliseconds, t1, poll); what only time itself can show (60 s without ETX, T4) is named with its synctest twin.
//
// What proves each line of D beside its scenes is a table of its own, printed too.
//
// Not met by a sale of this version: D81 (document downloads), the revoked certificate of D82 (nobody is asked; see agent/upstream), lines
// E92 and E93 where they need real wires (a pseudo terminal has neither parity nor CTS; their bytes are played instead). Of C58 the timing of
// the proof's comparison is not measured: it compares hashes of equal length.
//
// It drives the built binary only. It must not import agent, store or schemes/backend.
package badinput
