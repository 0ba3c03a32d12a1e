// Package events keeps what happened at the terminal, in the order of the commits. The local port
// and the command line read it.
//
// It owns the tables events_log and events_owners. It guarantees:
//   - An event is stored in the commit of its change. There is no event without the change, and no
//     change without its event.
//   - A reader names the last event it has and continues after it, over restarts and power cuts. It
//     misses no event that is kept.
//   - The event Lost tells a reader that it can no longer read some events, or that its number does
//     not belong to this log.
//   - The newest Keep events are kept, whatever their age. The client that has most of them loses
//     its oldest first.
//
// Bodies are whole JSON texts without card data and without secrets. It must not import the rooms
// whose events it keeps.
package events
