// Package hostedtest holds the conformance suite of the hosted build service and a small service in memory. Run is meant for
// every row: a service in process, and the same behind Handler and Client. It guarantees that each of the Fake's Bugs makes
// it fail.
//
// It imports schemes/hosted, schemes/money, schemes/wire and testify; it must not import a backend or the agent.
package hostedtest
