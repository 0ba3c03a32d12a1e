// Package port owns the terminal's local HTTP port: the guard that closes it to the web, the local credentials, the services'
// routes, what the terminal shows of itself, the probes, and the document that describes them.
//
// It guarantees:
//   - a request reaches a handler only when its Host is one of the port's own names and it carries neither Origin, Referer
//     nor Sec-Fetch-Site (a web page cannot leave all of them out), and the port listens on this machine alone;
//   - a service's route, /agent/v1 and /metrics want the terminal's token, each in its service's own form, compared in a
//     time that tells nothing; no refusal says more than that;
//   - bodies, headers and time are bounded, and so is the number of connections;
//   - nothing changes state on GET;
//   - a write's caller learns the backend's own answer, that it is stored (202, Location names its operation), that it was
//     provably not sent (503 with Retry-After), or that its outcome is not known (504);
//   - the OpenAPI document is made of the table that mounts the routes.
//
// It must not import the store, the outbox's writers, the register link, the configuration or any third-party module.
//
// Decisions, 2026-11-21:
//
// Probes answer plain text and say nothing about money; "ready" does not ask for the backend, because a terminal without
// network is in normal operation. Probes and the OpenAPI document need no token: they hold nothing of this terminal.
//
// The token is a Bearer token. So is its Base64 behind any name and a colon, which is how the scheme services' clients send a
// key and a secret (S1 5); and the token routes give it to a client that shows it as its client secret, because clients of
// the payment service fetch a token before every call. For payment links it is the secret of the signature, or the X-API-KEY.
//
// 2026-11-22. A local program may have a token of its own, and with it a name: the scope of its Idempotency-Key, and a pace of
// its own, so that one that runs wild does not stop the others. Requests above a client's rate or number in flight are answered
// 429 with Retry-After in the service's shape, before anything is done. Streams of events hold their places longer than
// requests and are counted apart. For payment links a client's name is the instance it signs for; since that is proven by the body
// alone, the limit is asked when the body has been read.
//
// The backend's own credentials never serve here, and the local token never leaves: requests are written anew.
//
// A call goes on when its caller goes away, until its own time is over: a write cut short has an outcome nobody knows.
//
// 2026-11-22. A 401 or 403 of the backend is answered 503 and names the keys of [upstream.auth]: passed on, it would read as a
// wrong local token. For payment links it is so from the moment the signature is found good.
//
// A connection above the limit waits until another ends. 2026-11-22. Another ends at once for it: else anybody on this machine shuts
// everybody out without a token. First those that say nothing, then strangers' requests, whatever they wait for, then idle ones of
// clients; never a request of a client. Who it is is decided on the header, before the body is awaited; until then a
// request has 5 s in all. Of payment links, /token and the hooks the body is the proof, so that they are strangers' until it is read.
//
// Attachments of a payment link are taken from two callers at a time, since they lie on the disk before anybody is known.
package port
