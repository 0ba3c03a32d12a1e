// Package audit keeps who did what: an append-only list of deeds with their actors. A deed moves
// money, changes keys or the configuration, or was refused at a door.
//
// It owns the table audit_log and the deed names audit.*. It guarantees:
//   - A line is stored by the commit of its deed. Neither exists without the other.
//   - Lines are numbered without a gap. Each is chained to the one before by a MAC under the
//     journal's key. The writer chains them at COMMIT, so a closure that is rolled back leaves no
//     trace.
//   - AtCommit returns the head of the chain (Head), which the store keeps beside the journal's
//     sequence. Check names a line that was removed, added or changed without that key.
//   - A purge is a line of the log, and holds the link of the last purged line. The rest still
//     verifies.
//   - The actor is that of the Write's context (Of): a register's line, a local client, a person's
//     account, or the program.
//
// Subjects are ids; details are redacted and bounded. The log is evidence against edits of the
// file. It is none against root, which has the key. It must not import the rooms whose deeds it
// keeps.
package audit
