// Package storetest opens real stores for the tests of the rooms above. It owns no table and guarantees nothing but a
// fresh file per test. It must not be imported outside of tests.
package storetest
