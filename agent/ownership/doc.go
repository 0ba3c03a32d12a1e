// Package ownership keeps the owners of things that the terminal only forwards: hosted orders,
// sessions and operations, contracts, applications, scheme transactions, transactions of payment
// links, and token values. Its wrappers of the services let a local client reach only its own
// things.
//
// It owns the tables owned_ids, owned_named and owned_things. It guarantees:
//   - A thing has one owner: the client whose call made it, as the service's answer or a later
//     reading shows. What a call only named (an order, a contract, a reference) is nobody's by that.
//     What stood under a reference before the first call that named it is another's.
//   - A refused call takes back what it named itself, and nothing that an earlier call named.
//   - Ids are compared as they are spelled, and are of the place where their service stood when it gave them.
//   - One client's Idempotency-Key is not another's at the backend.
//   - A client that reaches only its own things gets the same wire.NotFound for another client's
//     thing as for a missing one, before the backend is asked.
//   - An answer gives and shows a client what it asked for: one that tells another id, order or session is
//     another's. The answer to the start of a scheme's transaction names neither reference nor, where the
//     service does not echo it, the Key: a reading has to show that the call made what it names.
//   - Ids inside bodies count too: the original of a refund or reversal, the contract of a
//     recurring payment.
//   - A write that names a register's sale is refused for every caller, and the refusal names the
//     receipt.
//   - A call about things without an owner (disputes, lists) needs a caller that may reach
//     everything.
//
// It must not import the outbox, the checkout or the local port.
package ownership
