// Package store is the engine under every table: one SQLite file with one writer. It knows bytes, never money.
//
// It owns the file, its settings, its lock, its schema steps, its data keys and its row MACs; the tables belong to the
// rooms that bring their steps. It must not import agent, device, ecr or schemes, and nothing else imports
// modernc.org/sqlite.
//
// # What it guarantees
//
// A Write that returned nil survives kill -9 and power loss. A Write that returned an error left nothing behind; only
// after ErrIO may its effects still turn up in a file that loses power before the store has recovered, and never
// after that. crashfs proves both by cutting the power and failing the disk at every step.
//
// One goroutine writes. It joins the callers that wait into one transaction, gives each a savepoint, and answers them
// when COMMIT has returned. A caller that fails or panics rolls back alone.
//
// Settings are read back on every connection, because a misspelt one is ignored without a word. The page size must be
// set before WAL mode fixes it.
//
// An I/O error closes the writer's connection: a sync that failed once is never tried again and believed. The store
// reopens the file, checks it and commits a write of its own, which also overwrites what an unacknowledged batch may
// have left in the log. It tries again by itself and with every Write until the medium works.
//
// On a full disk a reserve file beside the database is given up, so that what was begun can be finished; Reserved says
// whether anything new may be begun.
//
// A journal with a mark knows its own end. Each commit raises a sequence in it, and the mark repeats the last one after the
// commit. A start that finds fewer commits than the mark has seen, another generation, a log that is gone while it was being
// folded, or no journal at all answers *CutError and changes nothing. It raises no false alarm after a kill or a power cut.
// A copy of the whole directory is not seen, nor, after a power cut, a copy from the moments before it.
//
// # In a synctest bubble
//
// Open, use and Close a store inside the bubble. Its goroutines wait on channels and timers alone, and no timer runs
// while nothing was written: time moves as it should. Commits take no time there.
//
// # Decisions
//
// 2026-11-21: a step is known by its name, not by its place, so that each room appends to its own list and the lists
// may be joined in any order. user_version counts the applied steps. A recorded name that the program does not know
// means a newer file. A step whose text was changed after it had been applied is logged, not refused: a terminal must
// not stay dark over a comment.
//
// 2026-11-21: deferred constraints are refused, because they fail at COMMIT and would take the whole batch with them.
// Tables must be STRICT. A time.Time argument is refused: the driver would store it as text with a monotonic suffix.
//
// 2026-11-21: a closure is never run twice, also not after the reserve was released; its captured variables could not
// be undone. The reserve is released ahead of need where the file system tells that space runs out.
//
// 2026-11-21: NULL and empty bytes have the same MAC, because the driver returns both as nil.
//
// 2026-11-21: secure_delete is on, and a log that holds a deleted data key is truncated within about a minute. Never
// truncating it otherwise is deliberate: overwriting a log costs half of what growing a new one does.
//
// 2026-11-21: the log is folded into the file after 64 commits, or a minute after the first, never more often than every
// 50 ms; at the next 50 ms where a data key was deleted. A log that was folded starts anew, which syncs its header before the
// commit: a quiet terminal that folded after each commit waited for two syncs each time, and a sale cost 11 flushes, now 5.3.
//
// 2026-11-21: a log of 12 MiB is folded by the writer itself. Nothing else ever restarted it under an unbroken load: it grew
// without end, and each commit paid for appending (70 us to sync five frames) where overwriting takes 45 us.
//
// 2026-11-21: a lone caller also goes through the writer goroutine. Committing on the caller's own was built and measured:
// 67 us beside 67 us, because waking each other is lost in the sync. Going past database/sql for BEGIN, SAVEPOINT and COMMIT
// gains as little: nine tenths of the processor time of a crowd are SQLite itself.
//
// 2026-11-22: a database that was put back from a copy is noticed by the mark beside it (DECISIONS.md). A copy of the whole
// directory, mark included, cannot be told from the directory itself: restore by the verb.
//
// 2026-11-22: a copy for a backup carries its keys wrapped under the bundle's key, made of a secret that lies neither here nor in
// the bundle. So the device key never leaves its box, and a box that was lost can be replaced by one with a key of its own.
//
// 2026-11-22: a row may keep its data key itself, wrapped, in a column named data_key: no second table is written for it, and who
// clears the row's sealed values clears their key with them. A change of the device key, a backup and a restore find the column by its name.
//
// 2026-11-22: a bundle is the line "posagent-bundle 1", a line of JSON (BundleHead), the database in parts of 64 KiB, each with
// its 16-byte tag (AES-256-GCM; nonce: 3 zero bytes, the part's number in 8, then 1 for the last part and 0 for others; additional
// data: both lines), and the SHA-256 of all that as 32 bytes. The parts' key is the first half of 64 bytes of
// PBKDF2-HMAC-SHA256 over secret and salt, the second half wraps the data keys inside (nonce of 12 bytes first).
//
// 2026-11-22: a batch is gathered first and run then. To run each closure as its caller arrives was tried: with 64 callers and
// syncs of 5 ms it reached 0.79 of the limit beside 0.85, as callers that wake up and closures that run want the same processors.
//
// 2026-11-22: a database is replaced by renaming another over it, after its log was folded into it and removed: SQLite would
// play a log back into any file of that name. Of an unreadable one the log is thrown away, on demand only.
//
// 2026-11-21: the database file is never opened or closed but by SQLite. POSIX locks belong to the process: closing
// any descriptor of the file would drop those of all connections.
package store
