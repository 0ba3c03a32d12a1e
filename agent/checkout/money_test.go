package checkout

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
)

const t0 = 1000 * time.Second

func waiting0(s State) State {
	v := variants(Waiting)[0]
	v.OKWords, v.QR, v.CanReverse = s.OKWords, s.QR, !s.CanReverse
	return v
}

func status(word aapay.State, account aapay.AccountState) Event {
	return Event{Name: StatusRead, Now: t0 + time.Second, Status: aapay.Status{State: word, AccountState: account, TransactionID: 7}}
}

func do(t *testing.T, s State, e Event) (State, []Do) {
	t.Helper()
	next, effects, err := Next(s, e)
	require.NoError(t, err)
	var out []Do
	for _, f := range effects {
		out = append(out, f.Do)
	}
	return next, out
}

func TestMoneyA1_SuccessRule(t *testing.T) {
	for _, c := range []struct {
		word    aapay.State
		account aapay.AccountState
		ok      string
		want    Verdict
	}{
		{aapay.Finalized, aapay.Commit, "", Success},
		{aapay.Reported, aapay.Commit, "", Success},
		{aapay.Finalized, "", "", Live},
		{aapay.Reported, "", "", Live},
		{aapay.Finalized, aapay.Rollback, "", Bad},
		{aapay.Finalized, aapay.Rollback, "FINALIZED", Bad},
		{"PAID", "", "PAID", Success},
		{"PAID", aapay.Rollback, "PAID", Live},
		{"PAID", "", "", Live},
		{aapay.Reserved, "", "", Live},
		{aapay.Reserved, "", "RESERVED", Success},
		{aapay.Reserved, aapay.Rollback, "RESERVED", Live},
		{aapay.Rejected, "", "", Bad},
		{aapay.Cancelled, "", "", Bad},
		{aapay.Failed, "", "", Bad},
		{aapay.Failed, "", "FAILED", Bad},
		{aapay.Rejected, aapay.Commit, "", Success},
		{aapay.Cancelled, aapay.Commit, "", Success},
		{aapay.Failed, aapay.Commit, "", Success},
		{aapay.TimedOut, aapay.Commit, "", Success},
		{aapay.TimedOut, "", "", Overdue},
		{aapay.Stale, aapay.Commit, "", Success},
		{aapay.Stale, "", "", Live},
		{aapay.Initialized, "", "INITIALIZED", Live},
		{aapay.Pending, "", "PENDING", Live},
		{aapay.Authorized, "", "", Live},
		{aapay.Pending, aapay.Commit, "", Live},
		{"SOMETHING_NEW", aapay.Commit, "", Live},
		{"", aapay.Commit, "", Live},
	} {
		require.Equal(t, c.want, Judge(c.word, c.account, []string{c.ok}), "%s %s %s", c.word, c.account, c.ok)
	}
}

func TestMoneyA1_ReservedSettlesOrIsAnException(t *testing.T) {
	s, out := do(t, waiting0(State{OKWords: []string{"RESERVED"}, QR: true}), status(aapay.Reserved, ""))
	require.Equal(t, Approved, s.Phase)
	require.True(t, s.Settling)
	require.Equal(t, []Do{GiveReceipt, Tell, ReadStatus}, out)
	s, _ = do(t, s, Event{Name: Told, Now: t0 + 2*time.Second})
	require.Equal(t, Confirmed, s.Phase)

	good, out := do(t, s, status(aapay.Finalized, aapay.Commit))
	require.False(t, good.Settling)
	require.Empty(t, out)
	bad, out := do(t, s, status(aapay.Cancelled, ""))
	require.Equal(t, []Do{Exception}, out)
	require.Equal(t, Confirmed, bad.Phase, "the register keeps what it was told")
	late, out := do(t, s, Event{Name: Tick, Now: t0 + time.Second + testLimits.FinalizeTimeout})
	require.Equal(t, []Do{ReadStatus}, out, "one last read comes first")
	late, out = do(t, late, status(aapay.Reserved, ""))
	require.Equal(t, []Do{Exception, ReadStatus}, out)
	require.True(t, late.Settling, "still watched")
	_, out = do(t, late, status(aapay.Reserved, ""))
	require.Equal(t, []Do{ReadStatus}, out, "one exception, not one per read")
	s, _ = do(t, s, Event{Name: BatchClosed})
	require.Equal(t, Confirmed, s.Phase)
	s, _ = do(t, s, status(aapay.Finalized, aapay.Commit))
	require.Equal(t, Done, s.Phase)
}

func TestMoneyA1_CommitOutranksOnceDecided(t *testing.T) {
	s, _ := do(t, waiting0(State{QR: true}), status(aapay.Rejected, ""))
	require.Equal(t, Declined, s.Phase)
	s, out := do(t, s, status(aapay.Rejected, aapay.Commit))
	require.Equal(t, Reversing, s.Phase)
	require.Contains(t, out, Reverse)
	require.Equal(t, ecr.Declined, s.Result, "the register keeps what it was told")
}

func TestMoneyA2_PaymentIsNeverUnknown(t *testing.T) {
	s := waiting0(State{QR: true})
	s.Unheard = true
	s, out := do(t, s, Event{Name: StatusFailed, Failure: EffectUnknown, Now: t0})
	require.Equal(t, ecr.Aborted, s.Result)
	require.Equal(t, []Do{StopReading, Reverse, Tell}, out)
	require.True(t, Owed(s))
}

// No attempt ever had a connection: the register hears so, and nothing is owed.
func TestField_L7NeverSentIsNotUnknown(t *testing.T) {
	start := func() State {
		s, _ := Start(Terms{Kind: ecr.Payment, QR: true, CanReverse: true, Limits: testLimits}, t0)
		return s
	}
	none := func(s State) Event { return Event{Name: ReplyFailed, Failure: NotSent, Try: s.Sends, Now: t0} }
	lost := func(s State) Event { return Event{Name: ReplyFailed, Failure: EffectUnknown, Try: s.Sends, Now: t0} }
	s := start()
	for range 2 {
		var out []Do
		s, out = do(t, s, none(s))
		require.Equal(t, []Do{Initialize}, out)
		require.True(t, Owed(s), "the next attempt counts as sent until its end is known")
	}
	s, out := do(t, s, none(s))
	require.Equal(t, Done, s.Phase)
	require.Equal(t, ecr.Aborted, s.Result)
	require.Equal(t, ecr.NoConnection, s.Code)
	require.Equal(t, []Do{StopReading, Tell}, out)
	require.False(t, Owed(s))

	slow := none(start())
	slow.Now = t0 + 8*time.Second
	s, _ = do(t, start(), slow)
	require.Equal(t, Done, s.Phase, "an attempt that took that long is the last one")

	// One attempt that may have left, in whatever order, is enough: the undo is owed.
	for _, order := range [][]func(State) Event{{lost, none, none}, {none, lost, none}, {none, none, lost}} {
		s := start()
		for _, e := range order {
			s, _ = do(t, s, e(s))
		}
		require.Equal(t, Waiting, s.Phase)
		s, out = do(t, s, Event{Name: StatusFailed, Failure: EffectUnknown, Now: t0})
		require.Equal(t, Reversing, s.Phase)
		require.Contains(t, out, Reverse)
		require.Equal(t, ecr.AbortedByUser, s.Code)
	}

	// The attempt before a restart has no end in the journal.
	s, _ = do(t, start(), Event{Name: Restarted, Now: t0})
	for s.Phase == Initializing {
		s, _ = do(t, s, none(s))
	}
	require.Equal(t, Waiting, s.Phase)
	s, _ = do(t, s, none(s))
	require.Equal(t, Waiting, s.Phase, "said twice")
	s, _ = do(t, start(), Event{Name: Restarted, NewBoot: true, Now: time.Second})
	require.Equal(t, Reversing, s.Phase)

	// An abort of what never left is an abort, and nothing is owed; what may have left is undone.
	s, _ = do(t, start(), none(start()))
	s, _ = do(t, s, Event{Name: AbortAsked, Now: t0})
	ended, out := do(t, s, none(s))
	require.Equal(t, Done, ended.Phase)
	require.Equal(t, ecr.AbortedByUser, ended.Code)
	require.Equal(t, []Do{StopReading, Tell}, out)
	ended, _ = do(t, s, lost(s))
	require.Equal(t, Reversing, ended.Phase)
	ended, _ = do(t, s, Event{Name: Tick, Now: t0 + time.Minute})
	require.Equal(t, Reversing, ended.Phase, "its attempt has not ended")

	// The deadline came first: the attempt's end decides, if it comes in time.
	s, _ = do(t, start(), Event{Name: Tick, Now: t0 + testLimits.Deadline})
	require.Equal(t, Waiting, s.Phase)
	ended, _ = do(t, s, none(s))
	require.Equal(t, ecr.NoConnection, ended.Code)
	ended, _ = do(t, s, lost(s))
	require.Equal(t, Waiting, ended.Phase)
}

func TestMoneyA3_OnlyAnAcknowledgementConfirms(t *testing.T) {
	s := variants(Approved)[0]
	for event, want := range map[Name]Phase{Told: Confirmed, Lost: Unconfirmed, Refused: Reversing} {
		got, _ := do(t, s, Event{Name: event, Now: t0})
		require.Equal(t, want, got.Phase, event)
	}
}

func TestMoneyA4_StaleAge(t *testing.T) {
	for mean, want := range map[int32]time.Duration{10: 30_000 * time.Millisecond, 1: 3 * time.Second, 0: 30 * time.Second, -5: 30 * time.Second,
		math.MaxInt32: 6_442_450_941_000 * time.Millisecond} {
		l := LimitsOf(methods.Definition{MeanDelay: mean}, "m", 85*time.Second, false)
		require.Equal(t, want, l.Stale, mean)
		require.Equal(t, 5*time.Minute, l.StaleTimeout)
		require.Equal(t, 5*time.Minute, l.FinalizeTimeout)
		require.Equal(t, 77*time.Second, l.Deadline)
		require.Positive(t, l.Window())
	}
	big, zero, neg := int32(math.MaxInt32), int32(0), int32(-1)
	l := LimitsOf(methods.Definition{MeanDelay: math.MaxInt32, StaleTimeOut: &big, FinalizeTimeOut: &zero}, "m", 85*time.Second, true)
	require.Equal(t, LongestSale, l.Deadline)
	require.Positive(t, l.StaleTimeout)
	require.Equal(t, 5*time.Minute, l.FinalizeTimeout)
	l = LimitsOf(methods.Definition{MeanDelay: 10, StaleTimeOut: &neg}, "m", 85*time.Second, true)
	require.Equal(t, 5*time.Minute, l.StaleTimeout)
	require.Equal(t, LongestSale, l.Deadline, "30 s + 5 min + 5 min, capped at 10 min")
}

func TestMoneyA4_BoundariesOfTheTimers(t *testing.T) {
	for _, c := range []struct {
		name    string
		word    aapay.State
		qr      bool
		engaged bool
		after   time.Duration
		why     limit
	}{
		{"unscanned code", aapay.Initialized, true, false, 77 * time.Second, pastDeadline},
		{"manual, initialized", aapay.Initialized, false, false, 77 * time.Second, pastDeadline},
		{"stale", aapay.Stale, true, false, 77 * time.Second, pastDeadline},
		{"pending", aapay.Pending, true, true, 77 * time.Second, pastDeadline},
		{"authorized has no timer of its own", aapay.Authorized, true, true, 77 * time.Second, pastDeadline},
		{"unknown word", "SOMETHING_NEW", true, true, 77 * time.Second, pastDeadline},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := waiting0(State{QR: c.qr})
			s.Wire, s.Engaged = c.word, c.engaged
			for ms, want := range map[time.Duration]limit{-1: noLimit, 0: c.why, 1: c.why} {
				require.Equal(t, want, expired(s, t0+c.after+ms*time.Millisecond), ms)
			}
		})
	}
	long := Limits{Stale: 30 * time.Second, StaleTimeout: time.Minute, FinalizeTimeout: 2 * time.Minute, Deadline: LongestSale}
	for word, after := range map[aapay.State]time.Duration{aapay.Pending: time.Minute, aapay.Reserved: 2 * time.Minute, aapay.Initialized: 90 * time.Second,
		aapay.Stale: time.Minute, aapay.Authorized: LongestSale} {
		s := waiting0(State{})
		s.Limits, s.Wire, s.QR = long, word, false
		require.Equal(t, noLimit, expired(s, t0+after-time.Millisecond), word)
		require.NotEqual(t, noLimit, expired(s, t0+after), word)
	}
}

func TestMoneyA4_DeadlineReadsOnceMore(t *testing.T) {
	s := waiting0(State{QR: true})
	s.Wire, s.Engaged, s.Shown = aapay.Authorized, true, true
	s, out := do(t, s, Event{Name: Tick, Now: t0 + 77*time.Second})
	require.Equal(t, []Do{ClearScreen, ReadStatus}, out)
	require.Equal(t, Waiting, s.Phase)

	good, _ := do(t, s, status(aapay.Finalized, aapay.Commit))
	require.Equal(t, Approved, good.Phase)
	live, out := do(t, s, status(aapay.Authorized, ""))
	require.Equal(t, Reversing, live.Phase)
	require.Equal(t, []Do{StopReading, Reverse, Tell}, out)
	none, _ := do(t, s, Event{Name: StatusFailed, Failure: EffectUnknown, Now: t0 + 78*time.Second})
	require.Equal(t, Reversing, none.Phase)
	same, out := do(t, s, Event{Name: Tick, Now: t0 + 81*time.Second - 1})
	require.Equal(t, Waiting, same.Phase)
	require.Empty(t, out)
	mute, _ := do(t, s, Event{Name: Tick, Now: t0 + 81*time.Second})
	require.Equal(t, Reversing, mute.Phase)
}

func TestMoneyA5_AbortIsFinal(t *testing.T) {
	for _, p := range []Phase{Initializing, Waiting} {
		s, _ := do(t, variants(p)[0], Event{Name: AbortAsked, Now: t0})
		require.Equal(t, Aborting, s.Phase)
		if p == Waiting {
			s, _ = do(t, s, status(aapay.Finalized, aapay.Commit))
			require.Equal(t, Reversing, s.Phase, "a COMMIT only feeds the undo")
			require.Equal(t, ecr.Aborted, s.Result)
		}
	}
	_, _, err := Next(variants(Approved)[0], Event{Name: AbortAsked})
	require.ErrorIs(t, err, ErrRefused)
}

func TestMoneyB1_OwedFromAcceptUntilProven(t *testing.T) {
	s, _ := Start(Terms{Kind: ecr.Payment, CanReverse: true, Limits: testLimits}, t0)
	require.True(t, Owed(s))
	for _, p := range Phases() {
		want := map[Phase]bool{Initializing: true, Waiting: true, Aborting: true, Declined: true, Reversing: true}[p]
		require.Equal(t, want, Owed(State{Kind: ecr.Payment, Phase: p}), p)
		require.False(t, Owed(State{Kind: ecr.Refund, Phase: p}), p)
	}
}

func TestMoneyB2_ProofEndsAnUndo(t *testing.T) {
	s := variants(Reversing)[8]
	require.True(t, s.UndoOpen)
	done, _ := do(t, s, Event{Name: UndoSettled, Undone: Undone{OK: true}, Now: t0})
	require.Equal(t, Done, done.Phase)

	s, _ = do(t, s, Event{Name: UndoSettled, Now: t0 + time.Second})
	require.Equal(t, Reversing, s.Phase)
	window := s.SentAt + testLimits.Window()
	for ms, want := range map[time.Duration]Phase{-1: Reversing, 0: Done, 1: Done} {
		e := status(aapay.Cancelled, "")
		e.Now = window + ms*time.Millisecond
		got, _ := do(t, s, e)
		require.Equal(t, want, got.Phase, "final-bad %d ms", ms)
		got, _ = do(t, s, Event{Name: StatusFailed, Failure: NotFound, Now: e.Now})
		require.Equal(t, want, got.Phase, "not found %d ms", ms)
		got, _ = do(t, s, Event{Name: StatusFailed, Failure: EffectUnknown, Now: e.Now})
		require.Equal(t, Reversing, got.Phase)
	}
}

// An answer counts from when its question left.
func TestMoneyB2_AnAnswerFromBeforeProvesNothing(t *testing.T) {
	window := variants(Reversing)[8].SentAt + testLimits.Window()
	for name, c := range map[string]struct {
		settled, asked time.Duration
		want           Phase
	}{
		"before the window ended":       {t0, window - time.Millisecond, Reversing},
		"before the reversal's answer":  {window + time.Minute, window + time.Minute - time.Millisecond, Reversing},
		"after both":                    {window + time.Minute, window + time.Minute, Done},
		"after both, the window second": {t0, window, Done},
	} {
		s, _ := do(t, variants(Reversing)[8], Event{Name: UndoSettled, Now: c.settled})
		read := status(aapay.Cancelled, "")
		for _, e := range []Event{read, {Name: StatusFailed, Failure: NotFound}} {
			e.Now, e.Asked = window+time.Hour, c.asked
			got, out := do(t, s, e)
			require.Equal(t, c.want, got.Phase, "%s: %s", name, e.Name)
			if c.want == Reversing {
				require.Equal(t, []Do{ReadStatus}, out, "asked again")
			}
		}
	}
	s := variants(Declined)[0]
	read := status(aapay.Rejected, "")
	read.Now, read.Asked = window+time.Second, window-time.Second
	got, _ := do(t, s, read)
	require.Equal(t, Declined, got.Phase)
}

// Without a reversal, a code that nobody scanned ends TIMEDOUT at the backend, and its undo with it.
func TestMoneyB2_TimedOutForGoodIsProofWithoutAReversal(t *testing.T) {
	s := variants(Reversing)[8]
	s.CanReverse, s.UndoOpen = false, false
	read := status(aapay.TimedOut, aapay.Rollback)
	read.Now = s.SentAt + testLimits.Window() + time.Second
	s, out := do(t, s, read)
	require.Equal(t, Reversing, s.Phase, "it may have timed out just now, and commit late")
	require.Equal(t, []Do{ReadStatus}, out)
	paid := status(aapay.TimedOut, aapay.Commit)
	paid.Now, paid.Status.TransactionID = read.Now, 7
	late, out := do(t, s, paid)
	require.Equal(t, Reversing, late.Phase)
	require.Equal(t, []Do{StopReading, RefundUndo}, out)
	read.Now += testLimits.FinalizeTimeout
	done, _ := do(t, s, read)
	require.Equal(t, Done, done.Phase)
	s.CanReverse = true
	again, out := do(t, s, read)
	require.Equal(t, Reversing, again.Phase, "a reversal proves more")
	require.Contains(t, out, Reverse)
}

func TestMoneyB3_AnotherAttempt(t *testing.T) {
	s := variants(Reversing)[8]
	s.UndoTries = 1
	s, out := do(t, s, Event{Name: UndoSettled, Now: t0})
	require.Equal(t, []Do{ReadStatus}, out)
	_, effects, err := Next(s, Event{Name: StatusFailed, Failure: EffectUnknown, Now: t0 + time.Hour})
	require.NoError(t, err)
	require.LessOrEqual(t, effects[0].After, 30*time.Second, "however long the outage was: money is owed")
	next, effects, err := Next(s, status(aapay.Finalized, aapay.Commit))
	require.NoError(t, err)
	require.Equal(t, Effect{Do: Reverse, Attempt: 2}, effects[1])
	require.True(t, next.UndoOpen)
	again, out := do(t, next, Event{Name: UndoSettled, Now: t0, Undone: Undone{OK: true}})
	require.Equal(t, Done, again.Phase)
	require.Equal(t, []Do{StopReading}, out)
}

func TestMoneyB4_RefundsAreDrivenForward(t *testing.T) {
	s, out := Start(Terms{Kind: ecr.Refund}, t0)
	require.Empty(t, out)
	for _, n := range []Name{Refused, Lost, NextCommand, GraceOver, EndOfDay, Restarted, Tick} {
		got, effects := do(t, s, Event{Name: n, NewBoot: true, Now: t0 + time.Hour})
		require.Equal(t, s, got)
		require.Empty(t, effects)
	}
	good, effects := do(t, s, Event{Name: ForwardEnded, Undone: Undone{OK: true, TransactionID: 9}})
	require.Equal(t, ecr.Approved, good.Result)
	require.Equal(t, []Do{GiveReceipt, Tell}, effects)
	bad, effects := do(t, s, Event{Name: ForwardEnded})
	require.Equal(t, ecr.Declined, bad.Result)
	require.Equal(t, []Do{Release, Tell}, effects)
	doubt, effects := do(t, s, Event{Name: ForwardEnded, Undone: Undone{InDoubt: true}})
	require.Equal(t, Forward, doubt.Phase)
	require.Equal(t, []Do{Exception}, effects)
}

func TestMoneyB5_OnlyUndoableMethodsAreOffered(t *testing.T) {
	def := func(types ...methods.TransactionType) methods.Definition {
		return methods.Definition{Name: "X", Trigger: []methods.Trigger{methods.QR}, TransactionTypes: types}
	}
	require.Empty(t, Offer([]methods.Definition{def(methods.Payment)}, Wish{}))
	require.Len(t, Offer([]methods.Definition{def(methods.Payment, methods.Refund)}, Wish{}), 1)
	require.Len(t, Offer([]methods.Definition{def(methods.Payment, methods.Reversal)}, Wish{}), 1)
	require.Empty(t, Offer([]methods.Definition{def(methods.Refund, methods.Reversal)}, Wish{}))
}

func TestMoneyB5_WithoutReversalTheUndoIsARefund(t *testing.T) {
	s := waiting0(State{QR: true, CanReverse: true}) // inverted by waiting0
	require.False(t, s.CanReverse)
	s, out := do(t, s, Event{Name: CodeBroken, Text: "crc", Now: t0})
	require.Equal(t, []Do{ReadStatus, Tell}, out)
	s, out = do(t, s, status(aapay.Pending, ""))
	require.Equal(t, []Do{ReadStatus}, out)
	s, out = do(t, s, status(aapay.Finalized, aapay.Commit))
	require.Equal(t, []Do{StopReading, RefundUndo}, out)
	doubt, out := do(t, s, Event{Name: UndoSettled, Undone: Undone{InDoubt: true}})
	require.Equal(t, []Do{Exception}, out)
	require.True(t, doubt.UndoOpen, "a refund in doubt is never sent a second time")
	s, _ = do(t, s, Event{Name: UndoSettled, Undone: Undone{OK: true}})
	require.Equal(t, Done, s.Phase)
}

func TestMoneyB6_OnlyUnconfirmedIsTouched(t *testing.T) {
	for _, p := range []Phase{Choosing, Initializing, Waiting, Aborting, Approved, Confirmed, Declined, Reversing, Done, Forward} {
		for _, n := range []Name{NextCommand, GraceOver} {
			s := variants(p)[0]
			got, out := do(t, s, Event{Name: n, Now: t0 + time.Hour})
			require.Equal(t, s, got)
			require.Empty(t, out)
		}
	}
	s := variants(Unconfirmed)[0]
	same, _ := do(t, s, Event{Name: NextCommand, Sync: Same})
	require.Equal(t, Confirmed, same.Phase)
	for _, sync := range []Sync{Before, Silent} {
		got, out := do(t, s, Event{Name: NextCommand, Sync: sync})
		require.Equal(t, Reversing, got.Phase)
		require.Equal(t, ecr.Aborted, got.Result)
		require.Contains(t, out, Reverse)
		told, _ := do(t, got, Event{Name: Told})
		require.Equal(t, Reversing, told.Phase, "an acknowledgement after the undo confirms nothing")
	}
	got, _ := do(t, s, Event{Name: GraceOver})
	require.Equal(t, Reversing, got.Phase)
}

func TestMoneyB8_NoAnswerToInitialize(t *testing.T) {
	s, _ := Start(Terms{Kind: ecr.Payment, QR: true, CanReverse: true, Limits: testLimits}, t0)
	lost := Event{Name: ReplyFailed, Failure: EffectUnknown, Now: t0}
	for range maxResends {
		var out []Do
		s, out = do(t, s, lost)
		require.Equal(t, []Do{Initialize}, out, "the idempotent route: the same Key again")
	}
	s, out := do(t, s, lost)
	require.Equal(t, []Do{ReadStatus}, out, "one status try")
	live, out := do(t, s, status(aapay.Initialized, ""))
	require.Equal(t, Waiting, live.Phase)
	require.Equal(t, []Do{ReadStatus}, out)
	s, out = do(t, s, Event{Name: StatusFailed, Failure: NotFound, Now: t0})
	require.Equal(t, Reversing, s.Phase)
	require.Contains(t, out, Reverse, "the reversal goes anyway")

	s, _ = Start(Terms{Kind: ecr.Payment, QR: true, CanReverse: true, Limits: testLimits}, t0)
	s, out = do(t, s, Event{Name: ReplyFailed, Failure: RouteMissing, Now: t0})
	require.Equal(t, []Do{ReadStatus}, out, "it may have arrived behind whoever has answered")
	s, out = do(t, s, Event{Name: StatusFailed, Failure: NotFound, Now: t0})
	require.Equal(t, []Do{SendPlain}, out)
	require.True(t, s.Plain)
	s1, out := do(t, s, Event{Name: ReplyFailed, Failure: RouteMissing, Now: t0})
	require.Equal(t, []Do{ReadStatus}, out, "plain is never sent again")
	require.Equal(t, Waiting, s1.Phase)
	_, out = do(t, s, Event{Name: Restarted, Now: t0})
	require.Equal(t, []Do{ReadStatus}, out, "nor after a restart")

	// A 201 on the plain route may only mean that the attempt before it has arrived: anybody on the way can have made its 404.
	no := Event{Name: Replied, Reply: aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, Now: t0}
	s2, out := do(t, s, no)
	require.Equal(t, []Do{ReadStatus}, out, "the status decides")
	require.Empty(t, s2.Result)
	s2, _ = do(t, s2, Event{Name: StatusFailed, Failure: NotFound, Now: t0})
	require.Equal(t, Reversing, s2.Phase)
	s3, _ := do(t, s, Event{Name: AbortAsked, Now: t0})
	s3, _ = do(t, s3, no)
	require.Equal(t, Reversing, s3.Phase, "nor does it end an aborted sale")
}

func TestMoneyB9_ResponseCodes(t *testing.T) {
	for _, c := range []struct {
		status, code int
		plain        bool
		want         answer
	}{
		{202, 0, false, answerLive}, {202, -3, false, answerLive}, {202, 1, false, answerResend}, {202, 1, true, answerLive},
		{202, -1, false, answerLive}, {202, -2, false, answerLive}, {202, 99, false, answerLive}, {202, -99, false, answerLive},
		{201, -1, false, answerRejected}, {201, -2, false, answerRejected}, {201, 0, false, answerLive}, {201, 1, false, answerLive},
		{201, -3, false, answerLive}, {201, 99, false, answerLive},
	} {
		r := aapay.Reply{HTTPStatus: c.status, Response: &aapay.Response{ResponseCode: c.code}}
		require.Equal(t, c.want, judgeReply(r, c.plain), c)
	}
	require.Equal(t, answerRejected, judgeReply(aapay.Reply{HTTPStatus: 201}, false))
	require.Equal(t, answerLive, judgeReply(aapay.Reply{HTTPStatus: 201, Valid: true}, false))
	require.Equal(t, answerLive, judgeReply(aapay.Reply{HTTPStatus: 202}, false))

	s := variants(Initializing)[0]
	s, out := do(t, s, Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: -1}}})
	require.Equal(t, Declined, s.Phase)
	require.Equal(t, ecr.Declined, s.Result)
	require.Contains(t, out, Tell)
	s, out = do(t, s, status(aapay.Rejected, ""))
	require.Equal(t, Done, s.Phase, "after a 201 that a status confirms nothing is owed")
	require.Equal(t, []Do{StopReading}, out)
}

func TestMoneyB12_ANewBootUndoesUnlessApproved(t *testing.T) {
	for p, want := range map[Phase][2]Phase{ // same boot, new boot
		Choosing: {Done, Done}, Initializing: {Initializing, Reversing}, Waiting: {Waiting, Reversing}, Aborting: {Reversing, Reversing},
		Approved: {Unconfirmed, Unconfirmed}, Unconfirmed: {Unconfirmed, Unconfirmed}, Confirmed: {Confirmed, Confirmed},
		Declined: {Declined, Declined}, Reversing: {Reversing, Reversing}, Done: {Done, Done}, Forward: {Forward, Forward},
	} {
		s := variants(p)[0]
		got, _ := do(t, s, Event{Name: Restarted, Now: t0})
		require.Equal(t, want[0], got.Phase, "%s, same boot", p)
		got, _ = do(t, s, Event{Name: Restarted, NewBoot: true, Now: time.Second})
		require.Equal(t, want[1], got.Phase, "%s, new boot", p)
		if p == Declined || p == Reversing {
			require.Equal(t, time.Second, got.SentAt, "the window starts anew")
		}
	}
}

func TestMoneyB16_CodeIsShownFromArrivalToStaleAge(t *testing.T) {
	s := waiting0(State{QR: true})
	e := status(aapay.Initialized, "")
	e.Status.QRCodePayload, e.Now = "code", t0+7*time.Second
	s, out := do(t, s, e)
	require.Equal(t, []Do{ShowCode, ReadStatus}, out)
	require.Equal(t, t0+37*time.Second, CodeUntil(s))
	at, ok := Due(s)
	require.True(t, ok)
	require.Equal(t, t0+37*time.Second, at)

	s2, out := do(t, s, Event{Name: Tick, Now: at - time.Millisecond})
	require.Empty(t, out)
	require.Equal(t, s, s2)
	s2, out = do(t, s, Event{Name: Tick, Now: at})
	require.Equal(t, []Do{ShowWaiting}, out, "the code goes, the sale goes on")
	require.Equal(t, Waiting, s2.Phase)

	scanned, _ := do(t, s, status(aapay.Pending, ""))
	scanned, out = do(t, scanned, Event{Name: Tick, Now: at})
	require.Equal(t, []Do{ShowWaiting}, out)
	require.Equal(t, Waiting, scanned.Phase)

	late := s
	late.BaseAt = t0 + 70*time.Second
	require.Equal(t, t0+77*time.Second, CodeUntil(late), "the deadline comes first")
}

// A STALE sale is live: the customer may be confirming.
func TestField_T1StaleStaysLive(t *testing.T) {
	s := waiting0(State{QR: true})
	s.Limits = Limits{Stale: 30 * time.Second, StaleTimeout: 2 * time.Minute, FinalizeTimeout: 5 * time.Minute, Deadline: LongestSale}
	e := status(aapay.Initialized, "")
	e.Status.QRCodePayload, e.Now = "code", t0
	s, _ = do(t, s, e)

	word := status(aapay.Stale, "") // before our own timer
	word.Now = t0 + 20*time.Second
	stale, out := do(t, s, word)
	require.Equal(t, Waiting, stale.Phase)
	require.Equal(t, []Do{ShowWaiting, ReadStatus}, out)
	paid, out := do(t, stale, status(aapay.Finalized, aapay.Commit))
	require.Equal(t, Approved, paid.Phase)
	require.Equal(t, []Do{ClearScreen, GiveReceipt, Tell, StopReading}, out)
	aborted, out := do(t, stale, Event{Name: AbortAsked, Now: t0 + 25*time.Second})
	require.Equal(t, Aborting, aborted.Phase)
	require.Equal(t, ClearScreen, out[0])

	// staleTimeOut counts from STALE; one last read, then abort and undo.
	for _, c := range []struct {
		from State
		at   time.Duration
	}{{stale, t0 + 140*time.Second}, {s, t0 + 150*time.Second}} {
		from, _ := do(t, c.from, Event{Name: Tick, Now: t0 + 30*time.Second})
		same, out := do(t, from, Event{Name: Tick, Now: c.at - time.Millisecond})
		require.Equal(t, Waiting, same.Phase)
		require.Empty(t, out)
		last, out := do(t, from, Event{Name: Tick, Now: c.at})
		require.Equal(t, []Do{ClearScreen, ReadStatus}, out)
		require.Equal(t, Waiting, last.Phase)
		word.Now = c.at + time.Second
		ended, out := do(t, last, word)
		require.Equal(t, Reversing, ended.Phase)
		require.Equal(t, []Do{StopReading, Reverse, Tell}, out)
	}

	// [checkout] on_stale = "abort"
	s.StaleEnds = true
	word.Now = t0 + 20*time.Second
	ended, out := do(t, s, word)
	require.Equal(t, Reversing, ended.Phase)
	require.Equal(t, ClearScreen, out[0])
	ours, out := do(t, s, Event{Name: Tick, Now: t0 + 30*time.Second})
	require.Equal(t, []Do{ClearScreen, ReadStatus}, out)
	require.True(t, ours.LastRead)
}

// The deadline is the register's patience until it acknowledges an intermediate status; then the method's timers, at most ten minutes.
func TestField_L9DeadlineIsTheRegistersPatience(t *testing.T) {
	l := LimitsOf(methods.Definition{MeanDelay: 10}, "m", 50*time.Second, false)
	require.Equal(t, 42*time.Second, l.Deadline, "8 s before the patience ends")
	require.Equal(t, 10*time.Minute, l.Long)
	s := waiting0(State{QR: true})
	s.Wire, s.Engaged = aapay.Authorized, true
	mute, out := do(t, s, Event{Name: Tick, Now: t0 + 77*time.Second})
	require.True(t, mute.LastRead)
	require.Equal(t, []Do{ReadStatus}, out)
	for _, e := range []Event{{Name: Tick, Now: t0 + 77*time.Second, Patient: true}, {Name: StatusRead, Now: t0 + 77*time.Second, Patient: true, Status: aapay.Status{State: aapay.Authorized}}} {
		patient, _ := do(t, s, e)
		require.False(t, patient.LastRead)
		at, _ := Due(patient)
		require.Equal(t, t0+10*time.Minute, at)
	}
}

// A watch that gets no answer asks again from 2 s on.
func TestField_L17WatchesBackOffFromTwoSeconds(t *testing.T) {
	window := t0 + testLimits.Window()
	for phase, most := range map[Phase]time.Duration{Declined: 5 * time.Minute, Reversing: 30 * time.Second} {
		s := variants(phase)[0]
		s.UndoOpen = false
		for silence, want := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 3: 8 * time.Second, 9: min(512*time.Second, most), 1000: most} {
			_, effects, err := Next(s, Event{Name: StatusFailed, Failure: EffectUnknown, Silence: silence, Now: window + time.Hour})
			require.NoError(t, err)
			require.Equal(t, want, effects[0].After, "%s, %d", phase, silence)
		}
	}
}

// The second and third attempt of an initialize without an answer come 2 and 4 s after the one before.
func TestField_T4InitializeBacksOff(t *testing.T) {
	s, _ := Start(Terms{Kind: ecr.Payment, QR: true, CanReverse: true, Limits: testLimits}, t0)
	for _, want := range []time.Duration{2 * time.Second, 4 * time.Second} {
		next, effects, err := Next(s, Event{Name: ReplyFailed, Failure: EffectUnknown, Now: t0})
		require.NoError(t, err)
		require.Equal(t, []Effect{{Do: Initialize, After: want}}, effects)
		s = next
	}
	_, effects, err := Next(s, Event{Name: ReplyFailed, Failure: EffectUnknown, Now: t0})
	require.NoError(t, err)
	require.Equal(t, ReadStatus, effects[0].Do)
}

// What was told without the journal is never followed by an approval.
func TestField_J8ToldAbortedIsNeverApproved(t *testing.T) {
	for p, want := range map[Phase]Phase{
		Choosing: Done, Initializing: Reversing, Waiting: Reversing, Aborting: Reversing, Approved: Reversing, Unconfirmed: Reversing,
		Declined: Declined, Reversing: Reversing, Done: Done, Forward: Forward,
	} {
		s, _ := do(t, variants(p)[0], Event{Name: ToldAborted, Now: t0})
		require.Equal(t, want, s.Phase, p)
		require.NotEqual(t, ecr.Approved, s.Result, p)
	}
}

func TestForeignStatusIsNoAnswer(t *testing.T) {
	s := waiting0(State{QR: true})
	s.TransactionID = 8
	got, out := do(t, s, status(aapay.Finalized, aapay.Commit))
	require.Equal(t, Waiting, got.Phase)
	require.Equal(t, []Do{ReadStatus}, out)
}
