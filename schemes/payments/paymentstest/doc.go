// Package paymentstest holds the conformance suite of the payment service. Run tests any
// implementation: a service in process, the same service behind Handler and Client, and a queue
// before either, whose answers may be pending first.
//
// It imports schemes/payments, schemes/wire, schemes/wire/wiretest and testify; it must not import
// a backend or the agent.
package paymentstest
