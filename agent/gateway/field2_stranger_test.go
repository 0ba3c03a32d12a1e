package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/backend"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// services are what a terminal writes to.
type services struct {
	pay   payments.Service
	tok   tokens.Service
	links paylinks.Links
	txns  paylinks.Transactions
}

// buyer is who writes: this terminal, or another one of the same service.
type buyer struct {
	services
	amount int32
	s      *shop
}

// gate is a write of the gateway's table, and what shows whose its answer is where that names no Key.
type gate struct {
	names string // what the answer names of ours
	reads int    // the readings where it names nothing of ours
	blind bool   // nothing shows it: only the answer's Key does
	makes func(t *testing.T, b buyer) string
	write func(t *testing.T, b buyer, id string) (got string, op *wire.Pending)
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// gates are all of them but the hosted builds, which are not stored: their answer names nothing of ours, nor does a reading before the
// customer has paid, so that the Key alone tells (schemes/wire).
func gates() map[string]gate {
	pay := func(processing string) func(t *testing.T, b buyer) string {
		return func(t *testing.T, b buyer) string {
			c, err := b.pay.Create(t.Context(), wire.NewKey(), moto(processing, b.amount))
			require.NoError(t, err)
			return c.PaymentID
		}
	}
	token := func(t *testing.T, b buyer) string {
		c, err := b.tok.Create(t.Context(), wire.NewKey(), tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
		require.NoError(t, err)
		return c.TokenizationID
	}
	paid := func(change ...func(*paylinks.CreateRequest)) func(t *testing.T, b buyer) string {
		return func(t *testing.T, b buyer) string {
			req := order(change...)
			c, err := b.links.Create(t.Context(), wire.NewKey(), req)
			require.NoError(t, err)
			b.s.customer(c.ID)
			return digits(b.s.txn(req.ReferenceID).ID)
		}
	}
	on := func(makes func(t *testing.T, b buyer) string, do func(ctx context.Context, b buyer, key wire.Key, id string) (payments.Done, error)) gate {
		return gate{names: "the payment", makes: makes, write: func(t *testing.T, b buyer, id string) (string, *wire.Pending) {
			d, err := do(t.Context(), b, wire.NewKey(), id)
			require.NoError(t, err)
			return d.PaymentID, d.Operation
		}}
	}
	collect := func(makes func(t *testing.T, b buyer) string, do func(ctx context.Context, b buyer, key wire.Key, id int64) (paylinks.Done, error)) gate {
		return gate{names: "the transaction", makes: makes, write: func(t *testing.T, b buyer, id string) (string, *wire.Pending) {
			n, err := strconv.ParseInt(id, 10, 64)
			require.NoError(t, err)
			d, err := do(t.Context(), b, wire.NewKey(), n)
			require.NoError(t, err)
			return digits(d.ID), d.Operation
		}}
	}
	none := func(*testing.T, buyer) string { return "" }
	return map[string]gate{
		"payments.create": {names: "nothing", reads: 1, makes: none, write: func(t *testing.T, b buyer, _ string) (string, *wire.Pending) {
			c, err := b.pay.Create(t.Context(), wire.NewKey(), moto(payments.ProcessSale, b.amount))
			require.NoError(t, err)
			return c.PaymentID, c.Operation
		}},
		"payments.authorize": on(pay(payments.ProcessVerify), func(ctx context.Context, b buyer, key wire.Key, id string) (payments.Done, error) {
			return b.pay.Authorize(ctx, key, id, payments.AuthorizeRequest{Amount: &b.amount})
		}),
		"payments.capture": on(pay(payments.ProcessAuthorize), func(ctx context.Context, b buyer, key wire.Key, id string) (payments.Done, error) {
			return b.pay.Capture(ctx, key, id, payments.CaptureRequest{Amount: &b.amount})
		}),
		"payments.cancel": on(pay(payments.ProcessAuthorize), func(ctx context.Context, b buyer, key wire.Key, id string) (payments.Done, error) {
			return b.pay.Cancel(ctx, key, id, payments.CancelRequest{})
		}),
		"payments.refund": on(pay(payments.ProcessSale), func(ctx context.Context, b buyer, key wire.Key, id string) (payments.Done, error) {
			return b.pay.Refund(ctx, key, id, payments.RefundRequest{Amount: some(5)})
		}),
		"tokens.create": {names: "nothing", blind: true, makes: none, write: func(t *testing.T, b buyer, _ string) (string, *wire.Pending) {
			c, err := b.tok.Create(t.Context(), wire.NewKey(), tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
			require.NoError(t, err)
			return c.TokenizationID, c.Operation
		}},
		"tokens.recurring": {names: "nothing", blind: true, makes: none, write: func(t *testing.T, b buyer, _ string) (string, *wire.Pending) {
			c, err := b.tok.CreateRecurring(t.Context(), wire.NewKey(), tokens.RecurringRequest{TokenSecret: wire.Secret(fmt.Sprint("secret ", b.amount))})
			require.NoError(t, err)
			return c.TokenizationID, c.Operation
		}},
		"tokens.verify": {names: "the tokenization", makes: token, write: func(t *testing.T, b buyer, id string) (string, *wire.Pending) {
			c, err := b.tok.Verify(t.Context(), wire.NewKey(), id)
			require.NoError(t, err)
			return c.TokenizationID, c.Operation
		}},
		"paylinks.create": {names: "our referenceId", makes: none, write: func(t *testing.T, b buyer, _ string) (string, *wire.Pending) {
			c, err := b.links.Create(t.Context(), wire.NewKey(), order())
			require.NoError(t, err)
			return digits(c.ID), c.Operation
		}},
		"paylinks.delete": {names: "the link", makes: func(t *testing.T, b buyer) string {
			c, err := b.links.Create(t.Context(), wire.NewKey(), order())
			require.NoError(t, err)
			return digits(c.ID)
		}, write: func(t *testing.T, b buyer, id string) (string, *wire.Pending) {
			n, err := strconv.ParseInt(id, 10, 64)
			require.NoError(t, err)
			d, err := b.links.Delete(t.Context(), wire.NewKey(), n)
			require.NoError(t, err)
			return digits(d.ID), d.Operation
		}},
		"paylinks.charge": collect(paid(reserve), func(ctx context.Context, b buyer, key wire.Key, id int64) (paylinks.Done, error) {
			return b.txns.Charge(ctx, key, id, paylinks.ChargeRequest{})
		}),
		"paylinks.capture": collect(paid(reserve), func(ctx context.Context, b buyer, key wire.Key, id int64) (paylinks.Done, error) {
			return b.txns.Capture(ctx, key, id)
		}),
		"paylinks.refund": collect(paid(), func(ctx context.Context, b buyer, key wire.Key, id int64) (paylinks.Done, error) {
			return b.txns.Refund(ctx, key, id, paylinks.RefundRequest{Amount: cents(5)})
		}),
		"paylinks.cancel": collect(paid(reserve), func(ctx context.Context, b buyer, key wire.Key, id int64) (paylinks.Done, error) {
			d, err := b.txns.Delete(ctx, key, id)
			return paylinks.Done{ID: d.ID, Operation: d.Operation}, err
		}),
	}
}

// stranger is another terminal of the same backend, and the answer that it heard last.
type stranger struct {
	to     wire.Doer
	status int
	header http.Header
	body   []byte
}

// Do implements wire.Doer.
func (x *stranger) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+backend.DemoCredentials().Bearer.Reveal())
	resp, err := x.to.Do(r)
	if err != nil || r.Method == http.MethodGet {
		return resp, err
	}
	data, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	x.status, x.header, x.body = resp.StatusCode, resp.Header, data
	return x.answer(), err
}

func (x *stranger) answer() *http.Response {
	return &http.Response{StatusCode: x.status, Header: x.header.Clone(), Body: io.NopCloser(bytes.NewReader(x.body)), ContentLength: int64(len(x.body)), ProtoMajor: 1, ProtoMinor: 1}
}

// TestField2_M16AnAnswerOfAnotherTerminal: the answer to a write is another terminal's, about what this
// journal has never heard of. It made a payment of 99.00 done under the id of one of 1.00. Every write of
// the gateway: where the answer names our Key nothing more is asked, else what gates says.
func TestField2_M16AnAnswerOfAnotherTerminal(t *testing.T) {
	for name, g := range gates() {
		for _, keyed := range []bool{true, false} { // the backend's answers name the Key
			for _, arrives := range []bool{true, false} { // our request, too
				if arrives != keyed && name != "payments.create" { // the others' answers tell without the Key
					continue
				}
				t.Run(fmt.Sprintf("%s, names %s, and the key %v, arrived %v", name, g.names, keyed, arrives), func(t *testing.T) {
					t.Parallel()
					inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
						x := &stranger{to: s.cable.to}
						base, theirs := "http://backend.test", linkClient("http://backend.test", x)
						other := buyer{services{&payments.Client{BaseURL: base, Doer: x}, &tokens.Client{BaseURL: base, Doer: x}, theirs.Links(), theirs.Transactions()}, 100, s}
						ours := buyer{services{s.pay, s.tok, s.front.Links(), s.front.Transactions()}, 9900, s}
						their, own := g.makes(t, other), g.makes(t, ours)
						theirID, _ := g.write(t, other, their)

						var reads, armed atomic.Int32
						s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
							if r.Method == http.MethodGet {
								reads.Add(1)
								return answer()
							}
							swap := armed.CompareAndSwap(1, 0)
							resp, err := (*http.Response)(nil), error(nil)
							if !swap || arrives {
								resp, err = answer()
							}
							if swap {
								resp, err = x.answer(), nil
							}
							if resp != nil && !keyed {
								resp.Header.Del(wire.KeyHeader)
							}
							return resp, err
						})
						if !g.blind || keyed {
							armed.Store(1)
							_, op := g.write(t, ours, own)
							require.NotNil(t, op, "it is not done by another's answer")
							s.pass(10 * time.Minute)
							got := s.op(op.Key)
							require.Equal(t, outbox.Done, got.State, got.Reason)
							require.NotContains(t, gateway.ReplyOf(got), `"`+theirID+`"`)
							require.NotContains(t, gateway.ReplyOf(got), `:`+theirID+`,`)
							own = g.makes(t, ours)
						}
						reads.Store(0)
						id, op := g.write(t, ours, own)
						require.Nil(t, op)
						require.NotEqual(t, theirID, id)
						want := g.reads
						if keyed {
							want = 0
						}
						if !strings.HasPrefix(name, "paylinks.") || g.names == "our referenceId" { // a transaction is read before, to compare
							require.EqualValues(t, want, reads.Load(), "what is read where all goes well")
						}
					})
				})
			}
		}
	}
}

// A reading that fails, or is of something else, proves nothing; one that tells another amount, currency or
// number, or another card, is of another payment. Where the service honours no Keys, nothing is sent again.
func TestField2_M16APaymentIsReadWhereItsAnswerNamesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		was, is string // of the reading
		done    bool
	}{
		"as it is":         {``, ``, true},
		"without a number": {`"paymentNumber":"A1"`, `"paymentNumber":null`, true},
		"another amount":   {`"paymentAmount":9900`, `"paymentAmount":100`, false},
		"another currency": {`"currencyCode":"EUR"`, `"currencyCode":"SEK"`, false},
		"another number":   {`"paymentNumber":"A1"`, `"paymentNumber":"A2"`, false},
		"another card":     {`1111","expiryYear"`, `1112","expiryYear"`, false},
		"nothing":          {`{`, `nothing`, false},
	} {
		for _, keyless := range []bool{false, true} {
			t.Run(fmt.Sprint(name, keyless), func(t *testing.T) {
				t.Parallel()
				opts := gateway.Options{}
				if keyless {
					opts.Keyless = []string{gateway.Payments}
				}
				inShop(t, opts, func(t *testing.T, s *shop) {
					s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
						resp, err := answer()
						require.NoError(t, err)
						resp.Header.Del(wire.KeyHeader)
						if r.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
							data, err := io.ReadAll(resp.Body)
							require.NoError(t, err)
							text := string(data)
							if c.was != "" {
								require.Contains(t, text, c.was)
								text = strings.Replace(text, c.was, c.is, 1)
							}
							resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
						}
						return resp, err
					})
					made, err := s.pay.Create(t.Context(), wire.NewKey(), moto(payments.ProcessSale, 9900))
					require.NoError(t, err)
					if c.done {
						require.Nil(t, made.Operation)
						return
					}
					require.NotNil(t, made.Operation)
					s.pass(time.Minute)
					want := outbox.Sent
					if keyless {
						want = outbox.Doubt
						require.Len(t, s.cable.writes(), 1)
					}
					require.Equal(t, want, s.op(made.Operation.Key).State)
				})
			})
		}
	}
}
