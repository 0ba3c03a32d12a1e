package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/need"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

var errNoAnswer = &net.OpError{Op: "read", Err: context.DeadlineExceeded}

// page is an answer in the form of a service's own word.
func page(status int, text string) *http.Response {
	kind := "application/problem+json"
	if strings.Contains(text, `"message"`) {
		kind = "application/json"
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text))}
}

// TestField4_GatewayG3ARefusalBehindALostAttemptIsHeardAgain: the answer to a client's refund was lost, and
// another site, or what stands in the service's place while that is replaced, refused the repetition in the
// form of its own word. The client was told that the refund had failed, an alert said that it came to
// nothing, and the money had gone back; repeated under a new key it went twice. It is what
// TestField3_OutboxB1 says of the register's undos. A no behind an attempt that may have had its effect
// counts once nothing else was heard for the quiet time under the same Key, and "not found" of what the
// service has made for this journal is a person's (law V). The kind: each write whose Key is honoured or
// whose second effect moves no money, each refusal, an attempt without an answer and one without an end.
// A no to the first attempt ends it at once; a write that is read and compared was judged so already.
func TestField4_GatewayG3ARefusalBehindALostAttemptIsHeardAgain(t *testing.T) {
	type act = func(s *shop, id string) (*wire.Pending, error)
	on := func(processing string, do act) func(s *shop) (*wire.Pending, error) {
		return func(s *shop) (*wire.Pending, error) {
			made, err := s.pay.Create(s.t.Context(), "", moto(processing, 1000))
			require.NoError(s.t, err)
			s.cable.set(false, s.site)
			return do(s, made.PaymentID)
		}
	}
	writes := map[string]func(s *shop) (*wire.Pending, error){
		"create": func(s *shop) (*wire.Pending, error) {
			s.cable.set(false, s.site)
			c, err := s.pay.Create(s.t.Context(), "k", moto(payments.ProcessSale, 1000))
			return c.Operation, err
		},
		"token": func(s *shop) (*wire.Pending, error) {
			s.cable.set(false, s.site)
			c, err := s.tok.Create(s.t.Context(), "k", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
			return c.Operation, err
		},
		"authorize": func(s *shop) (*wire.Pending, error) {
			made, err := s.pay.Create(s.t.Context(), "", payments.CreateRequest{Type: payments.ProviderHosted, Amount: 1000, CurrencyCode: "EUR", Processing: payments.ProcessNone})
			require.NoError(s.t, err)
			s.cable.set(false, s.site)
			d, err := s.pay.Authorize(s.t.Context(), "k", made.PaymentID, payments.AuthorizeRequest{Amount: some(1000)})
			return d.Operation, err
		},
		"capture": on(payments.ProcessAuthorize, func(s *shop, id string) (*wire.Pending, error) {
			d, err := s.pay.Capture(s.t.Context(), "k", id, payments.CaptureRequest{Amount: some(300)})
			return d.Operation, err
		}),
		"cancel": on(payments.ProcessAuthorize, func(s *shop, id string) (*wire.Pending, error) {
			d, err := s.pay.Cancel(s.t.Context(), "k", id, payments.CancelRequest{})
			return d.Operation, err
		}),
		"refund": on(payments.ProcessSale, func(s *shop, id string) (*wire.Pending, error) {
			d, err := s.pay.Refund(s.t.Context(), "k", id, payments.RefundRequest{Amount: some(300)})
			return d.Operation, err
		}),
	}
	for name, write := range writes {
		makes := name == "create" || name == "token"
		for status, title := range map[int]string{400: "Bad Request", 404: "Not Found", 410: "Gone", 413: "Too large", 422: "Not in this state"} {
			if name != "refund" && status != 404 && status != 422 { // one code's way is every other's
				continue
			}
			for _, heals := range []bool{true, false} {
				for _, ends := range []bool{true, false} {
					others := 0 // which write, which code and which end do not know of each other: a short run varies one of them
					for _, usual := range []bool{name == "refund", status == http.StatusNotFound, ends} {
						if !usual {
							others++
						}
					}
					if others > need.Size(1, 3) {
						continue
					}
					t.Run(fmt.Sprint(name, " ", status, ", heals ", heals, ", ends ", ends), func(t *testing.T) {
						inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
							var lost, back atomic.Bool
							s.site = func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
								switch {
								case r.Method == http.MethodGet || back.Load():
									return answer()
								case !lost.Swap(true):
									resp, err := answer()
									if err == nil {
										err = resp.Body.Close()
									}
									require.NoError(t, err)
									if !ends { // the program ends here
										<-r.Context().Done()
									}
									return nil, errNoAnswer
								}
								return page(status, fmt.Sprintf(`{"type":"about:blank","title":%q,"status":%d}`, title, status)), nil
							}
							op, err := write(s)
							require.NoError(t, err)
							require.NotNil(t, op)
							if !ends {
								s.stop()
								s.start()
							}
							for range 20 {
								s.pass(time.Second)
								s.is(op.Key, outbox.Sent)
							}
							back.Store(heals)
							s.pass(2 * time.Minute)
							switch {
							case heals:
								s.is(op.Key, outbox.Done)
							case status == http.StatusNotFound && !makes:
								s.is(op.Key, outbox.Doubt)
								require.NoError(t, s.box.SendNow(t.Context(), op.Key))
								s.pass(time.Minute)
								s.is(op.Key, outbox.Doubt)
								back.Store(true)
								require.NoError(t, s.box.SendNow(t.Context(), op.Key))
								s.pass(time.Minute)
								s.is(op.Key, outbox.Done)
							default:
								s.is(op.Key, outbox.Failed)
								require.Contains(t, s.op(op.Key).Reason, title)
							}
						})
					})
				}
			}
		}
	}
}

// TestField4_GatewayG4AReadingThatLagsShowsNoEffectOfOurs: a client refunded a part twice, at a service that
// honours no Keys. The reading before the second refund lagged and did not show the first, the second was
// lost, and the next reading showed one refund more: the second was DONE, under the first one's
// transactionRef, and no money had moved. What is known to be another operation's is none of this one's
// (law II), whatever the first reading showed. The kind: each operation that is compared and that may come
// twice: capture and refund of a payment, and of a payment by link the refund by what the service tells, and
// by its words, which cannot tell. A charge or capture of a transaction that was collected before is in
// doubt likewise.
func TestField4_GatewayG4AReadingThatLagsShowsNoEffectOfOurs(t *testing.T) {
	type shopAct = func(s *shop) (*wire.Pending, error)
	payment := func(processing string, do func(s *shop, id string) (payments.Done, error)) func(s *shop) (string, shopAct, func() int64) {
		return func(s *shop) (string, shopAct, func() int64) {
			made, err := s.pay.Create(s.t.Context(), "", moto(processing, 1000))
			require.NoError(s.t, err)
			return made.PaymentID, func(s *shop) (*wire.Pending, error) { d, err := do(s, made.PaymentID); return d.Operation, err }, func() int64 {
				p, err := s.backend.Payments().Read(s.t.Context(), made.PaymentID)
				require.NoError(s.t, err)
				return int64(p.Summary.CapturedAmount)%1000 + int64(p.Summary.RefundedAmount)
			}
		}
	}
	for name, c := range map[string]struct {
		begin func(s *shop) (path string, act shopAct, moved func() int64)
		hide  string // what the service does not tell
		want  outbox.State
	}{
		"capture": {payment(payments.ProcessAuthorize, func(s *shop, id string) (payments.Done, error) {
			return s.pay.Capture(s.t.Context(), "", id, payments.CaptureRequest{Amount: some(300)})
		}), "", outbox.Done},
		"refund": {payment(payments.ProcessSale, func(s *shop, id string) (payments.Done, error) {
			return s.pay.Refund(s.t.Context(), "", id, payments.RefundRequest{Amount: some(300)})
		}), "", outbox.Done},
		"refund of a payment by link":         {refundOfALink, "", outbox.Done},
		"refund of a payment by link, untold": {refundOfALink, "refundedAmount", outbox.Doubt},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
				path, act, moved := c.begin(s)
				var kept []byte
				lags, arrives := false, true
				s.cable.set(false, without(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					if r.Method != http.MethodGet && !arrives {
						arrives = true
						return nil, errNoAnswer
					}
					resp, err := answer()
					if err != nil || r.Method != http.MethodGet || !strings.Contains(r.URL.Path, path) {
						return resp, err
					}
					text, err := io.ReadAll(resp.Body)
					if c.hide != "" {
						text = bytes.ReplaceAll(text, []byte(c.hide), []byte("untold"))
					}
					if kept == nil {
						kept = text
					}
					if lags {
						lags, text = false, kept
					}
					resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
					return resp, err
				}))
				first, err := act(s)
				require.NoError(t, err)
				require.Nil(t, first)
				lags, arrives = true, false
				second, err := act(s)
				require.NoError(t, err)
				require.NotNil(t, second)
				s.pass(5 * time.Minute)
				require.False(t, lags)
				s.is(second.Key, c.want)
				if c.want == outbox.Done {
					require.EqualValues(t, 600, moved(), "each once")
				}
				answers := map[string]bool{}
				for _, op := range s.ops() {
					if op.State == outbox.Done && op.Kind != gateway.KindTxnRefund { // that answers with the transaction
						require.False(t, answers[gateway.ReplyOf(op)], "two operations with one answer")
						answers[gateway.ReplyOf(op)] = true
					}
				}
			})
		})
	}
}

// refundOfALink begins with a payment by link, of which parts are given back.
func refundOfALink(s *shop) (path string, act func(s *shop) (*wire.Pending, error), moved func() int64) {
	tx := s.paid()
	return fmt.Sprint("/Transaction/", tx.ID), func(s *shop) (*wire.Pending, error) {
			d, err := s.front.Transactions().Refund(s.t.Context(), "", tx.ID, paylinks.RefundRequest{Amount: cents(300)})
			return d.Operation, err
		}, func() int64 {
			now, err := s.backend.Transactions().Read(s.t.Context(), tx.ID)
			require.NoError(s.t, err)
			return *now.Invoice.RefundedAmount
		}
}

// TestField4_GatewayG5WhatIsNotFoundMayStandYet: a client deleted a link, or gave a reservation up, and the
// request was lost; a site whose data lag did not find it. It was DONE, the link could be paid, and the
// customer's money stayed reserved. "Not found" is no proof before it was said for the quiet time, without
// another word between (law V). The kind: the deletion of a link, whose repetition is answered so; the
// cancellation of a link's reservation and of a payment's, which are read.
func TestField4_GatewayG5WhatIsNotFoundMayStandYet(t *testing.T) {
	for name, c := range map[string]struct {
		act   func(s *shop, path *string) (op *wire.Pending, lagging func() *http.Response, stands func() bool)
		reads bool // the reading lags, else the write
	}{
		"a link": {func(s *shop, path *string) (*wire.Pending, func() *http.Response, func() bool) {
			link, err := s.front.Links().Create(s.t.Context(), "", order())
			require.NoError(s.t, err)
			s.cable.set(false, s.site)
			d, err := s.front.Links().Delete(s.t.Context(), "k", link.ID)
			require.NoError(s.t, err)
			return d.Operation, func() *http.Response {
					return page(404, fmt.Sprintf(`{"status":"error","message":"An error occurred: No Invoice found with id %d"}`, link.ID))
				}, func() bool {
					_, err := s.backend.Links().Read(s.t.Context(), link.ID)
					return err == nil
				}
		}, false},
		"a reservation": {func(s *shop, path *string) (*wire.Pending, func() *http.Response, func() bool) {
			tx := s.paid(reserve)
			*path = fmt.Sprint("/Transaction/", tx.ID)
			s.cable.set(false, s.site)
			d, err := s.front.Transactions().Delete(s.t.Context(), "k", tx.ID)
			require.NoError(s.t, err)
			return d.Operation, func() *http.Response {
					return page(404, fmt.Sprintf(`{"status":"error","message":"An error occurred: No Transaction found with id %d"}`, tx.ID))
				}, func() bool {
					now, err := s.backend.Transactions().Read(s.t.Context(), tx.ID)
					require.NoError(s.t, err)
					return now.Status == paylinks.Reserved
				}
		}, true},
		"a payment's reservation": {func(s *shop, path *string) (*wire.Pending, func() *http.Response, func() bool) {
			made, err := s.pay.Create(s.t.Context(), "", moto(payments.ProcessAuthorize, 1000))
			require.NoError(s.t, err)
			*path = made.PaymentID
			s.cable.set(false, s.site)
			d, err := s.pay.Cancel(s.t.Context(), "k", made.PaymentID, payments.CancelRequest{})
			require.NoError(s.t, err)
			return d.Operation, func() *http.Response {
					return page(200, fmt.Sprintf(`{"paymentId":%q,"currencyCode":"EUR","summary":{"paymentAmount":1000},"extra":{"message":""}}`, made.PaymentID))
				}, func() bool {
					p, err := s.backend.Payments().Read(s.t.Context(), made.PaymentID)
					require.NoError(s.t, err)
					return p.Summary.AuthorizedAmount > 0
				}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
				sent, lagged, path := false, false, ""
				lagging := make(chan func() *http.Response, 1)
				s.site = without(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					read := r.Method == http.MethodGet
					switch {
					case !read && !sent:
						sent = true
						return nil, errNoAnswer
					case sent && read == c.reads && !lagged && strings.Contains(r.URL.Path, path):
						lagged = true
						return (<-lagging)(), nil
					}
					return answer()
				})
				op, page, stands := c.act(s, &path)
				lagging <- page
				require.NotNil(t, op)
				s.pass(10 * time.Minute)
				require.True(t, lagged)
				s.is(op.Key, outbox.Done)
				require.False(t, stands(), "done is gone")
			})
		})
	}
}

// TestField4_GatewayG7AServicesIdMayBeginWithL: at a service whose own ids begin with an L, a gateway gave the
// refund of one payment the answer to that of another. It was DONE, and nothing had gone back: an id with
// that letter counted as one of a store-and-forward service, which may be answered with another. Those are
// an L and a Key. The kind: what is done to a payment, what is read of one, and a stored card.
func TestField4_GatewayG7AServicesIdMayBeginWithL(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		var kept []byte
		slips := false
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			r.URL.Path = strings.Replace(r.URL.Path, "/payments/L", "/payments/", 1)
			if slips { // it does not arrive
				slips = false
				return page(200, string(kept)), nil
			}
			resp, err := answer()
			if err != nil {
				return resp, err
			}
			text, err := io.ReadAll(resp.Body)
			if !bytes.Contains(text, []byte(`"paymentId":"L`)) {
				text = bytes.Replace(text, []byte(`"paymentId":"`), []byte(`"paymentId":"L`), 1)
			}
			kept = text
			resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			return resp, err
		})
		var ids []string
		for range 2 {
			made, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
			require.NoError(t, err)
			require.Nil(t, made.Operation)
			ids = append(ids, made.PaymentID)
		}
		one, err := s.pay.Refund(t.Context(), "", ids[0], payments.RefundRequest{Amount: some(300)})
		require.NoError(t, err)
		require.Nil(t, one.Operation)
		slips = true
		two, err := s.pay.Refund(t.Context(), "", ids[1], payments.RefundRequest{Amount: some(300)})
		require.NoError(t, err)
		require.NotNil(t, two.Operation, "it is not done: %+v", two)
		s.pass(time.Minute)
		s.is(two.Operation.Key, outbox.Done)
		for _, id := range ids {
			p, err := s.backend.Payments().Read(t.Context(), id[1:])
			require.NoError(t, err)
			require.EqualValues(t, 300, p.Summary.RefundedAmount)
		}
	})
	c := &tokens.Client{BaseURL: "http://backend.test", Doer: answering(`{"tokenizationId":"L2"}`)}
	_, err := c.Verify(t.Context(), wire.NewKey(), "L1")
	require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
	p := &payments.Client{BaseURL: "http://backend.test", Doer: answering(`{"paymentId":"L2","currencyCode":"EUR","summary":{"paymentAmount":1000}}`)}
	_, err = p.Read(t.Context(), "L1")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
	_, err = p.Read(t.Context(), "L"+string(wire.NewKey()))
	require.NoError(t, err, "a store-and-forward service names the backend's id")
}

// answering is a service that says one thing.
type answering string

// Do implements wire.Doer.
func (a answering) Do(*http.Request) (*http.Response, error) { return page(200, string(a)), nil }

// TestField4_GatewayG12ASuccessThatNamesNothingIsRead: at a service that honours no Keys and names none, a
// gateway gave the second refund of a transaction the answer to the first: the ids in it are those of the
// transaction. It was DONE, and nothing had gone back. An answer that carries neither our Key nor our
// reference makes nothing DONE before a reading has shown an effect (law II). Where none is shown it is read
// on, and in doubt after the quiet time: sent again it could be a second one, if the data lag. The kind: what
// is compared on a transaction, as on a payment where Keys are not honoured; an answer that is its own and
// whose reading lags.
func TestField4_GatewayG12ASuccessThatNamesNothingIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		arrives bool // and the first reading behind it lags
		want    outbox.State
		given   int64
	}{
		"another's":    {false, outbox.Doubt, 300},
		"it lags only": {true, outbox.Done, 600},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				path, act, moved := refundOfALink(s)
				var told, shown []byte
				second, sent := false, false
				s.cable.set(false, without(func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					write := r.Method != http.MethodGet
					if write && second && !c.arrives {
						sent = true
						return page(200, string(told)), nil
					}
					resp, err := answer()
					if err != nil || !strings.Contains(r.URL.Path, path) {
						return resp, err
					}
					text, err := io.ReadAll(resp.Body)
					switch {
					case write && !second:
						told = text
					case write:
						sent = true
					case second && sent && c.arrives:
						text, sent = shown, false
					default:
						shown = text
					}
					resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
					return resp, err
				}))
				op, err := act(s)
				require.NoError(t, err)
				require.Nil(t, op)
				second = true
				op, err = act(s)
				require.NoError(t, err)
				require.NotNil(t, op, "it is not done yet")
				s.pass(2 * time.Minute)
				s.is(op.Key, c.want)
				require.Equal(t, c.given, moved())
			})
		})
	}
}

// TestAReservationIsGivenUpTwice: what is cancelled stays so, and the service answers the second request as the first. No reading shows
// an effect of the second one, which is done all the same: it asked for what is so.
func TestAReservationIsGivenUpTwice(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		tx := s.paid(reserve)
		s.cable.set(false, without(func(_ *http.Request, answer func() (*http.Response, error)) (*http.Response, error) { return answer() }))
		for _, key := range []wire.Key{"k1", "k2"} {
			d, err := s.front.Transactions().Delete(t.Context(), key, tx.ID)
			require.NoError(t, err)
			s.pass(5 * time.Minute)
			if d.Operation != nil {
				s.is(d.Operation.Key, outbox.Done)
			}
		}
		for _, op := range s.ops() {
			require.Equal(t, outbox.Done, op.State, op.Reason)
		}
	})
}
