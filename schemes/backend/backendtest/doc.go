// Package backendtest holds a fixture for each service's conformance suite on the embedded backend.
// A row of a suite takes the fixture and changes what stands before the backend: a client and a
// handler, the local port, the outbox.
//
// Tests of any room may import it; it must not import the agent.
package backendtest
