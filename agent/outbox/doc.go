// Package outbox is the durable queue of backend writes: it accepts an operation in the caller's
// own commit, orders it behind the earlier ones of its aggregate, sends it, and settles it. It
// never reads a payload.
//
// It owns the tables outbox_ops, outbox_sums, outbox_purged, outbox_alerts and outbox_clock.
// Files: table.go is an operation's life as a pure function, step.go stores its answers. accept.go
// takes operations in, schedule.go chooses what is due, attempt.go sends it.
//
// It guarantees:
//   - An accepted operation is durable with the caller's change, or neither is.
//   - Accepting one Key twice is one operation; the same Key with another content is refused.
//   - Within an aggregate an operation is sent only after every earlier one is final.
//   - The state SENT is durable before the first byte leaves, so a crash never turns "maybe sent"
//     into "unsent".
//   - If Kind.Reads is set, the result of a first reading is stored with SENT. A crash during the
//     reading leaves the operation PENDING. So only an operation that may have left is ever in
//     DOUBT.
//   - Only the Kind decides how a sent operation ends; it never expires. It ends DONE or FAILED, or
//     it is in DOUBT, visibly, until a person resolves it. It is never sent under another Key.
//   - Kind.Settled runs in the commit that makes the operation final or in doubt, Kind.After
//     follows it.
//   - A row whose MAC is wrong is HELD, not sent.
//   - A sender that panics, or a payload that cannot be read, stops its own aggregate only.
//   - When an operation is final, its payload's key is destroyed. Its result stays readable until
//     the purge.
//   - An operation is purged only when its whole aggregate was final for the retention; the report
//     keeps its sums.
//
// It must not import the services' packages (agent/gateway adapts them), net/http or the checkout.
package outbox
