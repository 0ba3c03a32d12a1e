// Package drive is what a register can ask of the checkout: it is the terminal's ecr.Desk, ecr.Till
// and ecr.Memory. It begins sales, refunds and reversals, closes batches, hears what was told, and
// takes up what the last run left.
//
// Three packages lie below it, each knowing only those before: drive/journal (rows,
// compare-and-set), drive/live (what this run remembers), drive/perform (what a decision asks for
// once it is durable).
//
// It guarantees:
//   - a sale is durable before Begin returns, and every decision before a register is told of it;
//   - a refund or reversal that is asked for again joins the first, also while the journal cannot
//     be written;
//   - every open sale is taken up before the next one begins; a dead network keeps none from
//     beginning;
//   - the end of day closes no batch over what is not settled.
//
// It must not import ecr/session, ecr/zvt, the HTTP packages or the embedded backend.
package drive
