package aapay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/backend/scenario"
)

const (
	staleMS    = 30_000
	timeOutMS  = 300_000
	finalizeMS = 600_000
)

// Every state, alone with time: which timer it has, to the millisecond.
func TestTimersOfEveryState(t *testing.T) {
	for _, row := range []struct {
		state   aapay.State
		account aapay.AccountState
		after   int64 // 0 = none
		to      aapay.State
	}{
		{aapay.Initialized, "", staleMS, aapay.Stale},
		{aapay.Initialized, aapay.Commit, 0, ""},
		{aapay.Stale, "", timeOutMS, aapay.TimedOut},
		{aapay.Pending, "", timeOutMS, aapay.TimedOut},
		{aapay.Reserved, "", finalizeMS, aapay.TimedOut},
		{aapay.Reserved, aapay.Commit, 0, ""},
		{aapay.Authorized, "", 0, ""},
		{aapay.Finalized, aapay.Commit, 0, ""},
		{aapay.Finalized, aapay.Rollback, 0, ""},
		{aapay.Reported, aapay.Commit, 0, ""},
		{aapay.Rejected, "", 0, ""},
		{aapay.Cancelled, "", 0, ""},
		{aapay.Failed, "", 0, ""},
		{aapay.TimedOut, "", 0, ""},
		{aapay.TimedOut, aapay.Rollback, 0, ""},
		{"PAID", "", 0, ""},
		{"AWAITING_BANK", "", 0, ""},
		{reversed, "", 0, ""},
	} {
		t.Run(string(row.state)+string(row.account), func(t *testing.T) {
			l := life{State: row.state, Account: row.account, Since: 1000, Stale: staleMS, TimeOut: timeOutMS, Final: finalizeMS}
			c, ok := due(l)
			require.Equal(t, row.after != 0, ok)
			if !ok {
				return
			}
			require.Equal(t, 1000+row.after, c.At)
			next := take(l, c)
			require.Equal(t, row.to, next.State)
			require.Equal(t, c.At, next.Since)
		})
	}
}

// Every state, when the script has a step: live states take it before their timer, late steps wait for TIMEDOUT.
func TestScriptAgainstTimers(t *testing.T) {
	at := func(ms int64, late bool) []scenario.Step {
		return []scenario.Step{{At: time.Duration(ms) * time.Millisecond, State: "FINALIZED", Account: "COMMIT", Late: late}}
	}
	for _, row := range []struct {
		name   string
		state  aapay.State
		script []scenario.Step
		script1st,
		any bool
	}{
		{"before the timer", aapay.Initialized, at(staleMS-1, false), true, true},
		{"same millisecond", aapay.Initialized, at(staleMS, false), true, true},
		{"after the timer", aapay.Initialized, at(staleMS+1, false), false, true},
		{"late step before its time", aapay.Initialized, at(0, true), false, true},
		{"late step in its time", aapay.TimedOut, at(0, true), true, true},
		{"ordinary step after time-out", aapay.TimedOut, at(0, false), false, false},
		{"rejected", aapay.Rejected, at(0, false), false, false},
		{"cancelled", aapay.Cancelled, at(0, false), false, false},
		{"failed", aapay.Failed, at(0, false), false, false},
		{"finalized", aapay.Finalized, at(0, false), false, false},
		{"reversed", reversed, at(0, false), false, false},
		{"authorized", aapay.Authorized, at(0, false), true, true},
		{"a word of its own", "PAID", at(0, false), true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := life{State: row.state, Stale: staleMS, TimeOut: timeOutMS, Final: finalizeMS, Script: row.script}
			c, ok := due(l)
			require.Equal(t, row.any, ok)
			require.Equal(t, row.script1st, c.Script)
		})
	}
}

func TestHurryOnlyMovesForward(t *testing.T) {
	l := life{State: aapay.Initialized, Since: 1000, Stale: staleMS, TimeOut: timeOutMS, Final: finalizeMS, Base: 1000, Script: scenario.Script(scenario.ReserveFinalize, scenario.Timing{
		Delay: 10 * time.Second, StaleAge: 30 * time.Second, TimeOut: time.Minute, Finalize: time.Minute,
	})}
	moved, ok := hurry(l, 3000)
	require.True(t, ok)
	c, _ := due(moved)
	require.EqualValues(t, 3000, c.At)
	require.Equal(t, "RESERVED", c.Step.State)
	moved = take(moved, c)
	c, _ = due(moved)
	require.EqualValues(t, 13000, c.At, "the rest keeps its distance")
	again, _ := hurry(l, 11_001)
	require.Equal(t, l.Base, again.Base, "what is due already is not moved back")
	_, ok = hurry(life{State: aapay.Rejected, Script: l.Script}, 0)
	require.False(t, ok)
}
