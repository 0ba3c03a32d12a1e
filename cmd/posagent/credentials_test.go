package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// A backend that takes each service's own credentials alone (S0 5, S1 5) sells through the one and the other, whether all of them
// stand in [upstream.auth] or in sections of the services; config check says which service is asked with what.
// The kind: the services of the local port, by the questions of upstream check, which also begins a payment of each; then a
// register sells through a scheme, and a local program by card.
func TestField2_S1EachServiceIsAskedWithItsOwn(t *testing.T) {
	const (
		bearer   = "bearer = \"own-bearer\"\n"
		consumer = "consumer_key = \"own-key\"\nconsumer_secret = \"own-consumer-secret\"\n"
		client   = "client_id = \"own-client\"\nclient_secret = \"own-client-secret\"\n"
		rest     = "instance = \"shop\"\nsecret = \"own-link-secret\"\napi_key = \"own-api-key\"\n"
	)
	pays := 50 * time.Millisecond
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), PublicURL: "http://127.0.0.1:1", Synchronous: "OFF", StrictProofs: true, WalletDelay: &pays, Credentials: backend.Credentials{
		Bearer: "own-bearer", ConsumerKey: "own-key", ConsumerSecret: "own-consumer-secret", ClientID: "own-client", ClientSecret: "own-client-secret",
		Instance: "shop", Secret: "own-link-secret", APIKey: "own-api-key",
	}})
	require.NoError(t, err)
	require.NoError(t, b.Init(t.Context()))
	defer b.Close()
	var mu sync.Mutex
	var shown map[string]string // kind of path -> what its Authorization says
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if path := strings.Split(r.URL.Path, "/"); len(path) > 3 {
			shown[path[2]+"/"+path[3]] = r.Header.Get("Authorization")
		}
		mu.Unlock()
		b.Handler().ServeHTTP(w, r)
	}))
	defer srv.Close()
	type view struct {
		Services []struct {
			Service string
			OK      bool
			Words   string
		}
		Keys []struct{ Service, Verdict, Words string }
	}
	for name, auth := range map[string]string{
		"bearer and consumer": bearer + consumer + rest,
		"client and consumer": client + consumer + rest,
		"all":                 bearer + consumer + client + rest,
		"sections":            bearer + rest + "[upstream.auth.schemes]\n" + consumer + "[upstream.auth.methods]\n" + consumer + "[upstream.auth.tokens]\n" + client,
	} {
		t.Run(name, func(t *testing.T) {
			shown = map[string]string{}
			dir := t.TempDir()
			file := filepath.Join(dir, "c.toml")
			require.NoError(t, os.WriteFile(file, []byte("[methods]\npoll = \"50ms\"\n[display]\nconsole = false\n[port]\nlisten = \"127.0.0.1:0\"\n[ecr]\ntcp = \"127.0.0.1:0\"\n[terminal]\nbax_id = \"10000001\"\nterminal_id = \"20000001\"\nmerchant_id = \"demomerchant\"\n[upstream]\nbase = \""+srv.URL+"\"\n[upstream.auth]\n"+auth), 0o600))
			var out, talk bytes.Buffer
			code := execute(t.Context(), []string{"upstream", "check", "--write", "--json", "--config", file, "--state", filepath.Join(t.TempDir(), "s")}, std{nil, &out, &talk})
			require.Equal(t, exitOK, code, out.String()+talk.String())
			var v view
			require.NoError(t, json.Unmarshal(out.Bytes(), &v))
			require.Len(t, v.Services, len(portServices()))
			for _, s := range v.Services {
				require.True(t, s.OK, "%s: %s", s.Service, s.Words)
			}
			for _, k := range v.Keys {
				require.Equal(t, "honoured", k.Verdict, "%s begins no payment: %s", k.Service, k.Words)
			}
			require.NotEmpty(t, shown["aapay/v2"])
			require.NotEmpty(t, shown["v1/payments"])
			require.NotEqual(t, shown["aapay/v2"], shown["v1/payments"])

			p := runProgramIn(t, dir)
			require.Contains(t, p.verb("register", "pay", "12.50", "--line", "tcp:"+p.register), "approved")
			made, err := p.client("main", p.main()).pay.Create(t.Context(), wire.NewKey(), payments.CreateRequest{
				Type: payments.Moto, Amount: 500, CurrencyCode: "EUR", Processing: payments.ProcessSale,
				CardDetails: &payments.CardDetails{PAN: wire.NewPAN("4111111111111111"), ExpiryYear: 2090, ExpiryMonth: 1},
			})
			require.NoError(t, err)
			require.Nil(t, made.Operation, "it was made, and not stored for later")
			p.end()
		})
	}

	file := filepath.Join(t.TempDir(), "c.toml")
	text := "[terminal]\nbax_id = \"1\"\nterminal_id = \"1\"\nmerchant_id = \"1\"\n[upstream]\nbase = \"" + srv.URL + "\"\n[upstream.auth]\n" + consumer + "[upstream.auth.payments]\n" + bearer
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	var out, talk bytes.Buffer
	require.Equal(t, exitOK, execute(t.Context(), []string{"config", "check", "--config", file}, std{nil, &out, &talk}), talk.String())
	for _, line := range []string{
		"schemes   consumer_key and consumer_secret of [upstream.auth]\n",
		"payments  bearer of [upstream.auth.payments]\n",
		"tokens    consumer_key and consumer_secret of [upstream.auth], for want of bearer, or client_id and client_secret\n",
		"hosted    no credentials are set: set api_key of [upstream.auth] if you use it\n",
	} {
		require.Contains(t, out.String(), line)
	}
}
