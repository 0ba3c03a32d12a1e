// Package storetest opens real stores for the tests of the rooms above. It owns no table of its own.
//
// It guarantees a fresh file per test, without a reserve beside it, under keys that hide nothing.
//
// It must not be imported outside of tests, and imports nothing of the project but store.
package storetest
