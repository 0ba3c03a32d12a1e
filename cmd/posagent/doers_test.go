package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
	"posagent/schemes/wire"
)

// Every client that the terminal gives its services, by file and service: each sends a write once, but that of the schemes. A new one has to be
// entered here, with the reason why a write may go out again below the outbox.
func TestField2_M37EveryClientThatIsHandedOutIsListed(t *testing.T) {
	handed := map[string]string{
		"doctor_backend.go aapay.Client":    "doer", // asks only
		"doctor_backend.go methods.Client":  "doer", // asks only
		"enrolled.go fleet.Client":          "client.Once()",
		"front.go paylinks.Client":          `to["paylinks"].doer()`,
		"front.go payments.Client":          `to["payments"].doer()`,
		"front.go tokens.Client":            `to["tokens"].doer()`,
		"net_ask.go aapay.Client":           "doer", // asks only, as all of this file
		"net_ask.go disputes.Client":        "doer",
		"net_ask.go hosted.Client":          "doer",
		"net_ask.go methods.Client":         "doer",
		"net_ask.go paylinks.Client":        "doer",
		"net_ask.go payments.Client":        "doer",
		"net_ask.go tokens.Client":          "doer",
		"paylink.go paylinks.Client":        "client.Once()", // the service of links honours no Keys
		"port.go aapay.Client":              `to["schemes"].doer()`,
		"port.go disputes.Client":           `to["disputes"].doer()`,
		"port.go hosted.Client":             `to["hosted"].doer()`,
		"port.go methods.Client":            `to["methods"].doer()`,
		"port.go onboarding.Client":         `to["payments"].doer()`,
		"reconcile.go aapay.Client":         "up",                   // reads only
		"terminal.go aapay.Client":          "schemes.Unanswered()", // the idempotent route is one by its contract: S1 2.4 answers a repeat as the first
		"terminal.go methods.Client":        "list",                 // reads only
		"upstream_check.go aapay.Client":    "up.Once()",
		"upstream_check.go methods.Client":  "list", // reads only
		"upstream_check.go payments.Client": "up.Once()",
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	got := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, 0)
		require.NoError(t, err)
		show := func(n ast.Node) string {
			var b bytes.Buffer
			require.NoError(t, printer.Fprint(&b, set, n))
			return b.String()
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && show(kv.Key) == "Doer" {
					got[name+" "+show(lit.Type)] = show(kv.Value)
				}
			}
			return true
		})
	}
	require.Equal(t, handed, got)
}

// What the table says of the services of the local port: each sends a write with a Key once, and the method of links too.
func TestField2_M37AServicesClientSendsAWriteOnce(t *testing.T) {
	var writes atomic.Int32
	cfg := config.Default()
	cfg.Upstream.Base = plainServer(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			writes.Add(1)
		}
		panic(http.ErrAbortHandler)
	})
	cfg.Upstream.Auth.Instance, cfg.Upstream.Auth.Secret = "demo", "hush"
	to, err := senders(cfg, nil, nil)
	require.NoError(t, err)
	links, err := linkUpstream(cfg, nil, nil)
	require.NoError(t, err)
	doers := map[string]wire.Doer{"the method of links": linkAPI(cfg, links).Doer}
	for _, name := range portServices() {
		doers[name] = to[name].doer()
	}
	require.Len(t, doers, len(portServices())+1)
	for name, d := range doers {
		writes.Store(0)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, cfg.Upstream.Base+"/x", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set(wire.KeyHeader, string(wire.NewKey()))
		resp, err := d.Do(req)
		if err == nil {
			require.NoError(t, resp.Body.Close())
		}
		require.Error(t, err, name)
		require.EqualValues(t, 1, writes.Load(), name)
	}
}
