// Package port owns the terminal's local HTTP port: the guard that closes it to the web, and the probes.
//
// It guarantees that a request reaches a handler only when its Host is one of the port's own names and it carries
// neither Origin, Referer nor Sec-Fetch-Site (a web page cannot leave all of them out), that bodies, headers and
// time are bounded, and that nothing changes state on GET. The services' own routes are mounted here later; they
// bring their own handlers.
//
// It must not import the store, the register link or any third-party module.
//
// 2026-11-21: probes answer plain text and say nothing about money; "ready" does not ask for the backend, because
// a terminal without network is in normal operation.
package port
