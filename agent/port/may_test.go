package port_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/schemes/methods"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
)

// Each operation of payments, tokens and methods wants one word of its caller, and no other word will do.
func TestField_P1EachOperationWantsItsWord(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	words := []string{"read", "pay", "refund", "tokens", "links", "sales", "all"}
	var clients []port.Client
	for _, word := range words {
		clients = append(clients, port.Client{Name: word, Token: wire.Secret("token-of-" + word), May: []string{word}})
	}
	gone := "http://127.0.0.1:1" // what is allowed gets as far as the backend, which is not there
	ok := func() error { return nil }
	p := port.New(port.Options{
		Listener: ln, Live: ok, Ready: ok, Token: token, Clients: clients,
		Services: []port.Service{
			port.Payments(&payments.Client{BaseURL: gone, Doer: doer{}}, ""), port.Tokens(&tokens.Client{BaseURL: gone, Doer: doer{}}),
			port.Methods(&methods.Client{BaseURL: gone, Doer: doer{}}),
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	x := &rig{t: t, addr: "http://" + p.Addr()}
	for _, c := range []struct{ word, method, path, body string }{
		{"pay", "POST", "/api/v1/payments", `{"type":"ProviderHostedEcom","amount":1250,"currencyCode":"EUR","redirectUrls":{"returnUrl":"https://shop.example/"}}`},
		{"pay", "POST", "/api/v1/payments/7/Authorize", "{}"},
		{"pay", "POST", "/api/v1/payments/7/Cancel", "{}"},
		{"pay", "POST", "/api/v1/payments/7/Capture", "{}"},
		{"refund", "POST", "/api/v1/payments/7/Refund", "{}"},
		{"read", "GET", "/api/v1/payments/7", ""},
		{"tokens", "POST", "/api/v1/tokens", `{"returnUrl":"https://shop.example/"}`},
		{"tokens", "POST", "/api/v1/tokens/recurring", `{"returnUrl":"https://shop.example/"}`},
		{"tokens", "POST", "/api/v1/tokens/7/Verify", ""},
		{"tokens", "GET", "/api/v1/tokens/7", ""},
		{"read", "GET", "/ms/naa/terminal/method/list/B1/T1", ""},
	} {
		for _, word := range words {
			kind := ""
			if c.body != "" {
				kind = jsonKind
			}
			r := x.ask(c.method, c.path, "Bearer token-of-"+word, kind, c.body)
			want := 403
			if word == c.word {
				want = 503
			}
			require.Equal(t, want, r.status, "%s %s with %s: %s", c.method, c.path, word, r.body)
		}
	}
}
