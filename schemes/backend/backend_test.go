package backend_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/backend/books"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// bearer adds an Authorization header.
type bearer struct {
	next  wire.Doer
	value string
}

func (b bearer) Do(r *http.Request) (*http.Response, error) {
	if b.value != "" {
		r.Header.Set("Authorization", b.value)
	}
	return b.next.Do(r)
}

const demoBearer = "Bearer posagent-demo-bearer"

// run opens a backend and runs it until the test's end.
func run(t *testing.T, cfg backend.Config) *backend.Backend {
	t.Helper()
	cfg.Synchronous = "OFF"
	b, err := backend.Open(t.Context(), cfg)
	require.NoError(t, err)
	stop := roomtest.Start(t, b.Run)
	t.Cleanup(func() {
		stop()
		require.NoError(t, b.Close())
	})
	return b
}

// listen is run on a real listener.
func listen(t *testing.T, cfg backend.Config) (*backend.Backend, *httptest.Server) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	cfg.PublicURL = "http://" + srv.Listener.Addr().String()
	b := run(t, cfg)
	srv.Config = backend.Server(b.Handler())
	srv.Start()
	t.Cleanup(srv.Close)
	return b, srv
}

// serve opens a backend on a real listener; delay 0 pays at once.
func serve(t *testing.T, dir string, delay time.Duration) (*backend.Backend, *httptest.Server) {
	t.Helper()
	return listen(t, backend.Config{Dir: dir, WalletDelay: &delay})
}

// inMemory serves a backend on a listener of the test.
func inMemory(t *testing.T, b *backend.Backend) (string, wire.Doer) {
	t.Helper()
	srv := httptest.NewServer(b.Handler())
	t.Cleanup(srv.Close)
	return srv.URL, bearer{srv.Client(), demoBearer}
}

// balanced checks the books as a whole: every transaction and every payment sums to zero, no payment gives back more
// than it took, and COMMIT stands exactly where money moved to or from the merchant.
func balanced(t require.TestingT, list []backend.Entry) {
	for _, e := range list {
		require.Zero(t, books.Sum(e.Postings), "%s %s", e.Type, e.ID)
		moved := books.NetOf(e.Postings) != 0
		require.Equal(t, moved, e.AccountState == "COMMIT", "%s %s %s %v", e.Type, e.ID, e.State, e.Postings)
	}
	for ref, net := range backend.NetByReference(list) {
		require.GreaterOrEqual(t, net, money.Minor(0), ref)
	}
}

func payment(ref string, hundredths int64) aapay.Request {
	return aapay.Request{
		MerchantID: "M1", Method: "SWISH_E_COM", TerminalReference: ref, Trigger: aapay.TriggerQR,
		PurchaseAmount: &aapay.Amount{CurrencyCode: "EUR", NominalAmount: hundredths, TotalAmount: hundredths},
		Consumer:       &aapay.Consumer{ConsumerID: ref},
	}
}

func undo(ref, original string, hundredths int64) aapay.Request {
	r := payment(ref, hundredths)
	r.Trigger, r.OriginalReference = "", original
	return r
}

func TestSaleAndUndoOverHTTP(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	_, srv := serve(t, dir, 0)
	doer := bearer{srv.Client(), demoBearer}
	pay := &aapay.Client{BaseURL: srv.URL, Doer: doer}
	ctx := t.Context()

	reply, err := pay.InitializeWithIdempotency(ctx, "k1", aapay.Payment, payment("T1", 1250))
	require.NoError(t, err)
	require.Equal(t, 202, reply.HTTPStatus)
	require.True(t, reply.Valid)
	st, err := pay.Status(ctx, "T1", "")
	require.NoError(t, err)
	require.Equal(t, aapay.Finalized, st.State)
	require.Equal(t, aapay.Commit, st.AccountState)
	require.Equal(t, reply.Response.NAA2ECR.PPRef, st.NAA2ECR.PPRef)

	reply, err = pay.InitializeWithIdempotency(ctx, "k2", aapay.Reversal, undo("T2", "T1", 1250))
	require.NoError(t, err)
	require.Equal(t, 202, reply.HTTPStatus)
	st, err = pay.Status(ctx, "T2", "SWISH_E_COM")
	require.NoError(t, err)
	require.Equal(t, aapay.Finalized, st.State)
	require.Equal(t, aapay.Commit, st.AccountState)

	list, err := backend.ReadBooks(ctx, backend.Place{Dir: dir})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "T1", list[0].Reference)
	require.Equal(t, list[0].ID, list[1].Original)
	require.Len(t, list[1].Postings, 2)
	require.Zero(t, backend.NetByReference(list)["T1"])
	require.Contains(t, backend.NetByReference(list), "T1")

	defs, err := (&methods.Client{BaseURL: srv.URL, Doer: doer}).List(ctx, methods.Query{BaxID: "B1", TerminalID: "T1", Exclude: []int32{20}})
	require.NoError(t, err)
	require.Equal(t, "SWISH_E_COM", defs[0].Name)
	for _, d := range defs {
		require.NotEqual(t, "EASY", d.Name)
	}
}

func TestCredentials(t *testing.T) {
	_, srv := serve(t, t.TempDir(), 0)
	fetch := func(path, kind, user, secret, body string, header ...[2]string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", kind)
		req.SetBasicAuth(user, secret)
		for _, h := range header {
			req.Header.Set(h[0], h[1])
		}
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return ""
		}
		var out struct {
			Token string `json:"access_token"`
			Type  string `json:"token_type"`
		}
		buf := make([]byte, 4096)
		n, _ := resp.Body.Read(buf)
		require.NoError(t, wire.Decode(buf[:n], &out))
		require.Equal(t, "Bearer", out.Type)
		return out.Token
	}
	const form = "application/x-www-form-urlencoded"
	multi := "--x\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\nclient_credentials\r\n--x--\r\n"
	one := fetch("/token", form, "demo-client", "demo-client-secret", "grant_type=client_credentials")
	two := fetch("/oauth2/v2.0/token", "multipart/form-data; boundary=x", "demo-client", "demo-client-secret", multi)
	require.NotEmpty(t, one)
	require.NotEmpty(t, two)
	require.NotEmpty(t, fetch("/2b8c81c1-69c3-4fcd-9de2-4579ced9d137/oauth2/v2.0/token", "multipart/form-data; boundary=x", "demo-client", "demo-client-secret", multi),
		"clients know a tenant")
	require.Empty(t, fetch("/token", form, "demo-client", "wrong", "grant_type=client_credentials"))
	require.Empty(t, fetch("/token", form, "demo-client", "demo-client-secret", "grant_type=password"))
	require.Empty(t, fetch("/token", form, "demo-client", "demo-client-secret", "grant_type=client_credentials&grant_type=client_credentials"), "no parameter twice")
	for _, h := range [][2]string{{"Origin", "null"}, {"Referer", "http://evil.example/"}, {"Content-Encoding", "gzip"}} {
		require.Empty(t, fetch("/token", form, "demo-client", "demo-client-secret", "grant_type=client_credentials", h), h[0])
	}

	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, row := range []struct {
		name, value string
		good        bool
	}{
		{"static bearer", demoBearer, true},
		{"consumer pair", "Bearer " + b64("demo-consumer:demo-consumer-secret"), true},
		{"client pair", "Bearer " + b64("demo-client:demo-client-secret"), true},
		{"issued", "Bearer " + one, true},
		{"issued by the other route", "bearer " + two, true},
		{"none", "", false},
		{"empty", "Bearer ", false},
		{"basic", "Basic " + b64("demo-consumer:demo-consumer-secret"), false},
		{"wrong secret", "Bearer " + b64("demo-consumer:demo-client-secret"), false},
		{"no colon", "Bearer " + b64("demo-consumer"), false},
		{"other case", "Bearer Posagent-demo-bearer", false},
		{"changed token", "Bearer 9" + one, false},
		{"huge", "Bearer " + strings.Repeat("x", 8<<10), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := &aapay.Client{BaseURL: srv.URL, Doer: bearer{srv.Client(), row.value}}
			_, err := c.Status(t.Context(), "nothing", "")
			want := wire.Unauthorized
			if row.good {
				want = wire.NotFound
			}
			require.Equal(t, want, wire.CodeOf(err), "%v", err)
		})
	}
}
