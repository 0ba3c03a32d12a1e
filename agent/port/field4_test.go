package port_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/hosted"
	"posagent/schemes/hosted/hostedtest"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// What a proxy puts in the place of the answer to a write is nobody's word: its client hears that the outcome is not known, never that
// nothing happened, or it would give back twice. The same of a 409 that is not the service's word for a used Key. Kind: each write that
// goes through the port to a service of which the answer is passed on; each status that says "refused" without the service's own body.
func TestField4_AProxysAnswerIsNoRefusal(t *testing.T) {
	x := start(t, false)
	ctx := t.Context()
	build := &hosted.Client{BaseURL: x.addr, APIKey: token, Doer: keyed{}}
	paid := func() string {
		b, err := build.Sessions().Build(ctx, "", hostedtest.Good())
		require.NoError(t, err)
		require.NoError(t, x.backend.Hosted().Fill(ctx, b.SessionID, wire.NewPAN(visa), 2099, 12))
		s, err := build.Sessions().Finalize(ctx, "", b.SessionID, "")
		require.NoError(t, err)
		return s.Operation.OperationID
	}
	ops := []string{paid(), paid(), paid(), paid(), paid()}
	bare := func(status int) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(status) }
	}
	busy := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"errors":[{"code":"GW0409","description":"request in progress"}]}`))
	}
	given := 0
	for i, answer := range []func(w http.ResponseWriter){bare(401), bare(403), bare(429), busy} {
		x.instead = answer
		_, err := build.Orders().Refund(ctx, wire.NewKey(), ops[i], hosted.PostRequest{Amount: "1000"})
		require.Equal(t, wire.UnknownOutcome, code(t, err), "hosted refund, answer %d", i)
		given++
		_, err = build.Sessions().Build(ctx, wire.NewKey(), hostedtest.Good())
		require.Equal(t, wire.UnknownOutcome, code(t, err), "hosted build, answer %d", i)
		if i == 3 { // that body is hosted build's
			break
		}
		d := doer{bearer}
		for name, write := range map[string]func() error{
			"schemes": func() error {
				ref := string(wire.NewKey())
				_, err := (&aapay.Client{BaseURL: x.addr, Doer: d}).InitializeWithIdempotency(ctx, wire.NewKey(), aapay.Payment, aapay.Request{
					MerchantID: "M1", Method: "SWISH_E_COM", TerminalReference: ref, Trigger: aapay.TriggerQR, Consumer: &aapay.Consumer{ConsumerID: ref},
					PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: 500, TotalAmount: 500},
				})
				return err
			},
			"payments": func() error {
				_, err := (&payments.Client{BaseURL: x.addr, Doer: d}).Create(ctx, wire.NewKey(), moto(500))
				return err
			},
			"tokens": func() error {
				_, err := (&tokens.Client{BaseURL: x.addr, Doer: d}).Create(ctx, wire.NewKey(), tokens.CreateRequest{})
				return err
			},
			"links": func() error {
				_, err := (&paylinks.Client{BaseURL: x.addr, Instance: "shop", Secret: token, Doer: doer{}}).Links().Create(ctx, wire.NewKey(), paylinks.CreateRequest{
					Title: "T", Description: "D", Purpose: "P", ReferenceID: "R", Amount: 500, Currency: "EUR",
				})
				return err
			},
		} {
			require.Equal(t, wire.UnknownOutcome, code(t, write()), "%s, answer %d", name, i)
		}
	}
	x.instead = nil
	_, err := build.Orders().Refund(ctx, wire.NewKey(), ops[4], hosted.PostRequest{Amount: "6000"})
	require.Equal(t, wire.Conflict, code(t, err), "the service's own word is passed on")
	books, err := x.backend.Books(ctx)
	require.NoError(t, err)
	back := 0
	for _, e := range books {
		if e.Service == "hosted" && e.Type == "refund" {
			back++
		}
	}
	require.Equal(t, given, back, "each of them was done")
}
