// Package engines runs the suites of the backend's services on its other engine, as they are: on empty
// books, and on books that were moved there from a file.
//
// It must not be imported.
package engines
