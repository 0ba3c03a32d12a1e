// Package inbox takes over what the backend sends to the terminal: webhooks and notifications.
//
// It owns the table inbox_event. It guarantees:
//   - 200 is answered after the commit only, and to every repeat of what was committed;
//   - however often an event comes, it is one row and reaches each subscription once;
//   - a subscription resumes at the row it names, over restarts too;
//   - bodies are sealed at rest; nothing is read of a request whose Authorization is not the configured one, and the
//     comparison takes the same time for every wrong value.
//
// It knows the envelope of webhooks and no service behind it; it must not import the outbox, the checkout or upstream.
//
// Decisions:
//
// 2026-11-21: payment and onboarding events are known by their id; other sources give an id of their own making (payment
// links: uuid and status; hosted build: the operation). A second body under a known id is not looked at.
//
// 2026-11-21: without [hooks] authorization there is no route: an event that anybody could have written is worth nothing.
//
// 2026-11-21: the local port's guard stays in front: a tunnel or proxy that brings hooks in from a public name has to
// speak to the port under the port's own address. A public Host is never let through.
//
// 2026-11-21: the newest 20,000 events are kept, counted and not dated: a wall clock that jumps forgets nothing. That many
// are more than any sender's schedule repeats.
package inbox
