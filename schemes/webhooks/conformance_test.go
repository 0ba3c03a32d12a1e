package webhooks_test

import (
	"net/http/httptest"
	"testing"

	"posagent/schemes/webhooks"
	"posagent/schemes/webhooks/webhookstest"
)

func TestConformance(t *testing.T) {
	t.Run("in process", func(t *testing.T) {
		fake := &webhookstest.Fake{}
		webhookstest.Run(t, webhookstest.Fixture{Service: fake, Received: fake.Received})
	})
	t.Run("over http", func(t *testing.T) {
		fake := &webhookstest.Fake{}
		srv := httptest.NewServer(webhooks.Handler(fake, webhooks.HandlerOptions{}))
		defer srv.Close()
		webhookstest.Run(t, webhookstest.Fixture{
			Service: &webhooks.Client{URL: srv.URL, Doer: srv.Client()}, Received: fake.Received,
			Wire: &webhookstest.Wire{URL: srv.URL, Doer: srv.Client()},
		})
	})
}
