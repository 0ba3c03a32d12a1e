// Package books is the campaign on the books of the payment service. Sixteen callers at once
// create, authorize, capture, cancel and refund the same payments in any order, with good and bad
// amounts, with test cards that misbehave, and with keys that are sent twice at once, while the
// clock runs.
//
// It guarantees, in any order of calls:
//   - No payment is reserved above its amount, captured above its reservation, or refunded above
//     its captures. A cancelled payment is not captured.
//   - Each transaction and each payment sums to zero. Ids and references are unique.
//   - An answered call is in the books once with its amount; a refused call is not. One key has one
//     answer.
//   - A read agrees with the postings. The test adds the postings up itself.
//
// It drives a whole backend on a real store with durable commits, and two backends on one PostgreSQL.
// It must not be imported.
package books
