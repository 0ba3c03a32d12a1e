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
package inbox
