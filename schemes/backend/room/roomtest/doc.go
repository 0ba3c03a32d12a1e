// Package roomtest holds what the tests of the backend's rooms share: a site for a room (a store on
// the disk and a clock that only the test moves), a mailbox for what it emits, and a browser for its
// pages.
//
// It must not import a room besides the shared ones, so that each room's own tests can use it.
package roomtest
