// Package drivetest runs a checkout with its outbox over a store, as a terminal does, in a
// synctest bubble. It is for the tests of the rooms that sell through the checkout.
//
// It guarantees that no goroutine of a Terminal runs after Halt, and that all clocks are the
// bubble's. A test chooses the store, the backend and the screen by its Parts.
//
// It must not be imported outside of tests, and names no service and no engine.
package drivetest
