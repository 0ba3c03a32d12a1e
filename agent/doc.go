// Package agent is the supervisor: it opens the terminal's database, joins the rooms and runs their loops until
// the context ends or one of them fails.
//
// It owns the order of things: the database is opened before any serial port; older sales are resumed before a
// register is served; on the way down registers are cut off first, what is in flight is journalled, and the
// database closes last. It must not import schemes/backend: it cannot tell the embedded backend from the real one.
package agent
