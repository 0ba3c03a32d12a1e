// Package daily compares the till's list once a day, and keeps what it found until a person
// acknowledges it.
//
// Files: due.go says which day is due; run.go is the loop and one comparison; list.go reads the
// file; book.go keeps the results, and is what status reads.
//
// It owns the tables daily_runs and daily_findings. It guarantees:
//   - A day is compared once, over restarts and whatever the wall clock does: a day that has a result
//     is never compared again, and of the days that were missed only the newest is.
//   - It reads only: nothing of it moves money, or changes a sale.
//   - A sale comes first: while a register or a client waits for an outcome, nothing is read and
//     nothing is asked.
//   - A list that cannot be used is one alert a day, and is looked for again; the alert goes when the
//     list can be used.
//   - A finding is raised once. Acknowledged, it is raised again only when it says something else.
//   - A finding about a sale on which all agree later goes by itself.
//
// It must not import the checkout's drive, the outbox or an HTTP package.
package daily
