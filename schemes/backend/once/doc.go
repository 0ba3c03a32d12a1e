// Package once keeps the answers of writes that carried an Idempotency-Key, so that the same write asked again has no
// second effect.
//
// It owns the table once_answer. It guarantees that an answer is kept in the commit of the effect it tells about, or
// not at all; that a key under which another body comes is KeyReused; that of the body nothing is kept but a MAC. It
// knows bytes and error codes, no service. Among concurrent writes of one key the store's one writer lets the first
// act and gives the others its answer.
//
// It must not import a service or another room of the backend.
package once
