// Package events keeps what happened at the terminal, in the order of the commits. The local port
// and the command line read it.
//
// It owns the table events_log. It guarantees:
//   - An event is stored by the commit of its change. There is no event without the change, and no
//     change without its event.
//   - A reader names the last event it has and continues behind it, over restarts and power cuts.
//     It misses no event that is kept.
//   - One event (Lost) tells a reader that events it has not read are gone, or that its number is
//     not of this log.
//   - The newest Keep events are kept. Their age does not matter.
//
// Bodies are whole JSON texts without card data and without secrets. It must not import the rooms
// whose events it keeps.
package events
