package drive_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// TestField4_GatewayG1ThePaymentItselfProvesNoUndo: a gateway answered the reading of a reversal with the
// status of the payment that it takes back, which is FINALIZED with COMMIT. The sale was undone, "proven
// that the merchant keeps no money", and the merchant kept it. A status that has the payment's
// transactionId is the payment's (law II); where that was not known as the reversal left, a good end that
// tells nothing of the request is read once more. The kind: a service that tells the reference of a
// transaction and one that tells nothing; a payment whose number was read before its undo, and one that no
// answer had come of; the answer to the reversal a 202, a refusal, and lost. A refund is asked for by the
// payment's transactionId, and has it always; a payment by link is given back by a service of our own, which
// shows each payment that it gives back.
func TestField4_GatewayG1ThePaymentItselfProvesNoUndo(t *testing.T) {
	answers := map[string]func(n int) (*aapay.Reply, error, bool){
		"202": func(int) (*aapay.Reply, error, bool) { return nil, nil, false },
		"201": func(n int) (*aapay.Reply, error, bool) {
			return &aapay.Reply{HTTPStatus: 201, Response: &aapay.Response{ResponseCode: aapay.CodeReject}}, nil, n == 1
		},
		"lost": func(n int) (*aapay.Reply, error, bool) { return nil, errLost, n == 1 },
	}
	for _, tells := range []bool{true, false} {
		for _, read := range []bool{true, false} {
			for name, answer := range answers {
				if name == "201" && !read { // behind a refusal the payment is read before the next attempt
					continue
				}
				t.Run(fmt.Sprint("tells ", tells, ", read ", read, ", ", name), func(t *testing.T) {
					t.Parallel()
					terminal(t, func(r *rig) {
						r.world.tells = tells
						slipped := false
						r.world.onInit = func(n int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
							if typ == aapay.Reversal {
								return answer(n)
							}
							return nil, nil, false
						}
						r.world.onReply = func(x *txn, _ *aapay.Reply) { // the first reversal takes its time, and fails
							if x.typ == aapay.Reversal && x.id == 2 {
								orig := r.world.order[0]
								orig.state, orig.account = aapay.Finalized, aapay.Commit
								r.world.moved[orig.req.TerminalReference], x.state, x.account = 500, aapay.Pending, ""
							}
						}
						r.world.answer = func(x *txn, st *aapay.Status) {
							switch {
							case x.typ == aapay.Payment || x.id != 2:
							case !slipped:
								slipped = true
								*st = r.world.statusOf(r.world.order[0])
							case x.reads > 5:
								x.state = aapay.Failed
							}
						}
						id := ""
						if read {
							id = r.unconfirmed(500).Sale
						} else {
							r.world.after = func(_ int, typ aapay.Type) error {
								if typ == aapay.Payment {
									r.world.pay(r.world.order[0])
									return errLost
								}
								return nil
							}
							r.world.onStatus = func(*txn) error {
								if !slipped {
									return errLost
								}
								return nil
							}
							s := r.sale(500)
							o := <-s.Outcome
							require.NotEqual(t, ecr.Approved, o.Result)
							r.Told(s, ecr.Told)
							id = s.ID
						}
						pass(40 * time.Minute)
						require.True(t, slipped)
						require.Equal(t, checkout.Done, r.phase(id))
						require.Zero(t, r.world.net(), "undone is the money gone back")
					})
				})
			}
		}
	}
}

// TestField4_GatewayG2AConflictBehindALostAttemptIsRead: the answer to a refund was lost, and its repetition
// met a 409 that was not ours, twice, at a service whose data lag by minutes. The refund was told as refused,
// its debit was given back, and it went twice. It is the refusal of TestField3_OutboxB1 in another word: an
// attempt whose end is not known may have had its effect, and "not found" is no proof before the window is
// over. A 409 to the very first attempt ends it after 30 s, as before (MONEY C.9). The kind: both undos.
func TestField4_GatewayG2AConflictBehindALostAttemptIsRead(t *testing.T) {
	conflict := &wire.Error{Code: wire.KeyReused, Op: "t", Msg: "conflict", MayRun: true}
	for _, lost := range []bool{true, false} {
		t.Run(fmt.Sprint("lost ", lost), func(t *testing.T) {
			terminal(t, func(r *rig) {
				o := r.approved(500)
				began := time.Now()
				lags := func() bool { return time.Since(began) < 5*time.Minute }
				r.world.lock(func() {
					r.world.after = func(n int, typ aapay.Type) error {
						if typ == aapay.Refund && lags() {
							return errLost
						}
						return nil
					}
					r.world.onInit = func(n int, typ aapay.Type, _ aapay.Request) (*aapay.Reply, error, bool) {
						return nil, conflict, typ == aapay.Refund && lags() && (n > 1 || !lost)
					}
					r.world.onRead = func() error {
						if lags() {
							return wire.Errorf(wire.NotFound, "t", "no")
						}
						return nil
					}
				})
				s := r.Accepted(refundOf(o, 100))
				out := <-s.Outcome
				r.Told(s, ecr.Told)
				if !lost {
					require.Equal(t, ecr.Declined, out.Result, "nothing else was sent")
					return
				}
				require.Equal(t, ecr.InProgress, out.Result)
				again := r.Accepted(refundOf(o, 100))
				require.Equal(t, s.ID, again.ID, "it is joined")
				pass(15 * time.Minute)
				r.Approved(r.Accepted(refundOf(o, 100)), ecr.Told)
				require.EqualValues(t, 400, r.world.net(), "once")
			})
		})
	}
}

// TestField4_GatewayG6AnUndosTransactionIsNoOthers: a gateway answered the reading of an operation with the
// status of an undo that had ended, at a service that tells nothing of a request. The next undo was proven
// by it, and the merchant kept the money; the next refund was told as done, and was not. The transaction of
// an undo stands under its sale, as that of a sale or a refund does, and is no other's (law II). The kind:
// whatever is read: an undo, a refund, and a sale, which one such status did not approve before either.
func TestField4_GatewayG6AnUndosTransactionIsNoOthers(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(r *rig) (id string)
		net   int64
	}{
		"an undo": {func(r *rig) string { return r.unconfirmed(500).Sale }, 0},
		"a sale": {func(r *rig) string {
			r.world.onStatus = nil
			return r.sale(500).ID
		}, 0},
		"a refund": {func(r *rig) string {
			o := r.approved(500)
			s := r.Accepted(refundOf(o, 500))
			go func() { r.Told(s, ecr.Told) }()
			return s.ID
		}, 500},
	} {
		t.Run(name, func(t *testing.T) {
			terminal(t, func(r *rig) {
				first := r.unconfirmed(500)
				pass(15 * time.Minute)
				require.Equal(t, checkout.Done, r.phase(first.Sale))
				slipped := false
				r.world.lock(func() {
					r.world.onReply = func(x *txn, _ *aapay.Reply) { // what gives back takes its time
						if name != "a sale" && x.id == 4 {
							r.world.moved[r.world.order[2].req.TerminalReference], x.state, x.account = 500, aapay.Pending, ""
						}
					}
					r.world.answer = func(x *txn, st *aapay.Status) {
						read := x.id == 4 || name == "a sale" && x.id == 3
						switch {
						case read && !slipped:
							slipped = true
							*st = r.world.statusOf(r.world.order[1])
							st.TimeStamp = ""
						case x.id == 4 && x.reads > 5 && x.state == aapay.Pending:
							x.state = aapay.Failed
						}
					}
				})
				id := c.begin(r)
				pass(40 * time.Minute)
				require.True(t, slipped)
				row, lines := r.show(id)
				if name != "an undo" {
					require.NotEqual(t, ecr.Approved, row.State.Result, "%v", lines)
				}
				require.Equal(t, c.net, r.world.net(), "%v", lines)
			})
		})
	}
}
