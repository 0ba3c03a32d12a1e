// Package backend opens and wires the embedded backend: the services of S0, S1 and S2 over one
// durable store with real books, and the enrolment of terminals where it is asked for.
//
// It owns the directory it is given (backend.db, backend.key). It guarantees:
//   - It answers nothing before that is durable.
//   - The fixed test credentials are the only ones, unless others are configured. An enrolled terminal
//     has its own, which reach its merchant's alone and end with the enrolment.
//
// It must not import agent, ecr, device or cmd. The agent cannot tell it from a remote backend.
package backend
