// Package books is the campaign on the books of the payment service: sixteen callers at once create, authorize, capture,
// cancel and refund the same payments in any order, with good and bad amounts, with test cards that misbehave, under keys that
// are sent twice at the same time, while the clock runs.
//
// Whatever the order: no payment is reserved above its amount, captured above what was reserved, or refunded above what
// was captured; nothing is captured from a cancelled one; every transaction and every payment sums to zero; ids and references
// are unique; each call that was answered stands in the books once with its amount, each that was refused not at all; one
// key has one answer; and what a read says is what the postings say. The judge adds the postings up itself.
//
// It drives a whole backend on a real store with durable commits and must not be imported.
package books
