// Package audit keeps who did what: an append-only list of actions with their actors. Listed are
// actions that move money, change keys or the configuration, or were refused at an access check.
// The code and the table call an action a deed.
//
// It owns the table audit_log and the action names audit.*. It guarantees:
//   - A line is stored in the commit of its action. Neither exists without the other.
//   - Lines are numbered without a gap. Each is chained to the one before by a MAC under the
//     journal's key. The writer chains them at COMMIT, so a closure that is rolled back leaves no
//     trace.
//   - AtCommit returns the head of the chain (Head), which the store keeps beside the journal's
//     sequence. Check names a line that was removed, added or changed without that key.
//   - A purge is a line of the log and holds the link of the last purged line, so the rest still
//     verifies.
//   - Refused logins and starts have bounds of their own. Their oldest lines are dropped first, and
//     a line that stands for them keeps the chain whole (Dropped). They remove no other line.
//   - The actor is that of the Write's context (Of): a register's line, a local client, a person's
//     account, or the program.
//
// The subject of an entry is an id. Details are redacted and limited in length. The log is
// evidence against edits of the file. It is no evidence against root, who has the key. It must not
// import the rooms whose actions it keeps.
package audit
