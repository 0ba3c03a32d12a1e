// Package audit keeps who did what: an append-only list of the deeds that move money, change keys or configuration, or were
// refused at a door, each with its actor.
//
// It owns the table audit_log and the deed names audit.*. It guarantees:
//   - a line is stored by the commit of its deed: neither is there without the other;
//   - lines are numbered without a gap, and each is chained to the one before by a MAC under the journal's key; the writer
//     chains them at COMMIT, so that a closure that is rolled back leaves no trace;
//   - AtCommit returns the head of the chain (Head), which the store keeps beside the journal's sequence: a line that was
//     removed, added or changed without that key is named by Check;
//   - a purge is a line of the log itself, which holds the link of the last purged line: what is left still verifies;
//   - the actor is that of the Write's context (Of): a register's line, a local client, a person's account, or the program.
//
// Subjects are ids, details are redacted and bounded. The log is evidence against edits of the file, not against root, who has
// the key. It must not import the rooms whose deeds it keeps.
package audit
