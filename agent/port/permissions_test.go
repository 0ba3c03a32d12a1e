package port_test

import (
	"context"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/schemes/methods"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest/openapi/openapitest"
)

// wordPort is a port with a client for each of some sets of words, "read,links", named by it.
func wordPort(t *testing.T, sets []string, services ...port.Service) *rig {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var clients []port.Client
	for _, set := range sets {
		clients = append(clients, port.Client{Name: set, Token: wire.Secret("token-of-" + set), May: strings.Split(set, ",")})
	}
	ok := func() error { return nil }
	p := port.New(port.Options{Listener: ln, Live: ok, Ready: ok, Token: token, Clients: clients, Services: services})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return &rig{t: t, addr: "http://" + p.Addr()}
}

// Each operation on payment links and their transactions wants its words, and a list of all transactions the sight of everything.
func TestField_P1EachLinkOperationWantsItsWords(t *testing.T) {
	sets := []string{"read", "pay", "refund", "tokens", "links", "sales", "all", "links,refund", "read,all"}
	there := &paylinks.Client{BaseURL: "http://127.0.0.1:1", Instance: "shop", Secret: "s", Doer: doer{}}
	x := wordPort(t, sets, port.Links(there.Links(), there.Transactions(), "shop", false))
	ctx, none := t.Context(), wire.Key("")
	made := paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 100, Currency: "EUR"}
	for name, c := range map[string]struct {
		sets string
		ask  func(l paylinks.Links, txns paylinks.Transactions) error
	}{
		"create":      {"links links,refund", func(l paylinks.Links, _ paylinks.Transactions) error { _, err := l.Create(ctx, none, made); return err }},
		"read":        {"read read,all", func(l paylinks.Links, _ paylinks.Transactions) error { _, err := l.Read(ctx, 7); return err }},
		"delete":      {"links links,refund", func(l paylinks.Links, _ paylinks.Transactions) error { _, err := l.Delete(ctx, none, 7); return err }},
		"transaction": {"read read,all", func(_ paylinks.Links, txns paylinks.Transactions) error { _, err := txns.Read(ctx, 7); return err }},
		"charge": {"links links,refund", func(_ paylinks.Links, txns paylinks.Transactions) error {
			_, err := txns.Charge(ctx, none, 7, paylinks.ChargeRequest{Purpose: "p"})
			return err
		}},
		"capture": {"links links,refund", func(_ paylinks.Links, txns paylinks.Transactions) error {
			_, err := txns.Capture(ctx, none, 7)
			return err
		}},
		"refund": {"links,refund", func(_ paylinks.Links, txns paylinks.Transactions) error {
			_, err := txns.Refund(ctx, none, 7, paylinks.RefundRequest{})
			return err
		}},
		"cancel": {"links links,refund", func(_ paylinks.Links, txns paylinks.Transactions) error {
			_, err := txns.Delete(ctx, none, 7)
			return err
		}},
		"list": {"read,all", func(_ paylinks.Links, txns paylinks.Transactions) error {
			_, err := txns.List(ctx, paylinks.Filter{})
			return err
		}},
	} {
		for _, set := range sets {
			client := &paylinks.Client{BaseURL: x.addr, Instance: set, Secret: wire.Secret("token-of-" + set), Doer: &http.Client{}}
			want := wire.Forbidden
			if slices.Contains(strings.Fields(c.sets), set) {
				want = wire.Unavailable
			}
			err := c.ask(client.Links(), client.Transactions())
			require.Equal(t, want, wire.CodeOf(err), "%s with %s: %v", name, set, err)
		}
	}
	all := &paylinks.Client{BaseURL: x.addr, Instance: "sales", Secret: "token-of-sales", Doer: &http.Client{}}
	require.NoError(t, all.Check(ctx), "a good signature is all that it wants")
}

// Each operation of payments, tokens and methods wants one word of its caller, and no other word will do.
func TestField_P1EachOperationWantsItsWord(t *testing.T) {
	words := []string{"read", "pay", "refund", "tokens", "links", "sales", "all"}
	gone := "http://127.0.0.1:1" // what is allowed gets as far as the backend, which is not there
	x := wordPort(t, words, port.Payments(&payments.Client{BaseURL: gone, Doer: doer{}}, ""), port.Tokens(&tokens.Client{BaseURL: gone, Doer: doer{}}),
		port.Methods(&methods.Client{BaseURL: gone, Doer: doer{}}))
	hole := regexp.MustCompile(`\{[^}]*\}`)
	doc := openapitest.Read(t, []byte(x.ask("GET", "/openapi.json", "", "", "").body))
	mounted := regexp.MustCompile(`^(/api/v1/payments|/api/v1/tokens|/ms/naa/)`)
	asked := 0
	for _, c := range openapitest.Routes() {
		if !mounted.MatchString(c.Path) {
			require.Empty(t, c.May, c.Path)
			continue
		}
		asked++
		require.Contains(t, words, c.May, c.Path)
		kind, body := "", doc.Request(t, c.Method, c.Path)
		if body != "" {
			kind = jsonKind
		}
		for _, word := range words {
			r := x.ask(c.Method, hole.ReplaceAllString(c.Path, "7"), "Bearer token-of-"+word, kind, body)
			want := 403
			if word == c.May {
				want = 503
			}
			require.Equal(t, want, r.status, "%s %s with %s: %s", c.Method, c.Path, word, r.body)
		}
	}
	require.GreaterOrEqual(t, asked, 11)
}
