package checkout

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// Every pair of phase and event stands in exactly one of the three columns.
func TestTableIsComplete(t *testing.T) {
	require.Len(t, table, len(Phases()))
	for _, p := range Phases() {
		r, ok := table[p]
		require.True(t, ok, p)
		for _, n := range Names() {
			places := 0
			if r.on[n] != nil {
				places++
			}
			if slices.Contains(r.ignore, n) {
				places++
			}
			if slices.Contains(r.refuse, n) {
				places++
			}
			require.Equal(t, 1, places, "%s in %s", n, p)
		}
		require.Equal(t, len(Names()), len(r.on)+len(r.ignore)+len(r.refuse), p)
	}
}

var testLimits = Limits{Stale: 30 * time.Second, StaleTimeout: 5 * time.Minute, FinalizeTimeout: 5 * time.Minute, Deadline: 77 * time.Second, Long: LongestSale}

// variants are the states of a phase that the rules tell apart.
func variants(p Phase) []State {
	base := State{
		Kind: ecr.Payment, Phase: p, QR: true, CanReverse: true, CanRefund: true, Limits: testLimits, Sends: 1,
		StartedAt: 1000 * time.Second, SentAt: 1000 * time.Second, BaseAt: 1000 * time.Second, WireAt: 1000 * time.Second,
		LimitAt: 1000 * time.Second, UntoldAt: 1000 * time.Second,
	}
	switch p {
	case Approved, Unconfirmed, Confirmed:
		base.Result, base.Code = ecr.Approved, ecr.OK
	case Declined:
		base.Result, base.Code = ecr.Declined, ecr.RejectedByScheme
	case Reversing, Done:
		base.Result, base.Code = ecr.Aborted, ecr.AbortedByUser
	case Forward:
		base.Kind = ecr.Refund
	}
	var out []State
	for mask := range 64 {
		s := base
		if (p == Choosing || p == Held) && mask&8 != 0 {
			s.Kind = ecr.Refund
		}
		if s.Released = p == Held && mask&2 != 0; p == Held && mask&32 != 0 {
			s.Result, s.Code = ecr.Approved, ecr.OK
		}
		s.Shown = mask&1 != 0 && p != Forward && p != Held
		s.LastRead = mask&2 != 0
		s.AwaitingApp = mask&3 == 2 && p != Forward && p != Held
		s.StaleEnds = mask&16 != 0
		s.Settling = mask&4 != 0 && s.Result == ecr.Approved
		s.UndoOpen = mask&8 != 0 && p == Reversing
		s.Taken = mask&1 != 0 && p == Reversing
		s.Missing = mask&3 == 3 && p == Reversing
		s.CanReverse = mask&16 == 0
		s.Rejected = mask&4 != 0 && p == Declined
		if s.Plain = mask&32 != 0; s.Plain {
			s.Sends = 2 // the first on the other route
		}
		s.Unheard = mask&2 != 0 && !s.LastRead
		s.NoRoute = mask&36 == 4 && p == Waiting
		out = append(out, s)
	}
	return out
}

func eventsOf(n Name) []Event {
	var out []Event
	for _, now := range []time.Duration{1001 * time.Second, 1006 * time.Second, 1031 * time.Second, 1078 * time.Second, 1151 * time.Second, 3000 * time.Second} {
		e := Event{Name: n, Now: now}
		switch n {
		case Replied:
			for _, status := range []int{201, 202} {
				for code := -4; code <= 2; code++ {
					e.Reply = aapay.Reply{HTTPStatus: status, Response: &aapay.Response{ResponseCode: code}}
					out = append(out, e)
				}
			}
			continue
		case ReplyFailed, StatusFailed:
			for _, f := range []Failure{EffectUnknown, NotSent, NoEffect, RouteMissing, NotFound, Busy} {
				e.Failure, e.Try = f, 1
				out = append(out, e)
			}
			continue
		case StatusRead:
			for _, w := range words {
				for _, a := range []aapay.AccountState{"", aapay.Commit, aapay.Rollback} {
					e.Status = aapay.Status{State: w, AccountState: a, TransactionID: 77, QRCodePayload: "code"}
					out = append(out, e)
				}
			}
			continue
		case NextCommand:
			for _, y := range []Sync{Silent, Same, Before} {
				e.Sync = y
				out = append(out, e)
			}
			continue
		case UndoSettled, ForwardEnded:
			out = append(out, e, Event{Name: n, Now: now, Undone: Undone{OK: true}}, Event{Name: n, Now: now, Undone: Undone{OK: true, Moved: true}}, Event{Name: n, Now: now, Undone: Undone{InDoubt: true}}, Event{Name: n, Now: now, Undone: Undone{Withdrawn: true}})
			continue
		case Restarted:
			e.NewBoot = true
			out = append(out, e, Event{Name: n, Now: now})
			continue
		case Tick:
			out = append(out, e, Event{Name: n, Now: now, Patient: true})
			continue
		}
		out = append(out, e)
	}
	return out
}

var words = []aapay.State{
	"", aapay.Initialized, aapay.Authorized, aapay.Finalized, aapay.Reported, aapay.Stale, aapay.Pending, aapay.Rejected,
	aapay.Cancelled, aapay.Failed, aapay.Reserved, aapay.TimedOut, "SOMETHING_NEW",
}

// edges are the phase changes that may happen, whatever the event. None leads back over the commit point.
var edges = map[Phase][]Phase{
	Choosing:     {Choosing, Initializing, Forward, Done, Held},
	Initializing: {Initializing, Waiting, Aborting, Declined, Reversing, Done, Held},
	Waiting:      {Waiting, Initializing, Aborting, Approved, Declined, Reversing, Done, Held}, // back to the plain route, once
	Aborting:     {Aborting, Declined, Reversing, Done, Held},
	Approved:     {Approved, Confirmed, Unconfirmed, Reversing, Held},
	Unconfirmed:  {Unconfirmed, Confirmed, Reversing, Held},
	Confirmed:    {Confirmed, Done},
	Declined:     {Declined, Reversing, Done, Held},
	Reversing:    {Reversing, Done, Held},
	Done:         {Done},
	Forward:      {Forward, Done},
	Held:         {Held, Confirmed, Done}, // never to what the machine would undo
}

func TestMatrixOfPhasesAndEvents(t *testing.T) {
	reached := map[[2]Phase]bool{}
	for _, p := range Phases() {
		for _, s := range variants(p) {
			for _, n := range Names() {
				for _, e := range eventsOf(n) {
					before := s
					next, effects, err := Next(s, e)
					require.Equal(t, before, s)
					if slices.Contains(table[p].refuse, n) {
						require.ErrorIs(t, err, ErrRefused)
						require.Equal(t, s, next)
						require.Empty(t, effects)
						continue
					}
					require.NoError(t, err)
					reached[[2]Phase{p, next.Phase}] = true
					require.Contains(t, edges[p], next.Phase, "%s in %s: %+v", n, p, e)
					checkStep(t, s, next, effects, e)
				}
			}
		}
	}
	for from, tos := range edges {
		for _, to := range tos {
			if from != to {
				require.True(t, reached[[2]Phase{from, to}], "edge %s to %s is never taken", from, to)
			}
		}
	}
}

// checkStep holds what is true of every single step.
func checkStep(t require.TestingT, s, next State, effects []Effect, e Event) {
	told := slices.ContainsFunc(effects, func(f Effect) bool { return f.Do == Tell })
	if told {
		require.NotEmpty(t, next.Result)
		clear := slices.IndexFunc(effects, func(f Effect) bool { return f.Do == ClearScreen })
		tell := slices.IndexFunc(effects, func(f Effect) bool { return f.Do == Tell })
		if s.Shown || s.AwaitingApp {
			require.True(t, clear >= 0 && clear < tell, "the code leaves the screen before anything is told")
		}
	}
	if s.Result == "" && next.Result != "" {
		require.True(t, told, "a decision is told")
	}
	if s.Phase == Choosing && s.Kind == ecr.Refund {
		free := slices.ContainsFunc(effects, func(f Effect) bool { return f.Do == Release })
		require.Equal(t, next.Phase == Done, free, "a refund that was not sent gives its debit back")
		require.NotEqual(t, Initializing, next.Phase)
	}
	for _, f := range effects {
		switch f.Do {
		case Reverse, RefundUndo:
			require.Equal(t, Reversing, next.Phase)
			require.True(t, next.UndoOpen)
		case GiveReceipt:
			require.Equal(t, ecr.Approved, next.Result)
		}
	}
	if next.Phase == Reversing && next.Result == ecr.Approved {
		require.Fail(t, "an undone sale counts as approved")
	}
	if s.Phase == Held && next.Phase == Done {
		require.True(t, finalNo(next) && windowOver(next, e) || next.Released && next.Committed, "%s ends a held sale", e.Name)
	}
	if Owed(s) && !Owed(next) && next.Phase != Approved && next.Phase != Held {
		require.Equal(t, Done, next.Phase)
		unsent := e.Name == ReplyFailed && e.Failure == NotSent && next.Sends == next.Unsent // no attempt ever had a connection
		proven := unsent || e.Name == UndoSettled && e.Undone.OK || e.Name == StatusRead || e.Name == StatusFailed && e.Failure == NotFound
		require.True(t, proven, "%s ends an owed undo", e.Name)
		switch {
		case e.Name == StatusFailed && SeenAlive(s):
			require.True(t, s.Phase == Declined && (finalNo(s) || s.Rejected && s.Wire == ""), "%s: not found, and it was seen alive", s.Phase)
		case e.Name == UndoSettled && (s.Missing || s.Wire == "" && !s.Found && SeenAlive(s)):
			require.True(t, e.Undone.Moved || e.Undone.ByHand || s.UndoRefund, "undone by a service that did not know it")
		case e.Name == StatusRead:
			require.True(t, (finalNo(next) || lapsed(next, e) && !next.CanReverse) && (windowOver(next, e) || s.Rejected && s.Phase == Declined))
		}
	}
	if owing := next.Phase == Reversing && !next.UndoOpen && s.Phase != Reversing; owing {
		require.True(t, slices.ContainsFunc(effects, func(f Effect) bool { return f.Do == ReadStatus }), "an undo without operation is watched")
	}
}

func TestUnknownPhasePanics(t *testing.T) {
	require.Panics(t, func() { _, _, _ = Next(State{Phase: "NEVER_HEARD"}, Event{Name: Tick}) })
	require.False(t, Known("NEVER_HEARD"))
	require.True(t, Known(Waiting))
}
