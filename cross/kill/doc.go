// Package kill is the campaign that kills the terminal with -9 at random moments: many terminals in parallel against
// one backend, each asked by a register that asks again until it has a definite answer. Then the backend's books say
// whether the two promises held: told approved and one net payment, or not approved and none.
//
// It drives the built binary only; the books and the journal are read by other processes. It must not import agent,
// store or schemes/backend.
package kill
