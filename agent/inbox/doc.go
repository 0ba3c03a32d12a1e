// Package inbox stores what the backend sends to the terminal: webhooks and notifications.
//
// Files: webhooks.go and build.go hear the senders, take.go stores what arrived, owner.go finds the
// client that it belongs to, feed.go gives it on, forget.go drops what is too much.
//
// It owns the tables inbox_event, inbox_owners, inbox_seen and inbox_build. It guarantees:
//   - It answers 200 only after the commit, and again to every repeat of a stored event.
//   - An event that comes several times is one row and reaches each subscription once.
//   - A subscription resumes at the row it names, over restarts too. What is given to a client later is new for that
//     client: it comes again, for that client alone. A reader that resumes is told that events behind its row are not
//     kept any more.
//   - The newest Options.Keep events are kept. The client that has most of them loses its oldest
//     first. Their ids are known eight times as long, so that a repeat is no second event.
//   - Bodies are sealed at rest. The body of a request is not read unless its Authorization is the
//     configured one. The comparison takes the same time for every wrong value.
//   - The data that identifies a notification of hosted build is durable before the caller gets the
//     build's reply. A notification is stored only if it shows the securityToken of a session of
//     its order. The token is compared in constant time and is not stored with it.
//
// It knows the envelopes of webhooks and notifications, and no service behind them. It must not
// import the outbox, the checkout or upstream.
package inbox
