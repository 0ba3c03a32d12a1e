package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/aapay"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// TestField3_OutboxB1ARefusalBehindALostAttemptIsRead: the answer to a refund was lost, and another
// site refused the repetition. The refund was told as refused, its debit was given back, and the money
// went twice. An attempt whose end is not known may have had its effect, whoever refuses the next: a
// status by its own reference decides, and "not found" is none before the window is over. The kind:
// each refusal, of both undos; behind an answer that was lost, and behind an attempt without an end.
func TestField3_OutboxB1ARefusalBehindALostAttemptIsRead(t *testing.T) {
	no := func(c wire.Code) func() (aapay.Reply, error) {
		return func() (aapay.Reply, error) { return aapay.Reply{}, wire.Errorf(c, "t", "no") }
	}
	for name, refuses := range map[string]func() (aapay.Reply, error){
		"400": no(wire.Invalid), "404": no(wire.NotFound), "409": no(wire.Conflict), "413": no(wire.TooLarge),
		"201": func() (aapay.Reply, error) { return reply(201, aapay.CodeReject, ""), nil },
	} {
		for _, kind := range []string{gateway.KindReversal, gateway.KindRefund} {
			for found, want := range map[time.Duration]outbox.State{0: outbox.Done, 5 * time.Minute: outbox.Done, 24 * time.Hour: outbox.Failed} {
				t.Run(fmt.Sprint(name, kind, found), func(t *testing.T) {
					t.Parallel()
					began := time.Time{}
					s := &service{
						start: func(n int, _ bool) (aapay.Reply, error) {
							if n == 1 {
								began = time.Now()
								return aapay.Reply{}, wire.Errorf(wire.UnknownOutcome, "t", "no reply")
							}
							return refuses()
						},
						status: func(int, string) (aapay.Status, error) {
							if time.Since(began) < found {
								return aapay.Status{}, gone(true)
							}
							return state(aapay.Finalized, aapay.Commit), nil
						},
					}
					run(t, kind, s, nil, time.Hour, func(op outbox.Op, got []gateway.UndoResult) {
						require.Equal(t, want, op.State, op.Reason)
						require.Len(t, got, 1)
						require.Equal(t, want == outbox.Done, got[0].OK)
						require.Equal(t, 2, s.started, "it is asked, and not sent again")
					})
				})
			}
		}
		t.Run(name+" behind an attempt without an end", func(t *testing.T) {
			s := &service{
				start:  func(int, bool) (aapay.Reply, error) { return refuses() },
				status: func(int, string) (aapay.Status, error) { return aapay.Status{}, gone(true) },
			}
			op := outbox.Op{New: outbox.New{Key: "k", Payload: payload(t, nil)}, State: outbox.Sent, Attempts: 2, Ran: time.Minute}
			for _, at := range []time.Duration{time.Minute, 5 * time.Minute, 12 * time.Minute} {
				op.Ran = at
				v := gateway.Refund(s, nil, nil).Send(t.Context(), op)
				require.Equal(t, map[bool]outbox.State{false: outbox.Sent, true: outbox.Failed}[at > 11*time.Minute], v.State, "%s: %s", at, v.Reason)
				op.Memo, op.Attempts = v.Memo, op.Attempts+1
			}
		})
		t.Run(name+" to the first attempt", func(t *testing.T) {
			s := &service{
				start:  func(int, bool) (aapay.Reply, error) { return refuses() },
				status: func(int, string) (aapay.Status, error) { return aapay.Status{}, gone(true) },
			}
			run(t, gateway.KindRefund, s, nil, time.Minute, func(op outbox.Op, _ []gateway.UndoResult) {
				require.Equal(t, outbox.Failed, op.State, "nothing else was sent")
			})
		})
	}
}

// TestField3_OutboxB3ATransactionRefIsOneOperations: a gateway gave a capture, or a refund, the answer to
// the one before it on the same payment. It was DONE under the other's transactionRef, and nothing of it
// had been asked of the bank. An answer whose transactionRef this journal has under another operation is
// that one's (law II, S0 2.1): it is asked again under the same Key. The kind: each operation on a
// payment, and a service that does not honour Keys, where a reading decides.
func TestField3_OutboxB3ATransactionRefIsOneOperations(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, s *shop, id string, amount int32) (payments.Done, error){
		"capture": func(t *testing.T, s *shop, id string, n int32) (payments.Done, error) {
			return s.pay.Capture(t.Context(), "", id, payments.CaptureRequest{Amount: some(n)})
		},
		"refund": func(t *testing.T, s *shop, id string, n int32) (payments.Done, error) {
			return s.pay.Refund(t.Context(), "", id, payments.RefundRequest{Amount: some(n)})
		},
	} {
		for _, keyless := range []bool{false, true} {
			t.Run(fmt.Sprint(name, keyless), func(t *testing.T) {
				o := gateway.Options{}
				if keyless {
					o.Keyless = []string{gateway.Payments}
				}
				inShop(t, o, func(t *testing.T, s *shop) {
					does := map[string]string{"capture": payments.ProcessAuthorize, "refund": payments.ProcessSale}[name]
					made, err := s.pay.Create(t.Context(), "", moto(does, 1000))
					require.NoError(t, err)
					var kept *http.Response
					var text []byte
					slips := false
					s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
						if r.Method == http.MethodPost && slips { // its own request never arrives
							slips = false
							return &http.Response{StatusCode: kept.StatusCode, Header: kept.Header, ContentLength: int64(len(text)), Body: io.NopCloser(bytes.NewReader(text))}, nil
						}
						resp, err := answer()
						if err != nil || r.Method == http.MethodGet || kept != nil {
							return resp, err
						}
						kept = resp
						kept.Header.Del(wire.KeyHeader) // a service that names no Key in its answers
						text, err = io.ReadAll(resp.Body)
						resp.Body = io.NopCloser(bytes.NewReader(text))
						return resp, err
					})
					first, err := do(t, s, made.PaymentID, 300)
					require.NoError(t, err)
					require.Nil(t, first.Operation)
					slips = true
					second, err := do(t, s, made.PaymentID, 300)
					require.NoError(t, err)
					require.NotNil(t, second.Operation, "it is not done: %+v", second)
					s.pass(5 * time.Minute)
					require.Equal(t, outbox.Done, s.op(second.Operation.Key).State, s.op(second.Operation.Key).Reason)
					refs := map[string]bool{}
					for _, op := range s.ops() {
						require.False(t, refs[gateway.ReplyOf(op)], "two operations with one answer")
						refs[gateway.ReplyOf(op)] = true
					}
					p, err := s.pay.Read(t.Context(), made.PaymentID)
					require.NoError(t, err)
					require.EqualValues(t, 600, map[string]int32{"capture": p.Summary.CapturedAmount, "refund": p.Summary.RefundedAmount}[name], "each once")
				})
			})
		}
	}
}
