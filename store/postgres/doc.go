// Package postgres is the engine of a backend that one machine is too small for: PostgreSQL 15 or
// later, shared by any number of processes.
//
// Files: open.go connects and brings the schema up to date (migrate.go); servers.go chooses the
// primary among the URL's servers by what primary.go asks and remembers; watch.go judges it again
// and asks it to confirm, presence.go holds the schema's lock. write.go runs closures, again where
// they meet a conflict; scope.go is a closure's Tx, wait.go lets its statements travel together.
// dialect.go writes the store's SQL as PostgreSQL has it, driver.go carries it, changed.go notes what
// it changed, errors.go names what failed. numbers.go counts by sequences, and onward.go lets them go on
// where another server gave the last numbers. beats.go marks the server, so that a copy is known by the
// marks that it lacks; rights.go looks for what an account lacks. survey.go reads what a doctor looks at.
//
// It keeps the contract of store. It guarantees:
//   - Writes are SERIALIZABLE: they are as serial as those of an engine that runs one at a time.
//   - Own writes are REPEATABLE READ: of two that write one row, or insert one unique key, the second
//     is run again.
//   - A closure that met a conflict is run again, within bounds; ErrBusy after them.
//   - A statement without an answer ends on this side, and its write is made on another connection.
//   - A COMMIT without an answer, or one that the standbys did not confirm, is ErrCommitUnknown.
//   - It reads and writes on a primary alone, and on none that is unsafe or was given up.
//   - It works on no server that lacks a mark which this process has left in it with a beat and had
//     confirmed: what was confirmed after a copy and before the next beat may be missing.
//   - It works with no account that lacks a right on one of its tables.
//   - A number that a server has lost is not given again, where it is known to be restored: by its
//     timeline, by another database or schema, or by a person who had the last server forgotten.
//   - It writes nothing to books that were moved, and opens through no pooler that keeps no sessions.
//   - It is ready only once the server has confirmed a commit that changed something.
//
// It must not be imported by a terminal's program: its driver alone has megabytes.
package postgres
