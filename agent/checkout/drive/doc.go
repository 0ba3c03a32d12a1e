// Package drive performs what the checkout decides: it is the terminal's ecr.Desk, ecr.Till and ecr.Memory, over its journal
// (drive/journal).
//
// It guarantees:
//   - a sale is durable before Begin returns, and every decision before anybody is told of it;
//   - effects follow the commit; what a crash swallows is done again by the next start, from the row alone;
//   - the code has left the screen before an outcome is told.
//
// It must not import ecr/session, ecr/zvt, the HTTP packages or the embedded backend.
package drive
