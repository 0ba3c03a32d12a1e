package gateway_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/cross/need"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

func keysOf(list []sent) (keys []string) {
	for _, w := range list {
		keys = append(keys, w.key)
	}
	return keys
}

// However often an answer is lost, it is one operation with one Key, one body and one effect, over a restart too.
func TestOneKeyForEver(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cable.set(false, lost)
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		require.NotNil(t, c.Operation)
		r, err := s.pay.Refund(t.Context(), "", c.PaymentID, payments.RefundRequest{Amount: some(100)})
		require.NoError(t, err)
		s.pass(time.Minute)
		require.Equal(t, outbox.Sent, s.op(c.Operation.Key).State)
		s.stop()
		s.start()
		s.pass(time.Minute)
		keys := keysOf(s.cable.writes())
		require.Greater(t, len(keys), 3)
		for _, k := range keys {
			require.Equal(t, string(c.Operation.Key), k, "the refund waits for its payment")
		}
		s.mend()
		s.pass(time.Minute)
		require.Equal(t, outbox.Done, s.op(c.Operation.Key).State)
		require.Equal(t, outbox.Done, s.op(r.Operation.Key).State)
		p, err := s.pay.Read(t.Context(), c.PaymentID)
		require.NoError(t, err)
		require.EqualValues(t, 100, p.Summary.RefundedAmount)
		entries, err := s.backend.Books(t.Context())
		require.NoError(t, err)
		made := map[string]bool{}
		for _, e := range entries {
			made[e.Reference] = true
		}
		require.Len(t, made, 1, "one payment")
	})
}

// What nobody can tell the end of never fails an operation: 401, 403, 404 without the service's own body, 408, 425, 429, 5xx.
func TestNothingFailsWithoutTheServicesWord(t *testing.T) {
	for _, status := range []int{401, 403, 404, 408, 425, 429, 500, 502, 503, 504} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/html"}}, Body: http.NoBody}, nil
				})
				c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
				require.NoError(t, err)
				require.NotNil(t, c.Operation)
				s.pass(time.Duration(need.Size(20, 120)) * time.Minute)
				op := s.op(c.Operation.Key)
				require.Contains(t, []outbox.State{outbox.Pending, outbox.Sent}, op.State)
				s.mend()
				s.pass(10 * time.Minute)
				require.Equal(t, outbox.Done, s.op(c.Operation.Key).State)
			})
		})
	}
}

// A create that the backend refuses takes what was to follow along, visibly, and its local id says so.
func TestRefusedCreateFailsItsDependants(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		req := moto(payments.ProcessAuthorize, 1000)
		req.CardDetails.PAN = wire.NewPAN(declined)
		c, err := s.pay.Create(t.Context(), "c", req)
		require.NoError(t, err)
		d, err := s.pay.Capture(t.Context(), "d", c.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err)
		s.mend()
		s.pass(time.Minute)
		require.Equal(t, outbox.Failed, s.op(c.Operation.Key).State)
		require.Equal(t, outbox.Failed, s.op(d.Operation.Key).State)
		require.Len(t, s.cable.writes(), 1, "the capture was never sent")
		_, err = s.pay.Create(t.Context(), "c", req)
		require.Equal(t, wire.Conflict, wire.CodeOf(err))
		require.NotEmpty(t, wire.ReasonOf(err), "the backend's own reason")
		_, err = s.pay.Capture(t.Context(), "d", c.PaymentID, payments.CaptureRequest{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
		p, err := s.pay.Read(t.Context(), c.PaymentID)
		require.NoError(t, err, "readable by its id for ever")
		require.Equal(t, "failed", p.Operation.Status)
		require.Zero(t, p.Summary.AuthorizedAmount)
		_, err = s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{})
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "nothing is stored behind it")
		require.Len(t, s.ops(), 2)
	})
}

// What was never sent expires, with what depends on it, and is never sent afterwards.
func TestUnsentExpires(t *testing.T) {
	inShop(t, gateway.Options{MaxAge: 2 * time.Hour}, func(t *testing.T, s *shop) {
		s.cut()
		c, err := s.pay.Create(t.Context(), "c", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		d, err := s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err)
		s.pass(3 * time.Hour)
		require.Equal(t, outbox.Expired, s.op(c.Operation.Key).State)
		require.True(t, s.op(d.Operation.Key).State.Final())
		s.mend()
		s.pass(time.Hour)
		require.Empty(t, s.cable.writes())
		_, err = s.pay.Create(t.Context(), "c", moto(payments.ProcessAuthorize, 1000))
		require.ErrorContains(t, err, "expired")
	})
}

// Where the backend honours no Keys: a card payment whose answer was lost is in doubt, a page is made again.
func TestKeylessCreate(t *testing.T) {
	inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
		s.cable.set(false, lost)
		c, err := s.pay.Create(t.Context(), "c", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		require.NotNil(t, c.Operation)
		s.pass(time.Second)
		c, err = s.pay.Create(t.Context(), "c", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		require.Contains(t, c.Operation.Note, "in doubt")
		page, err := s.pay.Create(t.Context(), "", payments.CreateRequest{Type: payments.ProviderHosted, Amount: 100, CurrencyCode: "EUR", Processing: payments.ProcessSale})
		require.NoError(t, err)
		s.mend()
		s.pass(time.Hour)
		require.Equal(t, outbox.Doubt, s.op(c.Operation.Key).State)
		require.Equal(t, outbox.Done, s.op(page.Operation.Key).State)
		n := 0
		for _, k := range keysOf(s.cable.writes()) {
			if k == string(c.Operation.Key) {
				n++
			}
		}
		require.Equal(t, 1, n, "sent once")
	})
}

// keyless answers as a backend that knows no Keys would.
func keyless(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
	r.Header.Del(wire.KeyHeader)
	return answer()
}

// Where the backend honours no Keys, a capture is found out by reading: once is done, never is sent again, anything else is in
// doubt (MONEY C.2).
func TestMoneyC2_ReadAndCompare(t *testing.T) {
	gone := &net.OpError{Op: "read", Err: context.DeadlineExceeded}
	for name, c := range map[string]struct {
		first    func(s *shop, id string, answer func() (*http.Response, error)) // what the lost request does
		state    outbox.State
		captured int32
		sends    int
	}{
		"it had its effect":    {func(_ *shop, _ string, answer func() (*http.Response, error)) { _, _ = answer() }, outbox.Done, 300, 1},
		"it never arrived":     {func(*shop, string, func() (*http.Response, error)) {}, outbox.Done, 300, 2},
		"somebody else's came": {other(200), outbox.Doubt, 200, 1},
		"both came": {func(s *shop, id string, answer func() (*http.Response, error)) {
			_, _ = answer()
			other(300)(s, id, nil)
		}, outbox.Doubt, 600, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{Keyless: []string{gateway.Payments}}, func(t *testing.T, s *shop) {
				made, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
				require.NoError(t, err)
				require.Nil(t, made.Operation)
				first := true
				s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
					if r.Method == http.MethodPost && first {
						first = false
						r.Header.Del(wire.KeyHeader)
						c.first(s, made.PaymentID, answer)
						return nil, gone
					}
					return keyless(r, answer)
				})
				d, err := s.pay.Capture(t.Context(), "", made.PaymentID, payments.CaptureRequest{Amount: some(300)})
				require.NoError(t, err)
				s.pass(10 * time.Minute)
				op := s.op(d.Operation.Key)
				require.Equal(t, c.state, op.State, "%s", op.Reason)
				p, err := s.backend.Payments().Read(t.Context(), made.PaymentID)
				require.NoError(t, err)
				require.Equal(t, c.captured, p.Summary.CapturedAmount)
				sends := 0
				for _, w := range s.cable.writes() {
					if strings.HasSuffix(w.path, "/Capture") {
						sends++
					}
				}
				require.Equal(t, c.sends, sends)
				if c.state == outbox.Done {
					again := gateway.ReplyOf(op)
					require.Contains(t, again, p.Captures[0].TransactionRef)
				}
			})
		})
	}
}

// other is a capture that somebody else makes.
func other(amount int32) func(*shop, string, func() (*http.Response, error)) {
	return func(s *shop, id string, _ func() (*http.Response, error)) {
		_, err := s.backend.Payments().Capture(context.Background(), "", id, payments.CaptureRequest{Amount: &amount})
		require.NoError(s.t, err)
	}
}

// After the backend's memory of a Key nothing is sent again (MONEY C.3).
func TestMoneyC3_OldKeysAreInDoubt(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cable.set(false, lost)
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, 1000))
		require.NoError(t, err)
		s.pass(time.Minute)
		s.cut()
		s.pass(25 * time.Hour)
		sent := len(s.cable.writes())
		s.mend()
		s.pass(time.Hour)
		require.Equal(t, outbox.Doubt, s.op(c.Operation.Key).State)
		require.Len(t, s.cable.writes(), sent)
	})
}

// While the backend is away a payment is read as the terminal knows it.
func TestReadWithoutTheBackend(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		_, err = s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{Amount: some(600)})
		require.NoError(t, err)
		s.cut()
		r, err := s.pay.Refund(t.Context(), "", c.PaymentID, payments.RefundRequest{})
		require.NoError(t, err)
		require.EqualValues(t, 600, s.op(r.Operation.Key).AmountMin)
		p, err := s.pay.Read(t.Context(), c.PaymentID)
		require.NoError(t, err)
		require.EqualValues(t, 600, p.Summary.CapturedAmount)
		require.Zero(t, p.Summary.RefundedAmount, "it is not done")
		require.Len(t, p.Captures, 1)
		require.Equal(t, r.Operation.Key, p.Operation.Key)
		require.Contains(t, p.Operation.Note, "what the terminal knows")
		_, err = s.pay.Read(t.Context(), "4711")
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "of what is not ours nothing is known")
		s.mend()
		s.pass(time.Minute)
		p, err = s.pay.Read(t.Context(), c.PaymentID)
		require.NoError(t, err)
		require.EqualValues(t, 600, p.Summary.RefundedAmount)
		require.Nil(t, p.Operation)
	})
}

// A token is stored while the backend is away, verified behind that, and read once it is known.
func TestTokensOffline(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		c, err := s.tok.Create(t.Context(), "", tokens.CreateRequest{TokenSecret: "my-secret", CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 1}})
		require.NoError(t, err)
		require.Equal(t, "L"+string(c.Operation.Key), c.TokenizationID)
		v, err := s.tok.Verify(t.Context(), "", c.TokenizationID)
		require.NoError(t, err)
		require.Equal(t, c.TokenizationID, v.TokenizationID)
		_, err = s.tok.CreateRecurring(t.Context(), "", tokens.RecurringRequest{TokenSecret: "my-secret"})
		require.NoError(t, err)
		_, err = s.tok.Token(t.Context(), c.TokenizationID)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.Empty(t, s.stored(visa, "my-secret"))
		s.mend()
		s.pass(time.Minute)
		for _, op := range s.ops() {
			require.Equal(t, outbox.Done, op.State)
		}
		reply, err := s.tok.Token(t.Context(), c.TokenizationID)
		require.NoError(t, err)
		require.NotEmpty(t, reply.Token)
		pay := payments.CreateRequest{Type: payments.Moto, Amount: 5, CurrencyCode: "EUR", Processing: payments.ProcessSale, PaymentMethodDetails: &payments.PaymentMethodDetails{
			Type: payments.WithToken, Token: reply.Token, TokenSecret: "my-secret"}}
		_, err = s.pay.Create(t.Context(), "", pay)
		require.NoError(t, err)
	})
}

// An id that was changed in the store is not sent by.
func TestAlteredIDsAreNotUsed(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		s.cut()
		c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessAuthorize, 1000))
		require.NoError(t, err)
		d, err := s.pay.Capture(t.Context(), "", c.PaymentID, payments.CaptureRequest{})
		require.NoError(t, err)
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec(`UPDATE offline_things SET backend = 'another', folded = 'another'`)
			return err
		}))
		s.mend()
		s.pass(time.Hour)
		require.Equal(t, outbox.Held, s.op(c.Operation.Key).State, "what it came to cannot be noted")
		require.Contains(t, s.op(c.Operation.Key).Reason, "DONE")
		require.Equal(t, outbox.Pending, s.op(d.Operation.Key).State)
		for _, w := range s.cable.writes() {
			require.NotContains(t, w.path, "another")
		}
	})
}

// The table and the kinds are the same list.
func TestTableIsWhatIsDone(t *testing.T) {
	inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
		kinds := map[string]outbox.Kind{}
		for _, k := range append(s.front.Kinds(), gateway.Undos(nil, nil, nil, nil)...) {
			kinds[k.Name] = k
		}
		rows := 0
		for _, row := range gateway.Table() {
			if row.Kind == "" {
				require.Equal(t, gateway.Refused, row.Offline)
				continue
			}
			rows++
			k, ok := kinds[row.Kind]
			require.True(t, ok, row.Kind)
			require.Equal(t, row.Service, k.Service, row.Kind)
			require.Equal(t, row.Breaks, k.Breaks, row.Kind)
			require.NotEmpty(t, row.Replay, row.Kind)
			require.Equal(t, row.Offline == gateway.Limited || row.Offline == gateway.Counted, row.Risk != "" && row.Pending != "", "%s: what is stored for a caller says what may come of it", row.Kind)
		}
		require.Len(t, kinds, rows)
	})
}
