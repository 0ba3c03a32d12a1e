package drive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// TestField2_N2AWishToWaitEndsASaleAtOnce: a gateway answered with 429 and an hour, and the register stood in "please wait" for ten
// minutes. No customer waits so long: the sale ends by MONEY A.2 and B.8 within seconds, with a text that names the cause, and the
// sales that follow are not sent and told so at once, until the time is over. The kind: each answer by which a service asks for time
// (429, 503, with a body or nobody's), to a first attempt, to one behind a lost one, and to the questions before a code is there; a
// few seconds are waited for. Behind a code the customer may have paid: it is asked again where the limits of the sale allow it.
func TestField2_N2AWishToWaitEndsASaleAtOnce(t *testing.T) {
	const text = "the payment service is overloaded: not paid, try again later"
	soon, atOnce := 10*time.Second, time.Second // in the rig's virtual time
	busy := func(code wire.Code, after time.Duration) error {
		return &wire.Error{Code: code, Op: "t", Msg: "wait", RetryAfter: after}
	}
	for name, wish := range map[string]error{
		"429":         busy(wire.TooMany, time.Minute),
		"503":         busy(wire.Unavailable, time.Minute),
		"503, unread": busy(wire.UnknownOutcome, time.Minute),
	} {
		for _, lost := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				terminal(t, func(r *rig) {
					on := true
					r.world.onInit = func(n int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
						if lost && n == 1 && typ == aapay.Payment {
							return nil, errLost, true
						}
						return nil, wish, on
					}
					began := time.Now()
					s := r.sale(500)
					out := <-s.Outcome
					require.Less(t, time.Since(began), soon)
					require.Equal(t, ecr.Aborted, out.Result)
					require.Equal(t, text, out.Text)
					r.Told(s, ecr.Told)
					require.Equal(t, checkout.Reversing, r.phase(s.ID), "it was sent: the undo is owed")

					sent, began := len(r.world.sent(aapay.Payment)), time.Now()
					next := r.sale(600)
					out = <-next.Outcome
					require.Less(t, time.Since(began), atOnce)
					require.Equal(t, ecr.NoConnection, out.Code)
					require.Equal(t, text, out.Text)
					r.Told(next, ecr.Told)
					require.Equal(t, checkout.Done, r.phase(next.ID), "nothing left: no undo is owed")
					require.Len(t, r.world.sent(aapay.Payment), sent)

					pass(time.Minute)
					r.world.lock(func() { on, lost = false, false; r.world.onStatus = approveAfter(r.world, 2) })
					r.Approved(r.sale(700), ecr.Told)
				})
			})
		}
	}
	t.Run("a few seconds", func(t *testing.T) {
		terminal(t, func(r *rig) {
			r.world.onInit = func(n int, _ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
				return nil, busy(wire.TooMany, 4*time.Second), n == 1
			}
			r.world.onStatus = approveAfter(r.world, 2)
			r.Approved(r.sale(500), ecr.Told)
		})
	})
	for code, seconds := range map[string]time.Duration{"": 5 * time.Second, "https://wallet.example/1": 80 * time.Second} {
		t.Run("a status, code "+code, func(t *testing.T) {
			terminal(t, func(r *rig) {
				began := time.Now()
				r.world.code = code
				r.world.onRead = func() error {
					if code != "" && time.Since(began) < 3*time.Second {
						return nil
					}
					return busy(wire.TooMany, time.Hour)
				}
				s := r.sale(500)
				out := <-s.Outcome
				require.Less(t, time.Since(began), seconds)
				require.Equal(t, ecr.Aborted, out.Result)
				require.Equal(t, text, out.Text)
				r.Told(s, ecr.Told)
				require.Equal(t, checkout.Reversing, r.phase(s.ID))
			})
		})
	}
	t.Run("a status, the customer has paid meanwhile", func(t *testing.T) {
		terminal(t, func(r *rig) {
			began := time.Now()
			r.world.onRead = func() error {
				if at := time.Since(began); at > 3*time.Second && at < 20*time.Second {
					return busy(wire.TooMany, 20*time.Second)
				}
				return nil
			}
			r.world.onStatus = approveAfter(r.world, 3)
			r.Approved(r.sale(500), ecr.Told)
		})
	})
}
