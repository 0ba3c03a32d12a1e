package gateway_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// stored looks for texts in everything the store has written.
func (s *shop) stored(words ...string) (found []string) {
	s.t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(s.path + suffix)
		if err != nil && suffix != "" {
			continue
		}
		require.NoError(s.t, err)
		for _, w := range words {
			if bytes.Contains(data, []byte(w)) {
				found = append(found, w)
			}
		}
	}
	return found
}

func limits() gateway.Limits {
	euro := func(most money.Minor) func(string) (money.Minor, bool) {
		return func(currency string) (money.Minor, bool) { return most, currency == "EUR" }
	}
	return gateway.Limits{Count: 3, Amount: euro(1000), Total: euro(2500)}
}

// What exceeds a limit is not stored: 503 names the limit. With the backend there it passes.
func TestLimits(t *testing.T) {
	inShop(t, gateway.Options{Limits: limits()}, func(t *testing.T, s *shop) {
		refused := func(word string, req payments.CreateRequest) {
			t.Helper()
			before := len(s.ops())
			_, err := s.pay.Create(t.Context(), "", req)
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, word)
			require.Len(t, s.ops(), before, "nothing is stored")
		}
		taken := func(amount int32) payments.Created {
			t.Helper()
			c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, amount))
			require.NoError(t, err)
			return c
		}
		require.Nil(t, taken(5000).Operation, "the backend decides while it is there")
		s.cut()
		first := taken(1000)
		require.NotNil(t, first.Operation)
		refused("max_amount", moto(payments.ProcessSale, 1001))
		dollars := moto(payments.ProcessSale, 1)
		dollars.CurrencyCode = "USD"
		refused("max_amount", dollars)
		require.NotNil(t, taken(1000).Operation)
		refused("max_total", moto(payments.ProcessSale, 501))
		require.NotNil(t, taken(500).Operation)
		refused("max_count", moto(payments.ProcessSale, 1))
		_, err := s.pay.Cancel(t.Context(), "", first.PaymentID, payments.CancelRequest{})
		require.ErrorContains(t, err, "max_count", "operations count, whatever their amount")
		s.mend()
		s.pass(time.Minute)
		for _, op := range s.ops() {
			require.Equal(t, outbox.Done, op.State)
		}
		s.cut()
		s.pass(time.Second)
		require.NotNil(t, taken(1000).Operation, "what is at its end counts no more")
	})
}

// An operation of an unknown amount is not stored; on a payment made here the amount is known.
func TestUnknownAmount(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		made, err := s.backend.Payments().Create(t.Context(), "", moto(payments.ProcessAuthorize, 700))
		require.NoError(t, err)
		s.cut()
		_, err = s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1)) // so that it is known that nobody answers
		require.NoError(t, err)
		_, err = s.pay.Capture(t.Context(), "", made.PaymentID, payments.CaptureRequest{})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.ErrorContains(t, err, "amount")
		d, err := s.pay.Capture(t.Context(), "", made.PaymentID, payments.CaptureRequest{Amount: some(700)})
		require.NoError(t, err)
		require.NotNil(t, d.Operation)
	})
}

// A request with a validation code gets its final answer or 503, and the code is written nowhere.
func TestValidationCodeIsNeverStored(t *testing.T) {
	const code = "8317"
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		req := moto(payments.ProcessSale, 1000)
		req.CardDetails.ValidationCode = code
		var bodies []string
		s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodPost {
				body, err := r.GetBody()
				require.NoError(t, err)
				var b bytes.Buffer
				_, err = b.ReadFrom(body)
				require.NoError(t, err)
				bodies = append(bodies, b.String())
			}
			return answer()
		})
		c, err := s.pay.Create(t.Context(), "k1", req)
		require.NoError(t, err)
		require.Nil(t, c.Operation)
		require.Contains(t, bodies[0], code, "it is sent")

		// Lost on the way back: nobody knows, and the request cannot be made again from what is stored.
		s.cable.set(false, lost)
		_, err = s.pay.Create(t.Context(), "k2", req)
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
		ops := s.ops()
		s.pass(time.Hour)
		doubtful := s.op(ops[1].Key)
		require.Equal(t, outbox.Doubt, doubtful.State, "visible, and not sent without its code")
		require.Contains(t, string(doubtful.Payload), visa, "sealed")
		require.NotContains(t, string(doubtful.Payload), code, "not sealed either")
		s.cable.set(false, nil)
		again, err := s.pay.Create(t.Context(), "k2", req)
		require.NoError(t, err)
		require.Nil(t, again.Operation)
		require.Equal(t, outbox.Done, s.op(ops[1].Key).State)
		keys := map[string]bool{}
		for _, w := range s.cable.writes()[1:] {
			keys[w.key] = true
		}
		require.Len(t, keys, 1, "however often, under one Key")

		s.cut()
		_, err = s.pay.Create(t.Context(), "k3", req)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		_, err = s.pay.Create(t.Context(), "k3", req)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "nobody answers: at once")
		_, err = s.tok.Create(t.Context(), "", tokens.CreateRequest{CardDetails: &tokens.CardDetails{
			PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12, ValidationCode: code}})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.Empty(t, s.stored(code, visa))
		sent := len(s.cable.writes())
		s.mend()
		s.pass(time.Hour)
		require.Len(t, s.cable.writes(), sent, "what its caller was told was not sent is never sent")
		c, err = s.pay.Create(t.Context(), "k3", req)
		require.NoError(t, err, "the key was not used up")
		require.Nil(t, c.Operation)
	})
}

// That the backend is away is known a moment before the attempt that showed it is recorded. A caller who looks in between waits for that.
func TestAwayBeforeItIsRecorded(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		type asking struct{}
		away, record := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(away) })
		s.db.stand(func(ctx context.Context, write func() error) error {
			if ctx.Value(asking{}) == nil { // the sender
				if s.box.Down(gateway.Payments) {
					once()
					<-record
				}
				return write()
			}
			err := write()
			<-away
			return err
		})
		go func() {
			<-away
			synctest.Wait()
			close(record)
		}()
		s.cut()
		req := moto(payments.ProcessSale, 1000)
		req.CardDetails.ValidationCode = "8317"
		_, err := s.pay.Create(context.WithValue(t.Context(), asking{}, true), "k", req)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, "nothing was sent")
		require.Equal(t, outbox.Expired, s.ops()[0].State)
	})
}

// What was given up before it left was not declined: the report counts it as never sent, and what was asked for on it is refused.
func TestWithdrawnIsNotDeclined(t *testing.T) {
	inShop(t, gateway.Options{Limits: limits(), Patience: 10 * time.Second}, func(t *testing.T, s *shop) {
		s.cable.set(true, nil)
		_, err := s.pay.Create(t.Context(), "k", moto(payments.ProcessAuthorize, 9900)) // that nobody answers is not known yet
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, "nothing was sent")
		ops := s.ops()
		require.Len(t, ops, 1)
		require.Equal(t, outbox.Expired, ops[0].State)
		require.NotContains(t, ops[0].Reason, "too old")
		_, err = s.pay.Capture(t.Context(), "", "L"+string(ops[0].Key), payments.CaptureRequest{Amount: some(1)})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "it was never made")
		require.NoError(t, s.db.Read(t.Context(), func(r store.Reader) error {
			lines, err := outbox.Report(r)
			require.Len(t, lines, 1)
			require.Equal(t, outbox.Expired, lines[0].State)
			return err
		}))
		s.mend()
		s.pass(time.Minute)
		require.Empty(t, s.cable.writes())
		c, err := s.pay.Create(t.Context(), "k", moto(payments.ProcessAuthorize, 9900))
		require.NoError(t, err, "the key was not used up")
		require.Nil(t, c.Operation)
	})
}

// A request that may not be stored and that nobody waits for after a restart is not sent, and was not declined.
func TestNotStoredIsNotSentAfterARestart(t *testing.T) {
	inShop(t, gateway.Options{Limits: limits()}, func(t *testing.T, s *shop) {
		s.cancel() // nobody sends, so that it waits in the store
		require.NoError(t, <-s.done)
		require.NoError(t, <-s.done)
		go func() { _, _ = s.pay.Create(context.WithoutCancel(t.Context()), "", moto(payments.ProcessSale, 99_00)) }() // judged by what is sent
		s.pass(time.Second)
		ops := s.ops()
		require.Len(t, ops, 1)
		require.Equal(t, outbox.Pending, ops[0].State)
		require.NoError(t, s.db.Close())
		s.pass(time.Minute) // the caller is gone with the old run, and could not take it back
		s.start()
		s.pass(time.Hour)
		op := s.op(ops[0].Key)
		require.Equal(t, outbox.Expired, op.State, op.Reason)
		require.Equal(t, 1, op.Attempts, "the sender gave it up")
		require.Empty(t, s.cable.writes())
	})
}

// card_data = refuse stores no card number at all; otherwise it lies sealed, and only until the end.
func TestCardNumbers(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		inShop(t, gateway.Options{RefuseCards: refuse}, func(t *testing.T, s *shop) {
			c, err := s.pay.Create(t.Context(), wire.Key(visa), moto(payments.ProcessSale, 1000))
			require.NoError(t, err, "a card number for a key")
			require.Nil(t, c.Operation)
			s.cut()
			numbered := moto(payments.ProcessSale, 1000)
			numbered.PaymentNumber = visa
			c, err = s.pay.Create(t.Context(), "", numbered)
			if refuse {
				require.Equal(t, wire.Unavailable, wire.CodeOf(err))
				require.ErrorContains(t, err, "card_data")
				_, err = s.tok.Create(t.Context(), "", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
				require.ErrorContains(t, err, "card_data")
				hosted := payments.CreateRequest{Type: payments.ProviderHosted, Amount: 5, CurrencyCode: "EUR"}
				_, err = s.pay.Create(t.Context(), "", hosted)
				require.NoError(t, err, "what has no card is stored")
				require.Empty(t, s.stored(visa))
				return
			}
			require.NoError(t, err)
			require.Contains(t, string(s.op(c.Operation.Key).Payload), visa)
			_, err = s.pay.Capture(t.Context(), "", visa, payments.CaptureRequest{Amount: some(1)})
			require.NoError(t, err, "a card number for an id")
			apart := []string{visa}
			for _, between := range []string{" ", "-", "+", "%20", "%2D", "%2520"} {
				id := strings.Join([]string{"4111", "1111", "1111", "1111"}, between)
				_, err = s.pay.Capture(t.Context(), wire.Key(strings.ReplaceAll(id, " ", "")), id, payments.CaptureRequest{Amount: some(1)})
				require.NoError(t, err, "its digits apart")
				apart = append(apart, id, url.PathEscape(id))
			}
			require.Empty(t, s.stored(apart...))
			s.mend()
			s.pass(time.Minute)
			op := s.op(c.Operation.Key)
			require.Equal(t, outbox.Done, op.State)
			require.Empty(t, op.Payload, "its key is destroyed")
			require.NotContains(t, string(op.Result), visa[6:12])
			require.Empty(t, s.stored(apart...))
		})
	}
}

// Nothing is stored for a service that never answered as itself. The proof is kept, and is of one address.
func TestProvenOnce(t *testing.T) {
	for name, portal := range map[string]mode{
		"nobody": nil,
		"somebody else": func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return &http.Response{StatusCode: 404, Body: http.NoBody, Header: http.Header{"Content-Type": {"text/html"}}}, nil
		},
		"without credentials": func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return &http.Response{StatusCode: 401, Body: http.NoBody, Header: http.Header{}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{Endpoints: map[string]string{gateway.Payments: "https://a"}}, func(t *testing.T, s *shop) {
				s.stop()
				s.opts.Endpoints = map[string]string{gateway.Payments: "https://b"}
				s.cable.set(portal == nil, portal)
				s.start()
				_, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
				require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
				says := "[upstream] payments"
				if name == "without credentials" {
					says = "[upstream.auth] bearer"
				}
				require.ErrorContains(t, err, says)
				require.Empty(t, s.ops())

				s.stop()
				s.opts.Endpoints = map[string]string{gateway.Payments: "https://a"}
				s.start()
				c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
				require.NoError(t, err, "this one was proven before")
				require.NotNil(t, c.Operation)
			})
		})
	}
}

// A service whose address the operator has signed for is stored for before it has answered once, as long as it cannot be reached; one that
// refuses the terminal is not, and neither is any other service.
func TestTheOperatorVouches(t *testing.T) {
	inShop(t, gateway.Options{Endpoints: map[string]string{gateway.Payments: "https://a"}}, func(t *testing.T, s *shop) {
		s.stop()
		s.opts.Endpoints = map[string]string{gateway.Payments: "https://b", gateway.Tokens: "https://b"}
		s.opts.Vouched = []string{gateway.Payments}
		s.cable.set(false, func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
			return &http.Response{StatusCode: 401, Body: http.NoBody, Header: http.Header{}}, nil
		})
		s.start()
		_, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.ErrorContains(t, err, "[upstream.auth] bearer")
		require.Empty(t, s.ops())
		s.stop()
		s.cut()
		s.start()
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		require.NotNil(t, c.Operation)
		_, err = s.tok.Create(t.Context(), "", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2099, ExpiryMonth: 12}})
		require.ErrorContains(t, err, "has never answered this terminal")
		require.Len(t, s.ops(), 1)
		s.mend()
		s.pass(time.Minute)
		require.Equal(t, outbox.Done, s.op(c.Operation.Key).State)
	})
}

// A client's key is one operation: for this client, route and body, by whatever id of the payment.
func TestCallersKey(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		const key = wire.Key("7")
		req := moto(payments.ProcessAuthorize, 1000)
		c, err := s.pay.Create(t.Context(), key, req)
		require.NoError(t, err)
		again, err := s.pay.Create(t.Context(), key, req)
		require.NoError(t, err)
		require.Equal(t, c, again, "the current state")
		other := req
		other.Amount++
		_, err = s.pay.Create(t.Context(), key, other)
		require.Equal(t, wire.KeyReused, wire.CodeOf(err))
		kiosk, err := s.pay.Create(wire.WithClient(t.Context(), "kiosk"), key, other)
		require.NoError(t, err, "another client's keys are its own")
		require.NotEqual(t, c.PaymentID, kiosk.PaymentID)
		d, err := s.pay.Capture(t.Context(), key, c.PaymentID, payments.CaptureRequest{Amount: some(10)})
		require.NoError(t, err, "another route")
		_, err = s.pay.Capture(t.Context(), key, kiosk.PaymentID, payments.CaptureRequest{Amount: some(10)})
		require.NoError(t, err, "another payment")
		_, err = s.pay.Capture(t.Context(), key, c.PaymentID, payments.CaptureRequest{Amount: some(11)})
		require.Equal(t, wire.KeyReused, wire.CodeOf(err))
		require.Len(t, s.ops(), 4)
		s.mend()
		s.pass(time.Minute)
		made, err := s.pay.Create(t.Context(), key, req)
		require.NoError(t, err)
		for _, id := range []string{c.PaymentID, made.PaymentID} {
			frozen, err := s.pay.Capture(t.Context(), key, id, payments.CaptureRequest{Amount: some(10)})
			require.NoError(t, err)
			require.Nil(t, frozen.Operation)
			require.NotEqual(t, d.TransactionRef, frozen.TransactionRef, "the backend's")
		}
		require.Len(t, s.ops(), 4, "one capture, whichever id names the payment")
		s.stop()
		s.start()
		s.cut()
		after, err := s.pay.Create(t.Context(), key, req)
		require.NoError(t, err)
		require.Equal(t, made, after, "frozen, over a restart and without a network")
		_, err = s.pay.Create(t.Context(), "a b", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
	})
}

// What breaks a rule of the contract is refused now, and never stored.
func TestBadInputIsNeverStored(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		bad := moto(payments.ProcessSale, -1)
		_, err := s.pay.Create(t.Context(), "", bad)
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		_, err = s.pay.Capture(t.Context(), "", strings.Repeat("x", 200), payments.CaptureRequest{})
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		_, err = s.pay.Refund(t.Context(), "", "1", payments.RefundRequest{Amount: some(0)})
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		_, err = s.tok.Verify(t.Context(), "", "a\x00b")
		require.Equal(t, wire.Invalid, wire.CodeOf(err))
		require.Empty(t, s.ops())
	})
}

// A service that is switched off is answered now or not at all; what was stored for it before is sent, and local ids stay good.
func TestSwitchedOff(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		s.stop()
		s.opts.Unstored = []string{gateway.Payments}
		s.start()
		_, err = s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.ErrorContains(t, err, "[offline] services")
		tok, err := s.tok.CreateRecurring(t.Context(), "", tokens.RecurringRequest{})
		require.NoError(t, err)
		require.NotNil(t, tok.Operation, "the other one is stored")
		s.mend()
		s.pass(time.Minute)
		require.Equal(t, outbox.Done, s.op(c.Operation.Key).State)
		d, err := s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err)
		require.Nil(t, d.Operation)
	})
}

// full is a store that takes nothing.
type full struct{ store.DB }

func (full) Write(context.Context, func(store.Tx) error) error { return store.ErrFull }

// Nothing leaves before it is stored.
func TestNothingIsSentBeforeItIsStored(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		o := s.opts
		o.DB = full{s.db}
		o.Payments = &payments.Client{BaseURL: "http://backend.test", Doer: s.cable}
		front := gateway.NewFront(o)
		front.Attach(s.box)
		_, err := front.Payments().Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		s.pass(time.Minute)
		require.Empty(t, s.cable.writes())
		require.Empty(t, s.ops())
	})
}
