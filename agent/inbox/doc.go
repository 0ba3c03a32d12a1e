// Package inbox takes over what the backend sends to the terminal: webhooks and notifications.
//
// It owns the tables inbox_event and inbox_build. It guarantees:
//   - 200 is answered after the commit only, and to every repeat of what was committed;
//   - however often an event comes, it is one row and reaches each subscription once;
//   - a subscription resumes at the row it names, over restarts too;
//   - bodies are sealed at rest; nothing is read of a request whose Authorization is not the configured one, and the
//     comparison takes the same time for every wrong value;
//   - what a notification of hosted build is known by is durable before the platform has the build's reply; a notification
//     is taken only if it shows the securityToken of a session of its order, which is compared in constant time, and is
//     stored without it.
//
// It knows the envelopes of webhooks and notifications and no service behind them; it must not import the outbox, the checkout or upstream.
//
// Decisions:
//
// 2026-11-21: payment and onboarding events are known by their id; other sources give an id of their own making (payment
// links: uuid and status).
//
// 2026-11-21: without [hooks] authorization there is no route: an event that anybody could have written is worth nothing.
//
// 2026-11-21: the local port's guard stays in front: a tunnel or proxy that brings hooks in from a public name has to
// speak to the port under the port's own address. A public Host is never let through.
//
// 2026-11-21: the newest 20,000 events are kept, counted and not dated: a wall clock that jumps forgets nothing. That many
// are more than any sender's schedule repeats.
//
// 2026-11-22: a notification of hosted build is known by its eventId, or where it has none by its operation and result. It
// needs no [hooks] authorization: its token is its own proof. Whatever is wrong with one is answered alike, 500 KO, as real
// receivers do: its sender comes again, and somebody else learns nothing. The tokens of the newest 20,000 builds are kept.
package inbox
