// Package fleettest holds the conformance suite of the enrolment service. Run tests any
// implementation: a service in process, and the same service behind Handler and Client.
//
// It imports schemes/fleet, schemes/wire, schemes/wire/wiretest and testify; it must not import a
// backend or the agent.
package fleettest
