// Package drivetest runs a checkout with its outbox over a store, as a terminal does, in a bubble of
// virtual time. It is for the tests of the rooms that sell through it.
//
// It guarantees that nothing of a Terminal runs after Halt, and that all clocks are the bubble's. A
// test says in its Parts which store, which backend and which screen there are.
//
// It must not be imported outside of tests, and names no service and no engine.
package drivetest
