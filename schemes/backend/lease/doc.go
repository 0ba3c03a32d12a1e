// Package lease shares out work among the processes of one database: each task is one process's at a
// time, and another one takes it over when that process ends, hangs or loses the database.
//
// It owns the table lease_task. A holder counts its lease up every few seconds. Whoever has seen a count
// stand still for long enough, by its own clock, takes the lease; a holder that could not count for two
// thirds of that time has stopped working by then. So no clocks are compared.
//
// It guarantees:
//   - Of processes that can reach the database, exactly one works on a task, but for a moment in which
//     none does.
//   - A process that ends by itself leaves its leases to the others at once.
//
// A process that stands still as a whole may finish what it was about to do when it wakes: the work has
// to bear that, as all work does that a crash can cut off.
//
// It must not import a room of the backend.
package lease
