// Package mutants breaks the product on purpose, one rule at a time, and checks that a named test
// fails.
//
// It owns a table: a text of one source file, the text that replaces it, and the test that has to
// turn red. The sources are not touched: each mutant is a `go test -overlay`. A mutant counts as
// found if it compiles, its test passes without it and fails with it. A timeout is no proof.
//
// The tests run as make test runs them; leftToVerify lists the mutants whose tests are of make verify,
// one of ten at most and none that breaks a rule of money. Tests that run the programs are given
// programs with the mutant in them.
//
// `make mutants` runs them all, MUTANT=regexp some, MUTANTS_SHARD=1/4 the first of every four. The
// plain test checks that each text is in its file exactly once and that each named test exists.
//
// It must not import the rooms that it breaks.
package mutants
