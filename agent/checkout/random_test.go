package checkout

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/ecr"
	"posagent/schemes/aapay"
)

// wallet is a backend with one payment: what it answers is always the truth, what arrives may be lost.
type wallet struct {
	created, reversed, tombstone bool
	word                         aapay.State
	account                      aapay.AccountState
}

func (w *wallet) status() (aapay.Status, bool) {
	if !w.created {
		return aapay.Status{}, false
	}
	return aapay.Status{State: w.word, AccountState: w.account, TransactionID: 7, QRCodePayload: "code"}, true
}

// step lets the customer or the scheme do something.
func (w *wallet) step(t *rapid.T) {
	if !w.created || w.reversed || w.account != "" {
		return
	}
	if w.word == aapay.Rejected || w.word == aapay.Cancelled || w.word == aapay.Failed {
		return
	}
	switch rapid.IntRange(0, 8).Draw(t, "scheme") {
	case 0:
		w.word, w.account = aapay.Finalized, aapay.Commit
	case 1:
		w.word = aapay.Pending
	case 2:
		w.word = aapay.Reserved
	case 3:
		w.word = rapid.SampledFrom([]aapay.State{aapay.Rejected, aapay.Cancelled, aapay.Failed}).Draw(t, "no")
	case 4:
		w.word = aapay.Stale
	case 5:
		w.word = aapay.TimedOut // may still commit
	}
}

func (w *wallet) reverse(t *rapid.T) bool {
	if !w.created {
		w.tombstone = true
		return rapid.Bool().Draw(t, "tombstone proves")
	}
	if w.account == aapay.Commit || rapid.Bool().Draw(t, "early reversal") {
		w.reversed, w.word, w.account = true, aapay.Cancelled, aapay.Rollback
		return true
	}
	return false
}

// After any sequence of events: told approved and acknowledged means the money moved once and stays; everything else, once
// nothing is left to do, means that no money moved; and until then the undo is owed.
func TestNeverApprovedAndUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &wallet{}
		now := time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "boot clock"))
		term := Terms{Kind: ecr.Payment, QR: rapid.Bool().Draw(t, "qr"), CanReverse: rapid.Bool().Draw(t, "reversal"), CanRefund: true, Limits: testLimits}
		s, pending := Start(term, now)
		everConfirmed, everReversing := false, false
		queue := slices.Clone(pending)

		apply := func(e Event) {
			e.Now = now
			next, effects, err := Next(s, e)
			if err != nil {
				require.ErrorIs(t, err, ErrRefused)
				return
			}
			checkStep(t, s, next, effects, e)
			s = next
			everConfirmed = everConfirmed || s.Phase == Confirmed
			everReversing = everReversing || s.Phase == Reversing
			require.False(t, everConfirmed && everReversing, "confirmed and undone")
			queue = append(queue, effects...)
		}
		perform := func(f Effect) {
			switch f.Do {
			case Initialize, SendPlain:
				switch rapid.IntRange(0, 6).Draw(t, "initialize") {
				case 6: // no connection
					apply(Event{Name: ReplyFailed, Failure: NotSent, Try: s.Sends})
				case 0: // never arrives
					apply(Event{Name: ReplyFailed, Failure: EffectUnknown})
				case 1:
					apply(Event{Name: ReplyFailed, Failure: NoEffect})
				case 2: // arrives, the answer is lost
					w.create()
					apply(Event{Name: ReplyFailed, Failure: EffectUnknown})
				default:
					w.create()
					if w.tombstone {
						apply(Event{Name: Replied, Reply: aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: -1}}})
						return
					}
					apply(Event{Name: Replied, Reply: aapay.Reply{HTTPStatus: 202, Response: &aapay.Response{}}})
				}
			case ReadStatus:
				now += f.After
				if rapid.IntRange(0, 4).Draw(t, "link") == 0 {
					apply(Event{Name: StatusFailed, Failure: EffectUnknown})
				} else if st, ok := w.status(); ok {
					apply(Event{Name: StatusRead, Status: st})
				} else {
					apply(Event{Name: StatusFailed, Failure: NotFound})
				}
			case Reverse:
				apply(Event{Name: UndoSettled, Undone: Undone{OK: w.reverse(t)}})
			case RefundUndo:
				require.Equal(t, aapay.Commit, w.account)
				w.reversed, w.account, w.word = true, aapay.Rollback, aapay.Cancelled
				apply(Event{Name: UndoSettled, Undone: Undone{OK: true}})
			}
		}
		for range 60 {
			w.step(t)
			now += time.Duration(rapid.Int64Range(0, int64(40*time.Second)).Draw(t, "pass"))
			switch i := rapid.IntRange(0, 12).Draw(t, "what"); {
			case i < 7 && len(queue) > 0:
				f := queue[0]
				queue = queue[1:]
				perform(f)
			case i < 9:
				apply(Event{Name: Tick})
			default:
				n := rapid.SampledFrom([]Name{AbortAsked, Told, Refused, Lost, NextCommand, GraceOver, EndOfDay, Restarted, CodeBroken}).Draw(t, "event")
				apply(Event{Name: n, NewBoot: rapid.Bool().Draw(t, "boot"), Sync: rapid.SampledFrom([]Sync{Silent, Same, Before}).Draw(t, "sync")})
			}
			if w.created && w.account == aapay.Commit && s.Result != ecr.Approved {
				require.True(t, Owed(s) || s.Phase == Choosing, "money moved, not approved, nothing owed in %s", s.Phase)
			}
			if s.Result == ecr.Approved && s.Phase != Reversing {
				require.Equal(t, aapay.Commit, w.account)
			}
		}
		// Left alone, everything ends well.
		for i := 0; Owed(s) && i < 400; i++ {
			w.step(t)
			now += time.Minute
			if len(queue) == 0 {
				apply(Event{Name: Tick})
				if !s.UndoOpen {
					queue = append(queue, Effect{Do: ReadStatus})
				}
				continue
			}
			f := queue[0]
			queue = queue[1:]
			perform(f)
			if s.Phase == Initializing && len(queue) == 0 {
				apply(Event{Name: Tick})
			}
		}
		if s.Phase == Done && s.Result != ecr.Approved {
			require.NotEqual(t, aapay.Commit, w.account, "done, told %s, and the money moved", s.Result)
		}
	})
}

func (w *wallet) create() {
	if w.created || w.tombstone {
		return
	}
	w.created, w.word = true, aapay.Initialized
}
