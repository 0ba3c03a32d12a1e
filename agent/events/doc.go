// Package events keeps what happened at the terminal, in the order in which it was committed, for those who listen at the
// local port and for the command line.
//
// It owns the table events_log. It guarantees:
//   - an event is stored by the commit that makes it true: there is none without the change, and no change without it;
//   - a reader that names the last event it has goes on behind it, over restarts and power cuts, and misses none that is kept;
//   - where events it has not read are no longer kept, or its number is not of this log, it is told so by one event (Lost);
//   - the newest Keep events are kept, counted and not dated.
//
// Bodies are whole JSON texts without card data or secrets. It must not import the rooms whose events it keeps.
//
// Decisions.
//
// 2026-11-22. Events are a table of their own, written in the commit of the change, and not a channel behind it: what a
// crash drops between a commit and a channel is exactly the event somebody waits for. It costs one small row at the end of a
// table for each change of an operation's state.
//
// 2026-11-22. Ids grow by one and are never used again, since the newest row is never dropped; a restored backup may give
// them twice, so a reader ahead of the log is told Lost and starts at the oldest event kept.
package events
