// Package enrol makes a box the terminal of a merchant, and keeps what it was given for that: a
// device key, a certificate, and the configurations of its operator (S0 to S2 know no enrolment;
// schemes/fleet is the contract).
//
// Files: state.go is the table of an enrolment's states. record.go is what is kept, in one sealed
// file. box.go begins and reads it, bundle.go begins one without a network. drive.go takes an
// enrolment from state to state, revision.go keeps the configurations: which one is active, which one
// did not work. renew.go keeps the certificate in date, report.go tells the service which program runs,
// entries.go says what happened.
//
// It guarantees:
//   - Each step is durable before the next one begins. A kill at any point leaves an enrolment that
//     goes on from there, with the same device key; the code is burned by the last step alone.
//   - The terminal uses a configuration only after the operator's signature was checked, the
//     caller's trial has ended well, and the service has confirmed it. Until then it keeps the one
//     it had.
//   - Besides, a terminal works with a bundle before the service has confirmed, and is not READY: only
//     on a journal that began with it, and no longer than the bundle is good.
//   - A configuration that was never seen to work is given up for the one before it.
//   - The code, the key and the configurations are sealed on the disk.
//
// The trial, the clock and the connection are the caller's. It must not import agent/config: to it
// a configuration is a text.
package enrol
