// Package sim plays whole days of a terminal in virtual time: one scheduler with a seed, one goroutine, no clock, no
// disk, no network. It drives the pure cores as they are – the dialogue (ecr/zvt), the sale (agent/checkout), the
// sender of undos (agent/offline), the books (schemes/backend/books) – between models of what lies around them: a
// register that drops lines, restarts and asks again, a journal that survives crashes, a queue, a network that loses,
// delays and repeats, a backend with every wallet of the scenario table.
//
// When the day is over and everything had time to settle it guarantees, or prints the seed with what happened:
// the register was told "approved" and acknowledged, exactly when one net payment is committed; else none is; a sale is
// initialized under one Key; every sale and every undo has ended; receipt numbers are unique; every request got one
// definite answer; the postings sum to zero. The one exception is the documented one: a register that took the approval,
// whose acknowledgement was not heard and who never asked again.
//
// A seed is a day: the same seed gives the same events to the last one. SEEDS says how many days, SEED where they begin.
//
// The models follow agent/checkout/drive, agent/outbox, ecr/session and schemes/backend/wallets, which have tests of their own:
// a day that fails may be a fault of the model. It must not import those, nor the store.
package sim
