// Package paylinkstest holds the conformance suite of the payment-link service. Run tests any
// implementation: a service in process, and the same service behind Handler and Client.
//
// It imports schemes/paylinks, schemes/wire, schemes/wire/bracket, schemes/wire/wiretest and
// testify; it must not import a backend or the agent.
package paylinkstest
