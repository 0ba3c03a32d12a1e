// Package spool keeps a large content of a request in a file while the request is handled.
//
// It guarantees that the file has no name: when it is closed, or the program ends, nothing is left
// behind. A failure of the disk is told apart from one of the sender.
//
// It must not know a service, a form or a limit: its callers do.
package spool
