package tokens_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/tokens"
	"posagent/schemes/tokens/tokenstest"
	"posagent/schemes/wire"
)

const (
	visa     = "4111111111111111"
	declined = "4000000000000002"
)

func fake() *tokenstest.Fake {
	return &tokenstest.Fake{Refused: declined, Now: func() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }}
}

func fixture(svc tokens.Service) tokenstest.Fixture {
	card := func(digits string) tokens.CardDetails {
		return tokens.CardDetails{PAN: wire.NewPAN(digits), ExpiryYear: 2030, ExpiryMonth: 12, ValidationCode: "123"}
	}
	return tokenstest.Fixture{Service: svc, Card: card(visa), Declined: card(declined), Past: "2026-11-20"}
}

func TestConformance(t *testing.T) {
	t.Run("in process", func(t *testing.T) { tokenstest.Run(t, fixture(fake())) })
	t.Run("over http", func(t *testing.T) {
		srv := httptest.NewServer(tokens.Handler(fake(), tokens.HandlerOptions{}))
		t.Cleanup(srv.Close)
		f := fixture(&tokens.Client{BaseURL: srv.URL, Doer: srv.Client()})
		f.Wire = &tokenstest.Wire{BaseURL: srv.URL, Doer: http.DefaultClient}
		tokenstest.Run(t, f)
	})
}

func TestARefusedRequestLeavesNothing(t *testing.T) {
	svc := fake()
	f := fixture(svc)
	for _, c := range tokenstest.Broken() {
		req := f.Request()
		c.Break(&req)
		_, err := svc.Create(t.Context(), wire.NewKey(), req)
		require.Error(t, err)
	}
	require.Zero(t, svc.Effects)
}
