package checkout

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/intent"
	"posagent/ecr"
	"posagent/schemes/aapay"
)

func begun() State {
	s, _ := Start(Terms{Kind: ecr.Payment, QR: true, CanReverse: true, Limits: testLimits}, t0)
	return s
}

// "Never sent" needs an end without a connection of every attempt, and that nothing was ever heard.
// A claim that an attempt did not leave, made after anything was heard, ends no sale.
func TestField2_M1WhatWasHeardWasSent(t *testing.T) {
	heard := map[string]Event{
		"202":                   {Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Response: &aapay.Response{}}},
		"202 without a body":    {Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202}},
		"contradictory 201":     {Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 201, Valid: true}},
		"send again":            {Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Response: &aapay.Response{ResponseCode: aapay.CodeResend}}},
		"answered late":         {Name: Tick, Now: t0 + testLimits.Deadline},
		"aborted, then replied": {Name: AbortAsked, Now: t0},
	}
	reply := heard["202"]
	claim := Event{Name: ReplyFailed, Failure: NotSent, Try: 1, Now: t0}
	for name, e := range heard {
		s, _ := do(t, begun(), e)
		if e.Name != Replied {
			s, _ = do(t, s, reply)
		}
		require.False(t, NeverSent(s), name)
		for _, more := range []Event{{Name: Restarted, Now: t0}, {Name: AbortAsked, Now: t0}} {
			next, _, err := Next(s, more)
			if err != nil { // it is undone already
				require.Equal(t, Reversing, s.Phase, name)
				next = s
			}
			for range 3 {
				next, _ = do(t, next, claim)
				claim.Try++
			}
			claim.Try = 1
			require.NotEqual(t, Done, next.Phase, "%s, %s", name, more.Name)
			require.True(t, Owed(next), "%s, %s", name, more.Name)
		}
	}

	// So does a status, also one of a service that gives no numbers.
	s, _ := do(t, begun(), Event{Name: Tick, Now: t0 + testLimits.Deadline})
	s.LastRead = false
	s, _ = do(t, s, Event{Name: StatusRead, Now: t0 + time.Second, Status: aapay.Status{State: aapay.Initialized}})
	require.False(t, NeverSent(s))
	s, _ = do(t, s, claim)
	require.Equal(t, Waiting, s.Phase)
}

// Only an answer to the first attempt that may have arrived, and a read by which the service itself
// does not know it, lead to the plain route. Anything else keeps the Key.
func TestField2_M17OnlyTheFirstAttemptLeadsToThePlainRoute(t *testing.T) {
	missing := Event{Name: ReplyFailed, Failure: RouteMissing, Now: t0}
	unsent := func(s State) Event { return Event{Name: ReplyFailed, Failure: NotSent, Try: s.Sends, Now: t0} }
	resend := Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Response: &aapay.Response{ResponseCode: aapay.CodeResend}}}
	before := map[string]func(State) State{
		"an attempt that was lost": func(s State) State {
			s, _ = do(t, s, Event{Name: ReplyFailed, Failure: EffectUnknown, Try: 1, Now: t0})
			return s
		},
		"an attempt before a restart": func(s State) State { s, _ = do(t, s, Event{Name: Restarted, Now: t0}); return s },
		"an answer":                   func(s State) State { s, _ = do(t, s, resend); return s },
	}
	for name, with := range before {
		s, out := do(t, with(begun()), missing)
		require.Equal(t, []Do{Initialize}, out, "%s: the same Key again", name)
		require.False(t, s.Plain)
	}
	for _, first := range []State{begun(), func() State { s, _ := do(t, begun(), unsent(begun())); return s }()} {
		s, out := do(t, first, missing)
		require.Equal(t, []Do{ReadStatus}, out)
		require.True(t, Owed(s))
		plain, out := do(t, s, Event{Name: StatusFailed, Failure: NotFound, Now: t0})
		require.Equal(t, []Do{SendPlain}, out)
		require.Equal(t, Initializing, plain.Phase)
		for range 3 { // and only once
			var next []Do
			plain, next = do(t, plain, missing)
			require.NotContains(t, next, SendPlain)
			plain, next = do(t, plain, Event{Name: StatusFailed, Failure: NotFound, Now: t0})
			require.NotContains(t, next, SendPlain)
			if plain.Phase == Reversing {
				break
			}
		}
		require.Equal(t, Reversing, plain.Phase)

		unheard, out := do(t, s, Event{Name: StatusFailed, Failure: EffectUnknown, Now: t0})
		require.Equal(t, Reversing, unheard.Phase, "a read without an answer proves nothing")
		require.NotContains(t, out, SendPlain)
		arrived, _ := do(t, s, status(aapay.Initialized, ""))
		require.Equal(t, Waiting, arrived.Phase, "it has arrived: it goes on as any other")
		_, out = do(t, arrived, Event{Name: StatusFailed, Failure: NotFound, Now: t0})
		require.NotContains(t, out, SendPlain)
	}
}

// Of an answer to initialize and a status that contradict each other, one is another's. The status
// wins where it tells our own reference, twice in a row of the same transaction; nothing else does, and
// what a status has shown is never replaced.
func TestField2_M15WhatContradictsTheAnswerIsReadAgain(t *testing.T) {
	reply := Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Response: &aapay.Response{NAA2ECR: &aapay.NAA2ECR{PPRef: "theirs"}}}}
	paid := func(whose intent.Verdict, id int64, ppref string) Event {
		return Event{Name: StatusRead, Now: t0, Whose: whose, Status: aapay.Status{
			State: aapay.Finalized, AccountState: aapay.Commit, TransactionID: id, NAA2ECR: &aapay.NAA2ECR{PPRef: ppref},
		}}
	}
	for name, c := range map[string]struct {
		reads []Event
		want  Phase
	}{
		"once":                                   {[]Event{paid(intent.Ours, 7, "ours")}, Waiting},
		"twice the same":                         {[]Event{paid(intent.Ours, 7, "ours"), paid(intent.Ours, 7, "ours")}, Approved},
		"two that differ":                        {[]Event{paid(intent.Ours, 7, "ours"), paid(intent.Ours, 8, "ours")}, Waiting},
		"the first of them again":                {[]Event{paid(intent.Ours, 7, "ours"), paid(intent.Ours, 8, "ours"), paid(intent.Ours, 7, "ours")}, Waiting},
		"twice, and not said whose":              {[]Event{paid(intent.NotSaid, 7, "ours"), paid(intent.NotSaid, 7, "ours")}, Waiting},
		"twice without a number":                 {[]Event{paid(intent.Ours, 0, "ours"), paid(intent.Ours, 0, "ours")}, Waiting},
		"another's under our name":               {[]Event{paid(intent.Anothers, 7, "theirs"), paid(intent.Anothers, 7, "theirs")}, Waiting},
		"as the answer said":                     {[]Event{paid(intent.NotSaid, 7, "theirs")}, Approved},
		"it tells no name, it is not said whose": {[]Event{paid(intent.NotSaid, 7, "")}, Approved},
	} {
		s, _ := do(t, begun(), reply)
		for _, e := range c.reads {
			s, _ = do(t, s, e)
		}
		require.Equal(t, c.want, s.Phase, name)
	}
	s, _ := do(t, begun(), reply)
	live := paid(intent.Ours, 7, "theirs")
	live.Status.State, live.Status.AccountState = aapay.Initialized, ""
	s, _ = do(t, s, live)
	for range 3 {
		s, _ = do(t, s, paid(intent.Ours, 7, "other"))
		require.Equal(t, Waiting, s.Phase, "a status has shown the name")
	}
}

// What was once seen alive ends by the service's own final word alone. Members of the kind: an undo whose
// original is not found, "reversed" from a service that did not find it a read before, and the watch of
// what was declined. An approval that is watched for COMMIT, and an open sale, never ended so.
func TestField2_M23NotFoundEndsNothingThatWasSeenAlive(t *testing.T) {
	replied := func(r aapay.Response) Event {
		return Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Valid: true, Response: &r}}
	}
	never := Event{Name: ReplyFailed, Failure: EffectUnknown, Now: t0}
	for name, c := range map[string]struct {
		signs []Event
		alive bool
	}{
		"it was taken":          {[]Event{replied(aapay.Response{})}, true},
		"it is pending":         {[]Event{replied(aapay.Response{ResponseCode: aapay.CodePending})}, true},
		"an id":                 {[]Event{replied(aapay.Response{NAA2ECR: &aapay.NAA2ECR{PPRef: "pp"}})}, true},
		"a state":               {[]Event{replied(aapay.Response{}), status(aapay.Initialized, "")}, true},
		"COMMIT":                {[]Event{replied(aapay.Response{}), status(aapay.Finalized, aapay.Commit)}, true},
		"no answer":             {[]Event{never, never, never}, false},
		"it asked for a repeat": {[]Event{replied(aapay.Response{ResponseCode: aapay.CodeResend})}, false},
	} {
		s := begun()
		for _, e := range c.signs {
			s, _ = do(t, s, e)
		}
		require.Equal(t, c.alive, SeenAlive(s), name)
		gone := Event{Name: StatusFailed, Failure: NotFound, Now: t0}
		open, out := s, []Do(nil)
		switch s.Phase {
		case Approved:
			s, _ = do(t, s, Event{Name: Refused, Now: t0})
		case Initializing, Waiting:
			if s.Phase == Waiting {
				open, _ = do(t, s, gone)
			}
			if s = open; s.Phase != Reversing {
				s, _ = do(t, s, Event{Name: AbortAsked, Now: t0})
			}
			for s.Phase == Aborting { // its one question, or the bound of its answer
				s, _ = do(t, s, Event{Name: Tick, Now: t0 + lastReadBound})
			}
		}
		require.Equal(t, Reversing, s.Phase, name)
		require.True(t, s.UndoOpen, name)

		said, _ := do(t, s, Event{Name: UndoSettled, Now: t0, Undone: Undone{OK: true}})
		want := Done
		if c.alive && open.Missing {
			want = Reversing
		}
		require.Equal(t, want, said.Phase, "%s: REVERSED from a service that does not know it", name)
		for _, u := range []Undone{{OK: true, Moved: true}, {OK: true, ByHand: true}} {
			moved, _ := do(t, s, Event{Name: UndoSettled, Now: t0, Undone: u})
			require.Equal(t, Done, moved.Phase, "%s: %+v", name, u)
		}

		s, _ = do(t, s, Event{Name: UndoSettled, Now: t0}) // refused
		gone.Now = s.SentAt + testLimits.Window() + time.Minute
		told := 0
		for range 5 {
			s, out = do(t, s, gone)
			if !c.alive {
				require.Equal(t, Done, s.Phase, name)
				break
			}
			require.Equal(t, Reversing, s.Phase, "%s: not found is no proof", name)
			require.Contains(t, out, ReadStatus, name)
			if len(out) == 2 {
				require.Contains(t, out, Exception)
				told++
			}
			gone.Now += time.Hour
		}
		if !c.alive {
			continue
		}
		require.Equal(t, 1, told, "%s: the merchant hears of it once", name)
		back := status(aapay.Finalized, aapay.Commit)
		back.Now = gone.Now
		again, out := do(t, s, back)
		require.Contains(t, out, Reverse, "%s: found again, it is undone", name)
		again, _ = do(t, again, Event{Name: UndoSettled, Now: gone.Now, Undone: Undone{OK: true}})
		require.Equal(t, Done, again.Phase, "%s: by the service that knows it", name)
		final := status(aapay.Cancelled, "")
		final.Now = gone.Now
		s, _ = do(t, s, final)
		require.Equal(t, Done, s.Phase, "%s: its own final word", name)
	}

	s, _ := do(t, begun(), replied(aapay.Response{}))
	s, _ = do(t, s, status(aapay.Rejected, ""))
	require.Equal(t, Declined, s.Phase)
	s, _ = do(t, s, Event{Name: StatusFailed, Failure: NotFound, Now: s.SentAt + testLimits.Window() + time.Minute})
	require.Equal(t, Done, s.Phase, "its own final word was heard before")
}

// A 201 that refuses tells nothing of the request: a gateway may have handed out another's. The register
// is told at once, and a status by our own reference has to agree before nothing is owed.
func TestField2_M15ARefusalHasToBeSeen(t *testing.T) {
	no := Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}}
	starts := map[string]func() State{
		"the first answer": begun,
		"aborted meanwhile": func() State {
			s, _ := do(t, begun(), Event{Name: AbortAsked, Now: t0})
			return s
		},
		"overtaken by the deadline": func() State {
			s, _ := do(t, begun(), Event{Name: Tick, Now: t0 + testLimits.Deadline})
			return s
		},
	}
	for name, start := range starts {
		s, out := do(t, start(), no)
		require.Equal(t, Declined, s.Phase, name)
		require.Contains(t, out, Tell, name)
		require.Contains(t, out, ReadStatus, name)
		require.True(t, Owed(s), name)

		for _, word := range []aapay.State{aapay.Rejected, aapay.Cancelled, aapay.Failed} {
			agreed, _ := do(t, s, status(word, ""))
			require.Equal(t, Done, agreed.Phase, "%s: %s", name, word)
		}
		for _, live := range []Event{status(aapay.Initialized, ""), status(aapay.Finalized, aapay.Commit), status(aapay.TimedOut, "")} {
			undone, out := do(t, s, live)
			require.Equal(t, Reversing, undone.Phase, "%s: it was another's answer", name)
			require.Contains(t, out, Reverse, name)
			require.NotEqual(t, ecr.Approved, undone.Result, name)
		}
		gone := Event{Name: StatusFailed, Failure: NotFound, Now: s.SentAt + time.Minute}
		waits, _ := do(t, s, gone)
		require.Equal(t, Declined, waits.Phase, "%s: it may still arrive", name)
		gone.Now = s.SentAt + testLimits.Window() + time.Minute
		over, _ := do(t, s, gone)
		require.Equal(t, Done, over.Phase, name)
	}

	shown, _ := do(t, begun(), Event{Name: Tick, Now: t0 + testLimits.Deadline})
	shown.LastRead = false
	shown, _ = do(t, shown, status(aapay.Initialized, ""))
	late, _ := do(t, shown, no)
	require.Equal(t, Waiting, late.Phase, "a status has shown it: the no is another's")
	aborted, _ := do(t, shown, Event{Name: AbortAsked, Now: t0})
	aborted, _ = do(t, aborted, no)
	require.Equal(t, Reversing, aborted.Phase)
}

// The time to finalize ends with one last read. Its answer decides; only what is still reserved then, or
// gets no answer, is an exception, and a COMMIT that comes later withdraws it.
func TestField2_M6OneLastReadBeforeTheException(t *testing.T) {
	settling, _ := do(t, waiting0(State{OKWords: []string{"RESERVED", "AUTHORIZED"}, QR: true}), status(aapay.Reserved, ""))
	require.Equal(t, Approved, settling.Phase)
	over := Event{Name: Tick, Now: settling.WireAt + testLimits.FinalizeTimeout}
	at := func(e Event, d time.Duration) Event { e.Now = over.Now + d; return e }
	for _, phase := range []Phase{Approved, Unconfirmed, Confirmed} {
		s := settling
		s.Phase = phase
		s, out := do(t, s, over)
		require.Equal(t, []Do{ReadStatus}, out, phase)
		due, ok := Due(s)
		require.True(t, ok)
		require.Equal(t, over.Now+lastReadBound, due)
		_, out = do(t, s, over)
		require.Empty(t, out, "it is asked once")

		paid, out := do(t, s, at(status(aapay.Finalized, aapay.Commit), time.Second))
		require.False(t, paid.Settling, phase)
		require.Empty(t, out, "%s: COMMIT in the last read is no exception", phase)
		ended, out := do(t, s, at(status(aapay.Cancelled, ""), time.Second))
		require.Equal(t, []Do{Exception}, out, phase)
		require.False(t, ended.Settling)

		for name, e := range map[string]Event{
			"still reserved": at(status(aapay.Reserved, ""), time.Second), "no answer": at(Event{Name: StatusFailed, Failure: EffectUnknown}, time.Second),
			"not found": at(Event{Name: StatusFailed, Failure: NotFound}, time.Second), "no answer in time": {Name: Tick, Now: over.Now + lastReadBound},
		} {
			late, out := do(t, s, e)
			require.Equal(t, []Do{Exception, ReadStatus}, out, "%s, %s", phase, name)
			require.True(t, late.Settling)
			again, out := do(t, late, at(status(aapay.Reserved, ""), time.Minute))
			require.Equal(t, []Do{ReadStatus}, out, "%s, %s: one exception", phase, name)
			paid, out := do(t, again, at(status(aapay.Finalized, aapay.Commit), time.Hour))
			require.Empty(t, out, "%s, %s", phase, name)
			require.True(t, Explained(again, paid, StatusRead), "%s, %s: the exception has proven wrong", phase, name)
			require.False(t, paid.Settling)
		}
	}
	// A word of a method that need not ever say COMMIT ends its watch in silence, after the read too.
	s := settling
	s.Wire = aapay.Authorized
	s, out := do(t, s, over)
	require.Equal(t, []Do{ReadStatus}, out)
	s, out = do(t, s, at(status(aapay.Authorized, ""), time.Second))
	require.Equal(t, []Do{StopReading}, out)
	require.False(t, s.Settling)
}

// A service that says that it still works on the sale's Key has the sale: it is asked again under the Key,
// for as long as the sale may last, and the last read decides.
func TestField2_M9AServiceThatIsBusyWithTheKeyIsAskedAgain(t *testing.T) {
	s := begun()
	for n := range 20 {
		var out []Do
		s, out = do(t, s, Event{Name: ReplyFailed, Failure: Busy, Try: n + 1, Now: t0 + time.Duration(n)*time.Second, After: time.Second})
		require.Equal(t, []Do{Initialize}, out)
		require.Equal(t, Initializing, s.Phase)
		require.Greater(t, s.SentAt, t0+time.Duration(n)*time.Second, "never at once")
	}
	done, _ := do(t, s, Event{Name: Replied, Now: t0 + 21*time.Second, Reply: aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}})
	require.Equal(t, Waiting, done.Phase)
	over, out := do(t, s, Event{Name: Tick, Now: t0 + testLimits.Deadline})
	require.Equal(t, []Do{ReadStatus}, out)
	over, _ = do(t, over, Event{Name: StatusFailed, Failure: NotFound, Now: t0 + testLimits.Deadline})
	require.Equal(t, Reversing, over.Phase)
	require.Equal(t, ecr.Aborted, over.Result)
}

// Where the only acknowledgement is TCP's, the commit that approves says that the answer leaves. A start
// that finds it so keeps the sale, with an alert; a line that was broken, or was seen to break, is heard
// nothing of, as ever.
func TestField2_M4AnAnswerThatMayHaveLeftIsKept(t *testing.T) {
	approve := func(byTCP, listening bool) State {
		s, _ := Start(Terms{Kind: ecr.Payment, QR: true, CanReverse: true, Limits: testLimits, Till: Till{ByTCP: byTCP}}, t0)
		s, _ = do(t, s, Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}})
		e := status(aapay.Finalized, aapay.Commit)
		e.Listening = listening
		s, _ = do(t, s, e)
		require.Equal(t, Approved, s.Phase)
		return s
	}
	for _, newBoot := range []bool{false, true} {
		restart := Event{Name: Restarted, Now: t0 + time.Minute, NewBoot: newBoot}
		for name, c := range map[string]struct {
			s    State
			left bool
		}{
			"the answer leaves":                    {approve(true, true), true},
			"the line was broken":                  {approve(true, false), false},
			"the protocol has an acknowledgement":  {approve(false, true), false},
			"the line was seen to break":           {func() State { s, _ := do(t, approve(true, true), Event{Name: Lost, Now: t0}); return s }(), false},
			"a settling one, as the answer leaves": {func() State { s := approve(true, true); s.Settling = true; return s }(), true},
		} {
			s, out := do(t, c.s, restart)
			require.Equal(t, Unconfirmed, s.Phase, name)
			require.Equal(t, c.left, slices.Contains(out, Exception), name)
			if !c.left {
				undone, _ := do(t, s, Event{Name: GraceOver, Now: t0 + time.Hour})
				require.Equal(t, Reversing, undone.Phase, name)
				continue
			}
			for _, e := range []Event{{Name: GraceOver}, {Name: NextCommand}, {Name: NextCommand, Sync: Before}, {Name: NextCommand, Sync: Again}, {Name: Restarted}, {Name: Restarted, NewBoot: true}} {
				e.Now = t0 + time.Hour
				kept, more := do(t, s, e)
				require.Equal(t, Unconfirmed, kept.Phase, "%s: %s %s", name, e.Name, e.Sync)
				require.NotContains(t, more, Exception, "%s: it was said", name)
			}
			next := Event{Name: NextCommand, SameAmount: true, Now: t0 + time.Hour}
			twice, out := do(t, s, next)
			require.Equal(t, Unconfirmed, twice.Phase)
			require.Equal(t, []Do{Exception}, out, "possibly twice")
			_, out = do(t, twice, next)
			require.Empty(t, out, "said once")
			told, _ := do(t, s, Event{Name: Told, Now: t0 + time.Hour})
			require.Equal(t, Confirmed, told.Phase, "asked again, and heard")
			knows, _ := do(t, s, Event{Name: NextCommand, Sync: Same, Now: t0 + time.Hour})
			require.Equal(t, Confirmed, knows.Phase)
			closed, out := do(t, s, Event{Name: EndOfDay, Now: t0 + time.Hour})
			require.Equal(t, Confirmed, closed.Phase)
			require.Empty(t, out)
		}
	}
}
