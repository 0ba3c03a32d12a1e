// Package engines runs the suites of the backend's services on its other engine, as they are.
//
// It must not be imported.
package engines
