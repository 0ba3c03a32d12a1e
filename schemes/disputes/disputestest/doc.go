// Package disputestest holds the conformance suite of the dispute service. Run is meant for every
// row: a service in process, and the same behind Handler and Client.
//
// It imports schemes/disputes, schemes/money, schemes/wire, schemes/wire/wiretest and testify; it
// must not import a backend or the agent.
package disputestest
