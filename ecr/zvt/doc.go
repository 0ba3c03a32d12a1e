// Package zvt is the terminal's side of the ZVT register dialogue: an ecr.Dialogue, which is a pure
// state machine.
//
// A Machine takes events (an APDU came, the desk answered, a timer ran out) and returns actions
// (send this APDU, begin that sale, start a timer). It reads no clock and does no I/O; a session
// performs its actions. What it does with a command in each phase of a dialogue is one table
// (table.go).
//
// It guarantees
//   - every command is answered once: 80 00, or 84 xx where nothing was begun. A command that the
//     register gave up by starting again stays unanswered;
//   - 80 00 to a sale is sent only after the desk has made it durable. There are two exceptions:
//     the desk has yet to take its journal up, or it takes long over a refund or reversal. A
//     refusal then could be taken for a final no;
//   - an approved outcome is sent only as the desk journalled it, and the desk is told exactly once
//     what became of it: told, refused or lost. Told comes before printing, and a failed print
//     undoes nothing;
//   - what is sent is conservative: fields in table order, containers only to a register that sent
//     one, never 84 1E.
//
// It imports ecr, the codec ecr/zvt/apdu, schemes/money and the standard library; never os, net or
// database/sql.
package zvt
