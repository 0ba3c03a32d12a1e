// Package storetest is the suite that tests every engine against the contract of store. It also
// opens stores for the tests of the rooms above. It owns no table but those of its cases.
//
// Run guarantees that an engine keeps types, sizes and order of values, isolates closures and
// joins them, and applies steps once. It encrypts values and destroys their keys, loses nothing in
// a crash and names what its medium refuses. Each case also runs with every closure run twice.
// Open guarantees a fresh store per test, with fixed test keys that give no secrecy.
//
// It must not be imported outside of tests. Its cases name no engine: an engine's own test gives
// one to Run.
package storetest
