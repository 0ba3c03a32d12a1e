// Package upstream is the one HTTP client to the backend: connections, TLS, credentials, repeats, limits, circuit.
//
// It guarantees:
//   - a request is repeated only if it is a GET or carries an Idempotency-Key, at most twice, with the same Key and
//     body; any other request leaves at most once, and through Once every write does;
//   - credentials go to the configured host only; a redirect is an error, never followed;
//   - no reply makes it wait or read without bound: header 64 KiB, body 1 MiB, one try and the whole call have
//     their time, Retry-After above a few seconds is left to the outbox;
//   - a 401 or 403 to a repeated write is an error, not a reply, when an earlier try may have arrived;
//   - an error keeps the chain of its cause, so that a failed dial can be told from a lost reply;
//   - while the circuit is open nothing is sent, and the error says so (wire.Unavailable).
//
// It is the only importer of retryablehttp and must not import the services' packages or the outbox.
//
// Decisions.
//
// 2026-11-21. Replies are not decompressed: none is asked for, and a compressed one is refused by the contract's
// clients. So a small reply cannot become a large one.
//
// 2026-11-21. 401 on a fetched token makes one new token; the request goes again only under the rule above.
//
// 2026-11-21. The circuit opens after 5 failed calls in a row (no reply, 502, 503, 504), for 1 s doubling to 20 s;
// then one call is let through. 500 is an answer.
//
// 2026-11-22. A proxy's credentials are a setting of their own: an address is printed and logged, and would take them along. They go to
// the proxy alone, in the CONNECT of an https backend.
//
// 2026-11-21. Pins are checked against every certificate of the verified chain, in addition to the roots.
//
// 2026-11-22. Whether a certificate was revoked is asked of nobody: no list, no responder, and no stapled answer is read, since whoever has a stolen key
// staples none. The remedy is the pin: without the key's pin its certificate is refused, and the backup pin lets the next key in.
package upstream
