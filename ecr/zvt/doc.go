// Package zvt is the terminal's side of the ZVT register dialogue: an ecr.Dialogue, which is a
// pure state machine.
//
// A Machine takes events (an APDU came, the desk answered, a timer ran out) and returns actions
// (send this APDU, begin that sale, start a timer). It reads no clock and does no I/O; a session
// performs its actions.
//
// Files: table.go says what it does with each command in each phase, step.go takes an event and
// request.go reads commands. begin.go, abort.go, outcome.go and answers.go are a sale's dialogue,
// messages.go is what it sends, receipt.go prints receipts, words.go has their texts, admin.go has
// registration, status, diagnosis and totals, small.go the commands of service, panel.go the
// terminal's own screen, keys and printer, manner.go what registers do otherwise.
//
// It guarantees
//   - Every command is answered once: 80 00, or 84 xx if nothing was begun. A command that the
//     register gave up by starting again stays unanswered.
//   - 80 00 to a sale is sent only after the desk has made it durable. Two exceptions: the journal
//     is still loading, or a refund or reversal takes long. A refusal then could look final.
//   - An approved outcome is sent only as the desk journalled it. The desk is told exactly once
//     what became of it: told, refused or lost. The outcome counts as told before receipts are
//     printed, so a failed print does not undo the sale.
//   - What is sent is conservative: fields in table order, containers only to a register that sent
//     one, never 84 1E.
//
// It imports ecr, the codec ecr/zvt/apdu, schemes/money and the standard library; never os, net or
// database/sql.
package zvt
