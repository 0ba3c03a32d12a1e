// Package upstream is the one HTTP client to the backend: connections, TLS, credentials, retries,
// limits, circuit breaker.
//
// It guarantees:
//   - It retries a read, at most twice. A write leaves at most once, also with an Idempotency-Key
//     and whatever the connection does.
//   - Only the client that Unanswered returns, for a service that honours Keys, sends a write with
//     an Idempotency-Key again, with the same key and body, where no reply came.
//   - Credentials go to the configured host only. A redirect is an error and is never followed.
//   - Each reply is bounded: 64 KiB of header, 1 MiB of body, a limit for each try and for the
//     whole call. A Retry-After above a few seconds is left to the outbox.
//   - A 401, 403, 404, 405 or 501 to a retried write is an error, not a reply, if an earlier try may
//     have arrived.
//   - An error keeps the chain of its cause, so a caller can tell a failed dial from a lost reply.
//   - While the circuit breaker is open, nothing is sent and the error is wire.Unavailable.
//
// It is the only importer of retryablehttp. It must not import the services' packages or the
// outbox.
package upstream
