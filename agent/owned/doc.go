// Package owned keeps the owners of things that the terminal only passes on: hosted orders, sessions and operations, contracts,
// applications, scheme transactions, transactions of payment links, values of tokens. Its services let a local client reach its
// own things alone.
//
// It owns the table owned_things. It guarantees:
//   - a thing has one owner: the first client that names it in a call that the backend does not refuse, or gets it in a reply;
//   - one client's Idempotency-Key is not another's at the backend;
//   - a client that reaches its own things only gets the same wire.NotFound for another's thing and for none, before the backend
//     is asked;
//   - ids inside bodies count: the original of a refund or reversal, the contract of a recurring payment;
//   - a write that names a register's sale is refused, whoever asks, with the receipt in its words;
//   - what names nobody's thing (disputes, lists) needs a caller that reaches everything.
//
// It must not import the outbox, the checkout or the local port. Decisions: DECISIONS.md.
package owned
