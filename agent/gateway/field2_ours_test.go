package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// The answer to one create is that of another: by the backend's id, which this journal has under another operation, or by what it says
// of itself. It makes nothing done; the repeat under the same Key brings the operation's own. Everything that is made.
func TestField2_M16AnAnswerThatIsAnothersMakesNothingDone(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, s *shop, n int) (id any, op *wire.Pending){
		"payment": func(t *testing.T, s *shop, n int) (any, *wire.Pending) {
			c, err := s.pay.Create(t.Context(), "", moto(payments.ProcessSale, int32(n*100)))
			require.NoError(t, err)
			return c.PaymentID, c.Operation
		},
		"token": func(t *testing.T, s *shop, n int) (any, *wire.Pending) {
			c, err := s.tok.CreateRecurring(t.Context(), "", tokens.RecurringRequest{TokenSecret: wire.Secret("secret of " + string(rune('a'+n)))})
			require.NoError(t, err)
			return c.TokenizationID, c.Operation
		},
		"link": func(t *testing.T, s *shop, n int) (any, *wire.Pending) {
			req := order()
			req.Amount = int64(n * 100)
			c, err := s.front.Links().Create(t.Context(), "", req)
			require.NoError(t, err)
			return c.ID, c.Operation
		},
	} {
		for _, known := range []bool{true, false} {
			if !known && name != "link" { // the others' answers say nothing of themselves
				continue
			}
			t.Run(name+map[bool]string{true: " of this journal", false: " of nobody here"}[known], func(t *testing.T) {
				inShop(t, gateway.Options{}, func(t *testing.T, s *shop) {
					var kept []byte
					swap := false
					s.cable.set(false, func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
						resp, err := answer()
						if err != nil || r.Method == http.MethodGet {
							return resp, err
						}
						return swapped(t, resp, &kept, &swap)
					})
					first, op := make(t, s, 1)
					require.Nil(t, op)
					if !known {
						require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { _, err := tx.Exec(`DELETE FROM offline_things`); return err }))
					}
					swap = true
					_, op = make(t, s, 99)
					require.NotNil(t, op, "it is not done")
					require.Equal(t, outbox.Sent, s.op(op.Key).State)
					s.pass(5 * time.Minute)
					require.Equal(t, outbox.Done, s.op(op.Key).State, s.op(op.Key).Reason)
					third, _ := make(t, s, 5)
					require.NotEqual(t, first, third)
					ids := map[string]bool{}
					for _, o := range s.ops() {
						require.False(t, ids[gateway.ReplyOf(o)], "two operations with one answer")
						ids[gateway.ReplyOf(o)] = true
					}
				})
			})
		}
	}
}

// swapped gives the first answer to a write once more where swap says so.
func swapped(t *testing.T, resp *http.Response, kept *[]byte, swap *bool) (*http.Response, error) {
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	if *kept == nil {
		*kept = data
	}
	if *swap {
		*swap, data = false, *kept
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return resp, nil
}
