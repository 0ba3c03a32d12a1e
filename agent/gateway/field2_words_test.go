package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/gateway"
	"posagent/agent/outbox"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// What is read of a stored thing is true in each state of the operation that is to make it: of a payment that needs no customer and of
// one that does, of their pages, of a stored card, of a link, and in the answer to a write about each. Money that may have moved is never
// said not to have moved, and what a person has noted as made was made, also after the operation was purged.
func TestField2_M49EachStateOfAStoredThingHasItsWords(t *testing.T) {
	const offlinePage, under, look, arrived, not = "The shop is offline", "The payment is under way", "The shop has to look", "The payment has arrived", "The payment was not made"
	const stored, doubt, noted, never = "not yet known to the backend", "in doubt, and a person decides", "a person has noted that it was made", "it was never made"
	// useless is a success that no use can be made of.
	useless := func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
		body, status := `{"paymentId":"","tokenizationId":""}`, http.StatusCreated
		if strings.Contains(r.URL.Path, "Invoice") {
			body, status = `{"status":"success","data":[{"id":0}]}`, http.StatusOK
		}
		if r.Method == http.MethodGet {
			return answer()
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	// broken takes every write and says that it has failed: nobody knows what became of it.
	broken := func(r *http.Request, answer func() (*http.Response, error)) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return answer()
		}
		return &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, nil
	}
	each := func(do func(s *shop, key wire.Key)) func(*shop) {
		return func(s *shop) {
			for _, op := range s.ops() {
				do(s, op.Key)
			}
		}
	}
	send := each(func(s *shop, key wire.Key) { // a service that fails is asked by one operation alone
		require.NoError(s.t, s.box.SendNow(s.t.Context(), key))
		s.pass(time.Second)
	})
	hold := each(func(s *shop, key wire.Key) { require.NoError(s.t, s.box.Hold(s.t.Context(), key, "a test")) })
	resolve := func(state outbox.State) func(*shop) {
		return func(s *shop) {
			hold(s)
			each(func(s *shop, key wire.Key) {
				require.NoError(s.t, s.box.Resolve(s.t.Context(), key, state, "as the portal shows"))
			})(s)
		}
	}
	purge := func(state outbox.State) func(*shop) {
		return func(s *shop) {
			resolve(state)(s)
			s.retention = time.Hour
			s.off(time.Second)
			s.pass(3 * time.Hour)
			require.Empty(s.t, s.ops())
		}
	}
	for name, c := range map[string]struct {
		way        mode // nil = nothing gets through
		then       func(*shop)
		state      outbox.State // "" = the operation is gone
		page       [2]string    // of the payment that needs no customer, and of the other
		status     string
		says       string
		token, act wire.Code // "" = stored behind it
		link       paylinks.Status
	}{
		"never sent":                   {nil, nil, outbox.Pending, [2]string{offlinePage, offlinePage}, "pending", stored, wire.Unavailable, "", paylinks.Waiting},
		"sent, and not answered":       {broken, send, outbox.Sent, [2]string{under, offlinePage}, "pending", stored, wire.Unavailable, "", paylinks.Waiting},
		"in doubt":                     {useless, func(s *shop) { s.pass(26 * time.Hour) }, outbox.Doubt, [2]string{look, look}, "pending", doubt, wire.Unavailable, "", paylinks.Waiting},
		"held":                         {nil, hold, outbox.Held, [2]string{look, look}, "pending", doubt, wire.Unavailable, "", paylinks.Waiting},
		"noted as made":                {nil, resolve(outbox.Done), outbox.Done, [2]string{arrived, arrived}, "done", noted, wire.Conflict, wire.Conflict, paylinks.Waiting},
		"noted as made, and purged":    {nil, purge(outbox.Done), "", [2]string{arrived, arrived}, "done", noted, wire.Conflict, wire.Conflict, paylinks.Waiting},
		"noted as declined":            {nil, resolve(outbox.Failed), outbox.Failed, [2]string{not, not}, "failed", never, wire.NotFound, wire.NotFound, paylinks.Declined},
		"noted as declined and purged": {nil, purge(outbox.Failed), "", [2]string{not, not}, "failed", never, wire.NotFound, wire.NotFound, paylinks.Declined},
		"expired":                      {nil, func(s *shop) { s.pass(50 * time.Hour) }, outbox.Expired, [2]string{not, not}, "expired", never, wire.NotFound, wire.NotFound, paylinks.Expired},
	} {
		t.Run(name, func(t *testing.T) {
			inShop(t, gateway.Options{MaxAge: 48 * time.Hour}, func(t *testing.T, s *shop) {
				s.front.PagesAt("http://127.0.0.1:8480")
				s.cable.set(c.way == nil, c.way)
				at, err := s.pay.Create(t.Context(), "p1", moto(payments.ProcessSale, 500))
				require.NoError(t, err)
				by, err := s.pay.Create(t.Context(), "p2", payments.CreateRequest{Type: payments.ProviderHosted, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale})
				require.NoError(t, err)
				card, err := s.tok.Create(t.Context(), "t1", tokens.CreateRequest{CardDetails: &tokens.CardDetails{PAN: wire.NewPAN(visa), ExpiryYear: 2099, ExpiryMonth: 12}})
				require.NoError(t, err)
				link, err := s.front.Links().Create(t.Context(), "l1", order())
				require.NoError(t, err)
				if c.then != nil {
					c.then(s)
					s.front.PagesAt("http://127.0.0.1:8480") // it may have started again
				}
				for _, op := range s.ops() {
					require.Equal(t, c.state, op.State, "%s: %s", op.Kind, op.Reason)
				}
				for i, p := range []payments.Created{at, by} {
					require.Contains(t, s.browse("http://127.0.0.1:8480/pay/"+p.PaymentID, "").Body.String(), c.page[i])
					read, err := s.pay.Read(t.Context(), p.PaymentID)
					require.NoError(t, err)
					require.Equal(t, c.status, read.Operation.Status)
					if c.says != stored {
						require.Contains(t, read.Operation.Note, c.says)
					}
				}
				_, err = s.tok.Token(t.Context(), card.TokenizationID)
				require.Equal(t, c.token, wire.CodeOf(err), "%v", err)
				require.ErrorContains(t, err, c.says)
				shown, err := s.front.Links().Read(t.Context(), link.ID)
				require.NoError(t, err)
				require.Equal(t, c.link, shown.Status)
				require.NotNil(t, shown.Operation)
				require.Equal(t, c.status, shown.Operation.Status)
				if c.says != stored {
					require.Contains(t, shown.Operation.Note, c.says)
				}
				_, refund := s.pay.Refund(t.Context(), "r1", at.PaymentID, payments.RefundRequest{Amount: some(100)})
				_, verify := s.tok.Verify(t.Context(), "v1", card.TokenizationID)
				_, remove := s.front.Links().Delete(t.Context(), "d1", link.ID)
				for _, err := range []error{refund, verify, remove} {
					require.Equal(t, c.act, wire.CodeOf(err), "%v", err)
				}
				if c.act == "" { // a link that is to be taken back can be paid until then
					shown, err = s.front.Links().Read(t.Context(), link.ID)
					require.NoError(t, err)
					require.Equal(t, paylinks.Waiting, shown.Status)
					require.Contains(t, shown.Operation.Note, "can be paid")
				}
			})
		})
	}
}
