// Package outbox is the durable queue of backend writes: it accepts an operation in the caller's
// own commit, orders it behind the earlier ones of its aggregate, sends it, and settles it.
// Payloads are opaque to it.
//
// It owns the tables outbox_ops, outbox_sums, outbox_purged, outbox_alerts and outbox_clock. An
// operation's life is one table (table.go) and one pure function over it; step.go writes its
// answers, attempt.go sends, run.go schedules.
//
// It guarantees:
//   - an accepted operation is durable with the caller's change, or neither is;
//   - accepting one Key twice is one operation; the same Key with another content is refused;
//   - within an aggregate an operation is sent only after every earlier one is final;
//   - the state SENT is durable before the first byte leaves, so a crash never turns "maybe sent"
//     into "unsent";
//   - what is read before that (Kind.Reads) is durable with SENT: a crash in the reading leaves the
//     operation PENDING, and nothing that cannot have left the terminal is ever in DOUBT;
//   - an operation that was sent ends by the kind's verdict only, never by age: it ends DONE or
//     FAILED, or it is in DOUBT, visibly, until a person resolves it;
//   - it is never sent under another Key;
//   - Kind.Settled runs in the commit that makes the operation final or in doubt, Kind.After
//     follows it;
//   - a row whose stored fields were changed behind its back is HELD, not sent;
//   - a sender that panics or a payload that cannot be read stops its own aggregate only;
//   - the payload's key is destroyed when the operation is final; the result stays readable until
//     the operation is purged;
//   - it is purged only when it, and everything of its aggregate, was final for the whole
//     retention; the report keeps its sums.
//
// It must not import the services' packages (agent/offline adapts them), net/http or the checkout.
package outbox
