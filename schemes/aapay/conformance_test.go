package aapay_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/aapay/aapaytest"
)

func TestConformance(t *testing.T) {
	row := func(t *testing.T, over bool) aapaytest.Fixture {
		fake := &aapaytest.Fake{RejectAmount: 1300}
		f := aapaytest.Fixture{
			Service: fake, MerchantID: "M1", Method: "EASY", Approve: 1250, Reject: 1300,
			Pay:    func(t *testing.T, id string) { require.True(t, fake.Pay(id)) },
			Cancel: func(t *testing.T, id string) { require.True(t, fake.Cancel(id)) },
		}
		if over {
			srv := httptest.NewServer(aapay.Handler(fake, aapay.HandlerOptions{}))
			t.Cleanup(srv.Close)
			f.Service = &aapay.Client{BaseURL: srv.URL, Doer: srv.Client()}
			f.Wire = &aapaytest.Wire{BaseURL: srv.URL, Doer: http.DefaultClient}
		}
		return f
	}
	t.Run("in process", func(t *testing.T) { aapaytest.Run(t, row(t, false)) })
	t.Run("over http", func(t *testing.T) { aapaytest.Run(t, row(t, true)) })
}
