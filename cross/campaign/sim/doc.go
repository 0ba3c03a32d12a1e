// Package sim plays whole days of a terminal in virtual time: one scheduler with a seed, one
// goroutine, no clock, no disk, no network. It drives the pure cores unchanged: the dialogue
// (ecr/zvt), the sale (agent/checkout), the sender of undos (agent/gateway), the books
// (schemes/backend/books). Models replace the rest: a register that drops lines, restarts and asks
// again; a journal that survives crashes; a queue; a network that loses, delays and repeats; a
// backend with each wallet of the scenario table; on three days of five a person at the terminal, who
// answers, cancels, walks away or presses a key twice, and whose keypad may be unplugged. Registers
// take purchases back.
//
// It guarantees, after a day and the time to settle, or prints the seed and what happened:
//   - The register was told "approved" and acknowledged it, exactly if one payment is committed.
//   - A purchase is given back by the sum of what was told as given back. No register is told no of
//     a refund or reversal that runs, or that gives money back later.
//   - A sale is initialized under one Key. Each sale and undo has ended. Receipts are unique.
//   - Nothing is sent before a question is answered, and then with that answer and its amount.
//   - Each request got one definite answer. The postings sum to zero.
//   - The referee (cross/referee) sees no violation in what left the terminal.
//
// The exception is the documented one: a register that processed the approval, whose
// acknowledgement was lost, and that did not ask again before the grace was over.
//
// The tills of the other protocols ask at the desk as their protocols make the requests (ids,
// patience, keep). An approval that no till heard is undone, or kept with an alert.
//
// Each seed generates one day; the same seed gives the same events. SEEDS is the number of days,
// SEED the first one.
//
// The models imitate agent/checkout/drive, agent/outbox, ecr/session and schemes/backend/aapay.
// A failed day may be a fault of a model. It must not import those, nor the store.
package sim
