package upstream

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// TestField4_GatewayG8ANoToARepeatIsNoNo: a refund left, was carried out, and its connection broke; the same
// call repeated it at once under its Key, and another site refused. The caller heard of one attempt that was
// refused: the register was told no, the debit was given back, and the money went twice. TestField2_M17 has
// the refusals that may come from in front of the service; each other one says as little of the try before.
// The kind: every refusal of the scheme service, the 201 of a request that is rejected among them. Where the
// first try is answered the answer stands, and a reply of 5xx is no answer to a write already.
func TestField4_GatewayG8ANoToARepeatIsNoNo(t *testing.T) {
	const fault = `{"valid":false,"error":{"message":"no"}}`
	for _, status := range []int{201, 400, 402, 409, 410, 412, 413, 422, 423, 429} {
		var s seen
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if s.note(r) == 1 {
				reset(w)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, fault)
		})
		svc := &aapay.Client{BaseURL: srv.URL, Doer: client(t, srv.URL, nil).Unanswered()}
		req := aapay.Request{MerchantID: "m", Method: "SWISH_E_COM", PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 100, TotalAmount: 100},
			Consumer: &aapay.Consumer{}, TerminalReference: "r", OriginalReference: "7"}
		key := wire.NewKey()
		_, err := svc.InitializeWithIdempotency(t.Context(), key, aapay.Refund, req)
		require.Equal(t, 2, s.count())
		require.ErrorIs(t, err, ErrLost, "%d", status)
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err))
		_, err = svc.InitializeWithIdempotency(t.Context(), key, aapay.Refund, req)
		require.NotErrorIs(t, err, ErrLost, "%d", status)
	}
}

// TestField4_GatewayG11ACachedReplyTellsItsAge: a cache in front of the service answered a reading with what
// it had kept for two hours, under the Date of then. The true time was two hours early, and so was the age of
// each Key that was sent before the power failed: one that the backend had forgotten was sent again. A cache
// says in Age for how long it has kept a reply (RFC 9111). The kind: the header with a number, and whatever
// says nothing.
func TestField4_GatewayG11ACachedReplyTellsItsAge(t *testing.T) {
	date := time.Now().Add(-2 * time.Hour).UTC()
	for age, want := range map[string]time.Duration{"7200": 2 * time.Hour, "": 0, "0": 0, "-7200": 0, "a while": 0, "99999999999999999999": 0} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", date.Format(http.TimeFormat))
			if age != "" {
				w.Header().Set("Age", age)
			}
		})
		c := client(t, srv.URL, nil)
		_, err := exchange(t, c, http.MethodGet, srv.URL, "", "")
		require.NoError(t, err)
		now, ok := c.Time()
		require.True(t, ok)
		require.Equal(t, want >= time.Hour, now.Sub(date) >= time.Hour, "Age: %s", age)
	}
}
