// Package salesapi is how local software sells: sales over HTTP on the local port. It owns the shape of
// /agent/v1/sales, and asks the checkout for what a register asks for (ecr.Desk).
//
// Files: till.go is the Till and its routes, api.go the bodies, ask.go begins, aborts and takes back,
// taking.go knows which requests are being taken, show.go reads, answer.go writes what is read, run.go
// follows a running sale until its end was told, refusal.go words what was refused, paper.go has the
// receipts.
//
// It guarantees:
//   - A 202 or 200 to a request for a sale says that the sale is durable. Each refusal says that
//     nothing was begun under that Idempotency-Key.
//   - The same Idempotency-Key of a client is the same sale. Each client is a register line of its
//     own.
//   - A client that reaches its own things only sees its own sales only, also where a body names an
//     original. Another's is 404.
//   - An outcome counts as told once the client's TCP has acknowledged the answer that carries it, and
//     the client is the one that sold.
//
// The local port mounts it, proves the client and paces it. It must not import the local port, the
// register's protocols, the outbox or the services.
package salesapi
