package checkout

import (
	"fmt"
	"slices"
)

// rule answers one event in one phase.
type rule func(State, Event) (State, []Effect)

type (
	rules map[Name]rule
	names []Name
)

// row is one phase. Every event stands in exactly one of the three.
type row struct {
	on     rules
	ignore names // may come, changes nothing: an answer that outlived its question, a telling told before
	refuse names // cannot come, or comes too late
}

// table is the whole machine.
var table = map[Phase]row{
	Choosing: {
		on:     rules{Chosen: chosen, GaveUp: drop, AbortAsked: drop, Tick: chooseClock, Restarted: drop, ToldAborted: dropAnswered, Restored: hold},
		ignore: names{NextCommand, GraceOver, EndOfDay, BatchClosed},
		refuse: names{Replied, ReplyFailed, StatusRead, StatusFailed, CodeBroken, Told, Refused, Lost, UndoSettled, ForwardEnded, Released},
	},
	Initializing: {
		on: rules{Replied: replied, ReplyFailed: initFailed, Tick: initClock, AbortAsked: abort, Restarted: initAgain,
			ToldAborted: answeredAborted, StatusRead: keyRead, StatusFailed: keyNotRead, Restored: hold},
		ignore: names{NextCommand, GraceOver, EndOfDay, BatchClosed},
		refuse: names{Chosen, GaveUp, CodeBroken, Told, Refused, Lost, UndoSettled, ForwardEnded, Released},
	},
	Waiting: {
		on: rules{Replied: repliedLate, StatusRead: read, StatusFailed: statusFailed, CodeBroken: broken, Tick: waitClock,
			AbortAsked: abort, Restarted: waitAgain, ReplyFailed: failedLate, ToldAborted: answeredAborted, Restored: hold},
		ignore: names{NextCommand, GraceOver, EndOfDay, BatchClosed},
		refuse: names{Chosen, GaveUp, Told, Refused, Lost, UndoSettled, ForwardEnded, Released},
	},
	Aborting: {
		on: rules{Replied: abortReplied, ReplyFailed: abortNow, StatusRead: abortRead, StatusFailed: abortNow, Tick: abortClock,
			Restarted: abortNow, ToldAborted: abortNow, Restored: hold},
		ignore: names{CodeBroken, AbortAsked, NextCommand, GraceOver, EndOfDay, BatchClosed},
		refuse: names{Chosen, GaveUp, Told, Refused, Lost, UndoSettled, ForwardEnded, Released},
	},
	Approved: {
		on: rules{Told: confirm, Refused: startUndo, Lost: unacknowledged, StatusRead: settle, StatusFailed: unsettled, Tick: settleClock,
			Restarted: unacknowledged, ToldAborted: answeredAborted, Restored: hold},
		ignore: names{Replied, ReplyFailed, CodeBroken, NextCommand, GraceOver, EndOfDay, BatchClosed},
		refuse: names{Chosen, GaveUp, AbortAsked, UndoSettled, ForwardEnded, Released},
	},
	Unconfirmed: {
		on: rules{Told: confirm, Refused: startUndo, NextCommand: nextFinancialCommand, GraceOver: graceOver, EndOfDay: endOfDay,
			StatusRead: settle, StatusFailed: unsettled, Tick: settleClock, Restarted: unacknowledgedAgain, ToldAborted: answeredAborted, Restored: hold},
		ignore: names{Replied, ReplyFailed, CodeBroken, Lost, BatchClosed},
		refuse: names{Chosen, GaveUp, AbortAsked, UndoSettled, ForwardEnded, Released},
	},
	Confirmed: {
		on:     rules{StatusRead: settle, StatusFailed: unsettled, Tick: settleClock, BatchClosed: closeBatch, Restarted: settleAgain},
		ignore: names{Replied, ReplyFailed, CodeBroken, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, ToldAborted, Restored},
		refuse: names{Chosen, GaveUp, AbortAsked, UndoSettled, ForwardEnded, Released},
	},
	Declined: {
		on:     rules{StatusRead: declinedRead, StatusFailed: declinedStatusFailed, Restarted: watchAgain, Restored: hold},
		ignore: names{Replied, ReplyFailed, CodeBroken, Tick, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, BatchClosed, ToldAborted},
		refuse: names{Chosen, GaveUp, AbortAsked, UndoSettled, ForwardEnded, Released},
	},
	Reversing: {
		on:     rules{UndoSettled: undone, StatusRead: originalRead, StatusFailed: originalStatusFailed, Restarted: undoAgain, Restored: holdIdle},
		ignore: names{Replied, ReplyFailed, CodeBroken, Tick, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, BatchClosed, ToldAborted},
		refuse: names{Chosen, GaveUp, AbortAsked, ForwardEnded, Released},
	},
	Done: {
		ignore: names{Replied, ReplyFailed, StatusRead, StatusFailed, CodeBroken, Tick, Told, Refused, Lost, NextCommand, GraceOver,
			EndOfDay, BatchClosed, UndoSettled, ForwardEnded, Restarted, ToldAborted, Restored},
		refuse: names{Chosen, GaveUp, AbortAsked, Released},
	},
	Forward: {
		on:     rules{ForwardEnded: forwardEnded},
		ignore: names{Tick, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, BatchClosed, Restarted, ToldAborted, Restored},
		refuse: names{Chosen, GaveUp, AbortAsked, Replied, ReplyFailed, StatusRead, StatusFailed, CodeBroken, UndoSettled, Released},
	},
	Held: {
		on: rules{StatusRead: heldRead, StatusFailed: heldUnread, Restarted: heldAgain, Released: letGo},
		ignore: names{Replied, ReplyFailed, CodeBroken, Tick, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, BatchClosed, UndoSettled,
			ForwardEnded, ToldAborted, Restored},
		refuse: names{Chosen, GaveUp, AbortAsked},
	},
}

// Next gives the state after an event and what has to be done once that state is durable. ErrRefused leaves the state as it was.
// It panics on a phase it does not know: such a row must not be acted upon.
func Next(s State, e Event) (State, []Effect, error) {
	r, ok := table[s.Phase]
	if !ok {
		panic("checkout: unknown phase " + string(s.Phase))
	}
	if do := r.on[e.Name]; do != nil {
		if e.Name == StatusFailed && e.Failure == NotFound && SeenAlive(s) {
			s.Missing = true
		}
		next, effects := do(s, e)
		return next, effects, nil
	}
	if slices.Contains(r.ignore, e.Name) {
		return s, nil, nil
	}
	return s, nil, fmt.Errorf("%s in %s: %w", e.Name, s.Phase, ErrRefused)
}

// Known returns whether a stored phase is one of the table.
func Known(p Phase) bool {
	_, ok := table[p]
	return ok
}
