// Package mutants breaks the product on purpose, one rule at a time, and sees that a named test notices.
//
// It owns a table: a text of one source file, the text that replaces it, and the test that has to turn red. The sources are never
// touched: each mutant is a `go test -overlay`. A test counts as red when its mutant compiles, the same test passes without it, and
// it fails with it; a time-out is no proof.
//
// `make mutants` runs them all. The plain test only looks whether every text still stands exactly once in its file and
// every named test still exists, so that the table cannot rot.
//
// It must not import the rooms it breaks.
package mutants
