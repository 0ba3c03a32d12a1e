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
package events
