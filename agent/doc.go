// Package agent is the supervisor. It opens the terminal's database, joins the rooms and runs their
// loops until the context ends or one loop fails.
//
// It owns the order of these steps:
//   - At start, the database is opened before any serial port, and open sales are resumed before a
//     register is served.
//   - At the end, registers are cut off first, then the journal gets the result of what is in
//     flight, and the database closes last.
//
// It must not import schemes/backend: the agent cannot tell the embedded backend from a remote one.
package agent
