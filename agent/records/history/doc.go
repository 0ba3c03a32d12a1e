// Package history keeps what happened to the terminal as a whole: each start with its reason, each
// stop, each change between ready, offline and not ready with its cause, and what became of the till's
// list of each day. A technician reads it.
//
// It owns the table history_log. It guarantees:
//   - What is 30 days old is removed, and so is what lies behind 5,000 entries; the newest 200 stay
//     whatever the clock says.
//   - A cause that comes and goes makes at most 30 entries an hour. The next entry counts those
//     between.
//   - A journal that cannot be written stops nothing: the terminal goes on without the entry.
//
// An entry holds words for a person, without card data and without secrets. It imports agent/ready
// for causes and their words, and store.
package history
