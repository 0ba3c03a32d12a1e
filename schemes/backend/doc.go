// Package backend opens and wires the embedded backend: the services of S0, S1 and S2 over one durable store with real
// books.
//
// It owns the directory it is given: backend.db, backend.key. It guarantees that nothing is answered before it is
// durable, and that the fixed test credentials are the only ones there are unless others are configured.
//
// It must not import agent, ecr, device or cmd; the agent cannot tell it from a remote backend.
package backend
