// Package drive implements what a register can ask of the checkout: ecr.Desk, ecr.Till and
// ecr.Memory. It begins sales, refunds and reversals, and closes batches. It records whether the
// register acknowledged an outcome, and resumes sales that the last run left open.
//
// Three packages lie below it, each importing only earlier ones: drive/journal (rows,
// compare-and-set), drive/live (state of this run, in memory), drive/perform (effects, after their
// commit).
//
// Files: begin.go starts a payment, forward.go a refund or reversal, told.go aborts, repeats and
// records deliveries, prompt.go asks a person, sent.go reads what the register has sent and knows, eod.go is the
// end of day, timed.go the one that the terminal closes itself, receipt.go what is printed, resume.go the start, undo.go the undos.
//
// It guarantees:
//   - A sale is durable before Begin returns, and every decision before a register is told of it.
//   - A refund or reversal that is asked for again joins the first, also while the journal cannot
//     be written.
//   - Every open sale is resumed before the next one begins. This asks nothing outside the
//     terminal, so a dead network does not delay it.
//   - The end of day refuses to close a batch that has unsettled sales.
//
// It must not import ecr/session, ecr/zvt, the HTTP packages or the embedded backend.
package drive
