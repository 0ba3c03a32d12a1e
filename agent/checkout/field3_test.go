package checkout

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
)

// TestField3_CheckoutA5ReversedOfWhatNoReadHasFound: one site took a payment, another one, which knows
// nothing of it, answered its reversal with "reversed": the undo counted as proven, and the payment went
// through at the first. What was taken and never read ends so no more: it is read on. The kind: each way
// to an undo that no read has come before. What nobody has ever taken ends by "reversed", as before.
func TestField3_CheckoutA5ReversedOfWhatNoReadHasFound(t *testing.T) {
	taken := Event{Name: Replied, Now: t0, Reply: aapay.Reply{HTTPStatus: 202, Valid: true, Response: &aapay.Response{}}}
	silent := Event{Name: StatusFailed, Failure: EffectUnknown, Now: t0}
	abort := func(t *testing.T, s State, found *Event) State {
		s, out := do(t, s, Event{Name: AbortAsked, Now: t0})
		if len(out) > 0 && s.Phase == Aborting && !s.Taken { // its answer is on the way
			s, out = do(t, s, taken)
		}
		require.Equal(t, Aborting, s.Phase)
		require.Contains(t, out, ReadStatus, "one status try")
		if found == nil {
			found = &silent
		}
		s, _ = do(t, s, *found)
		return s
	}
	answered := func(t *testing.T) State { s, _ := do(t, begun(), taken); return s }
	for name, undone := range map[string]func(t *testing.T, found *Event) State{
		"aborted before its answer": func(t *testing.T, found *Event) State { return abort(t, begun(), found) },
		"aborted before its read":   func(t *testing.T, found *Event) State { return abort(t, answered(t), found) },
		"another boot": func(t *testing.T, found *Event) State {
			s := answered(t)
			if found != nil {
				s, _ = do(t, s, *found)
			}
			s, out := do(t, s, Event{Name: Restarted, NewBoot: true, Now: t0})
			if found == nil {
				require.Equal(t, Aborting, s.Phase)
				require.Contains(t, out, ReadStatus, "one status try")
				s, _ = do(t, s, silent)
			}
			return s
		},
		"told without the journal": func(t *testing.T, found *Event) State {
			s := answered(t)
			if found != nil {
				s, _ = do(t, s, *found)
			}
			s, _ = do(t, s, Event{Name: ToldAborted, Now: t0})
			return s
		},
	} {
		reversed := Event{Name: UndoSettled, Now: t0, Undone: Undone{OK: true}}
		live := status(aapay.Pending, "")

		s := undone(t, &live)
		require.Equal(t, Reversing, s.Phase, name)
		s, _ = do(t, s, reversed)
		require.Equal(t, Done, s.Phase, "%s: a read has found it before", name)

		for _, u := range []Undone{{OK: true, Moved: true}, {OK: true, ByHand: true}} {
			s, _ = do(t, undone(t, nil), Event{Name: UndoSettled, Now: t0, Undone: u})
			require.Equal(t, Done, s.Phase, "%s: %+v", name, u)
		}

		s = undone(t, nil)
		require.True(t, s.UndoOpen, name)
		s, out := do(t, s, reversed)
		require.Equal(t, Reversing, s.Phase, "%s: who says so need not know it", name)
		require.Contains(t, out, ReadStatus, name)
		gone := Event{Name: StatusFailed, Failure: NotFound, Now: s.SentAt + testLimits.Window() + time.Minute}
		s, out = do(t, s, gone)
		require.Equal(t, Reversing, s.Phase, "%s: nor is \"not found\" a proof", name)
		require.Contains(t, out, Exception, "%s: a person hears of it", name)
		paid := status(aapay.Finalized, aapay.Commit)
		paid.Now = gone.Now + time.Hour
		s, out = do(t, s, paid)
		require.Contains(t, out, Reverse, "%s: found, it is undone", name)
		s, _ = do(t, s, reversed)
		require.Equal(t, Done, s.Phase, name)
	}

	s, _ := do(t, begun(), Event{Name: Restarted, NewBoot: true, Now: t0})
	s, _ = do(t, s, Event{Name: UndoSettled, Now: t0, Undone: Undone{OK: true}})
	require.Equal(t, Done, s.Phase, "nobody has ever taken it")
}
