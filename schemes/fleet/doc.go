// Package fleet is the contract of enrolment: a new terminal shows a one-time code and gets a client
// certificate and a signed configuration; an operator makes, lists and revokes codes. The service is
// ours, no specification has it.
//
// It owns the form of codes, tickets, bundles, certificate requests, proofs and signed revisions, and
// the states of an enrolment. It guarantees:
//   - The device key never leaves the device. The service sees a certificate request, and later
//     proofs that the key signed.
//   - A mistyped code is found by its check digit, before anything is sent.
//   - A configuration is signed for one enrolment and one number. Verify fails on any other.
//   - A bundle is signed for one box, and only its code opens it. What was cut off, changed, or made
//     by another authority is refused as a whole.
//   - What a terminal tells of its program is short, printable, and without card numbers. A version
//     that is held is a reason not to take it, and never one to take another.
//   - Codes and configurations are wire.Secret. No error names the content of a field.
//
// It must not import another service, the store or the agent.
package fleet
