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
package upstream
