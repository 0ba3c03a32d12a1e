package paylinks_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/paylinks/paylinkstest"
	"posagent/schemes/wire"
)

// demo knows one account.
func demo(instance string) (wire.Secret, error) {
	if instance == "demo" {
		return "demo-secret", nil
	}
	return "", nil
}

func TestConformance(t *testing.T) {
	row := func(t *testing.T, over bool) paylinkstest.Fixture {
		fake := new(paylinkstest.Fake)
		f := paylinkstest.Fixture{
			Links: fake.Links(), Transactions: fake.Transactions(), Amount: 1250,
			Pay: func(t *testing.T, l paylinks.Link) { require.True(t, fake.Pay(l.ID)) },
		}
		if over {
			srv := httptest.NewServer(paylinks.Handler(fake.Links(), fake.Transactions(), paylinks.HandlerOptions{Secret: demo}))
			t.Cleanup(srv.Close)
			c := &paylinks.Client{BaseURL: srv.URL, Instance: "demo", Secret: "demo-secret", Doer: srv.Client()}
			f.Links, f.Transactions = c.Links(), c.Transactions()
			f.Wire = &paylinkstest.Wire{BaseURL: srv.URL, Doer: srv.Client(), Instance: "demo", Secret: "demo-secret"}
		}
		return f
	}
	t.Run("in process", func(t *testing.T) { paylinkstest.Run(t, row(t, false)) })
	t.Run("over http", func(t *testing.T) { paylinkstest.Run(t, row(t, true)) })
}
