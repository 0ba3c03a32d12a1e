// Package postgres is the engine of a backend that one machine is too small for: PostgreSQL 15 or
// later, shared by any number of processes.
//
// Files: open.go connects, looks at the server and brings the schema up to date (migrate.go);
// write.go runs closures, again where they meet a conflict; scope.go is a closure's Tx. dialect.go
// writes the store's SQL as PostgreSQL has it, driver.go carries it, errors.go names what failed.
//
// It keeps the contract of store. It guarantees:
//   - Writes are SERIALIZABLE: they are as serial as those of an engine that runs one at a time.
//   - A closure that met a conflict is run again, within bounds; ErrBusy after them.
//   - A COMMIT without an answer, or one that the standbys did not confirm, is ErrCommitUnknown.
//   - It reads and writes on a primary alone.
//
// It must not be imported by a terminal's program: its driver alone has megabytes.
package postgres
