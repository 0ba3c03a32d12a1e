package backend_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/backend"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// browser does what a browser does with the wallet page.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

func (b browser) send(method, path, origin, auth string, form url.Values) (*http.Response, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	return wiretest.Send(b.t, b.http.Do, req)
}

var tokenOf = regexp.MustCompile(`action="([^"]+)"><input type="hidden" name="token" value="([^"]+)"`)

// forms reads the page's forms: action to token.
func (b browser) forms(path string) map[string]url.Values {
	b.t.Helper()
	resp, body := b.send(http.MethodGet, path, "", "", nil)
	require.Equal(b.t, http.StatusOK, resp.StatusCode)
	out := map[string]url.Values{}
	for _, m := range tokenOf.FindAllStringSubmatch(body, -1) {
		out[m[1]] = url.Values{"token": {m[2]}}
	}
	return out
}

// begin starts a payment nobody pays and gives its page's path.
func begin(t *testing.T, base string, client *aapay.Client, ref string, amount int64) string {
	t.Helper()
	_, err := client.Initialize(t.Context(), aapay.Payment, payment(ref, amount))
	require.NoError(t, err)
	st, err := client.Status(t.Context(), ref, "")
	require.NoError(t, err)
	path, ok := strings.CutPrefix(st.QRCodePayload, base)
	require.True(t, ok, st.QRCodePayload)
	require.Equal(t, "/wallet/"+backend.WalletRef(st.QRCodePayload), path)
	return path
}

func TestWalletPage(t *testing.T) {
	b, base, client := shop(t, -1)
	_, err := client.Status(t.Context(), "none", "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	web := browser{t, base, &http.Client{Timeout: need.Limit()}}
	state := func(ref string) (aapay.State, aapay.AccountState) {
		st, err := client.Status(t.Context(), ref, "")
		require.NoError(t, err)
		return st.State, st.AccountState
	}

	t.Run("the page", func(t *testing.T) {
		path := begin(t, base, client, "P1", 1250)
		resp, body := web.send(http.MethodGet, path, "", "", nil)
		require.Contains(t, body, "12.50 EUR")
		require.Contains(t, body, "Demo Shop")
		require.Contains(t, body, "SANDBOX")
		require.Contains(t, body, `<html lang="en">`)
		require.NotContains(t, body, "<script")
		require.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Contains(t, resp.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Equal(t, "same-origin", resp.Header.Get("Referrer-Policy"))
		require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
		resp, _ = web.send(http.MethodGet, "/wallet/P000000000000000000000000", "", "", nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
		resp, _ = web.send(http.MethodGet, "/wallet/P1", "", "", nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode, "the terminal's reference opens no page")
		require.Len(t, web.forms(path), 2)
	})
	t.Run("pay", func(t *testing.T) {
		path := begin(t, base, client, "P2", 1250)
		form := web.forms(path)[path+"/pay"]
		resp, body := web.send(http.MethodPost, path+"/pay", base, "", form)
		require.Equal(t, http.StatusOK, resp.StatusCode) // after the redirect back to the page
		require.Contains(t, body, "Paid")
		require.Empty(t, web.forms(path))
		s, a := state("P2")
		require.Equal(t, aapay.Finalized, s)
		require.Equal(t, aapay.Commit, a)
		resp, _ = web.send(http.MethodPost, path+"/pay", base, "", form)
		require.Equal(t, http.StatusForbidden, resp.StatusCode, "the token is used up")
		require.EqualValues(t, 1250, backend.NetByReference(entriesOf(t, b))["P2"])
	})
	t.Run("decline", func(t *testing.T) {
		path := begin(t, base, client, "P3", 1250)
		forms := web.forms(path)
		_, body := web.send(http.MethodPost, path+"/decline", base, "", forms[path+"/decline"])
		require.Contains(t, body, "Declined")
		s, a := state("P3")
		require.Equal(t, aapay.Rejected, s)
		require.Empty(t, a)
		resp, _ := web.send(http.MethodPost, path+"/pay", base, "", forms[path+"/pay"])
		require.Equal(t, http.StatusConflict, resp.StatusCode)
		s, _ = state("P3")
		require.Equal(t, aapay.Rejected, s)
	})
	t.Run("reversed meanwhile", func(t *testing.T) {
		path := begin(t, base, client, "P4", 1250)
		form := web.forms(path)[path+"/pay"]
		_, err := client.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Reversal, undo("P4R", "P4", 1250))
		require.NoError(t, err)
		resp, _ := web.send(http.MethodPost, path+"/pay", base, "", form)
		require.Equal(t, http.StatusConflict, resp.StatusCode)
		_, body := web.send(http.MethodGet, path, "", "", nil)
		require.Contains(t, body, "expired")
		require.Zero(t, backend.NetByReference(entriesOf(t, b))["P4"])
	})
	t.Run("forged forms", func(t *testing.T) {
		path, other := begin(t, base, client, "P5", 1250), begin(t, base, client, "P6", 1250)
		good := func() url.Values { return web.forms(path)[path+"/pay"] }
		upper := url.Values{"token": {strings.ToUpper(good().Get("token"))}}
		for name, send := range map[string]struct {
			origin string
			form   url.Values
		}{
			"no origin":              {"", good()},
			"null origin":            {"null", good()},
			"foreign origin":         {"http://evil.example", good()},
			"other port":             {base + "1", good()},
			"origin with a path":     {base + "/", good()},
			"other scheme":           {strings.Replace(base, "http:", "https:", 1), good()},
			"no token":               {base, url.Values{}},
			"garbage":                {base, url.Values{"token": {"a.b.c"}}},
			"another payment's":      {base, web.forms(other)[other+"/pay"]},
			"expiry changed":         {base, url.Values{"token": {strings.Replace(good().Get("token"), ".1", ".2", 1)}}},
			"nonce in another case":  {base, upper},
			"authentication cut off": {base, url.Values{"token": {good().Get("token")[:60]}}},
		} {
			resp, _ := web.send(http.MethodPost, path+"/pay", send.origin, "", send.form)
			require.Equal(t, http.StatusForbidden, resp.StatusCode, name)
		}
		resp, _ := web.send(http.MethodGet, path+"/pay", base, "", nil)
		require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode, "nothing changes on GET")
		s, _ := state("P5")
		require.Equal(t, aapay.Initialized, s)
	})
	t.Run("token reuse with its authentication spelled differently", func(t *testing.T) {
		path := begin(t, base, client, "P7", named(t, "provider-word").AmountHundredths)
		form := web.forms(path)[path+"/pay"]
		resp, _ := web.send(http.MethodPost, path+"/pay", base, "", form)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		parts := strings.Split(form.Get("token"), ".")
		parts[2] = strings.ToUpper(parts[2])
		resp, _ = web.send(http.MethodPost, path+"/pay", base, "", url.Values{"token": {strings.Join(parts, ".")}})
		require.Equal(t, http.StatusForbidden, resp.StatusCode)
	})
	t.Run("programs", func(t *testing.T) {
		begin(t, base, client, "P8", 1250)
		resp, body := web.send(http.MethodPost, "/wallet/P8/pay", "", "Bearer wrong", url.Values{})
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
		require.Contains(t, body, `"valid":false`)
		resp, _ = web.send(http.MethodPost, "/wallet/P8/pay", base, demoBearer, url.Values{})
		require.Equal(t, http.StatusForbidden, resp.StatusCode, "a browser is no program")
		resp, body = web.send(http.MethodPost, "/wallet/P8/pay", "", demoBearer, url.Values{})
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Contains(t, body, `"look":"paid"`)
		resp, _ = web.send(http.MethodPost, "/wallet/P8/decline", "", demoBearer, url.Values{})
		require.Equal(t, http.StatusConflict, resp.StatusCode)
		resp, _ = web.send(http.MethodPost, "/wallet/nobody/pay", "", demoBearer, url.Values{})
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
	})
	t.Run("a service route is not for browsers", func(t *testing.T) {
		resp, _ := web.send(http.MethodGet, "/ms/aapay/v2/transaction/P1/status", base, demoBearer, nil)
		require.Equal(t, http.StatusForbidden, resp.StatusCode)
	})
	balanced(t, entriesOf(t, b))
}

// The table still rules when somebody presses the button: the provider's word comes first, money later.
func TestPressingPayFollowsTheRow(t *testing.T) {
	_, base, client := shop(t, time.Hour)
	web := browser{t, base, http.DefaultClient}
	for name, want := range map[string]aapay.State{"declined": aapay.Rejected, "reserve": aapay.Reserved, "bad-word-commit": aapay.Failed, "unknown-word": aapay.Finalized} {
		begin(t, base, client, "R-"+name, named(t, name).AmountHundredths)
		resp, _ := web.send(http.MethodPost, "/wallet/R-"+name+"/pay", "", demoBearer, url.Values{})
		require.Equal(t, http.StatusOK, resp.StatusCode)
		st, err := client.Status(t.Context(), "R-"+name, "")
		require.NoError(t, err)
		require.Equal(t, want, st.State, name)
	}
}

// A web page whose own name was made to mean this machine reads nothing here: the backend answers to its own names alone.
func TestField_P12TheBackendChecksHost(t *testing.T) {
	b, err := backend.Open(t.Context(), backend.Config{Dir: t.TempDir(), PublicURL: "http://127.0.0.1:8481", Hosts: []string{"pay.example"}, Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	for host, want := range map[string]int{
		"127.0.0.1:8481": 204, "localhost:8481": 204, "LocalHost": 204, "[::1]:8481": 204, "10.0.0.5:8481": 204, "pay.example": 204, "PAY.example:443": 204,
		"rebind.example:8481": 421, "evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example:8481": 421, "pay.example.evil": 421, "": 421,
	} {
		for _, path := range []string{"/livez", "/v1.0/SignatureCheck/", "/api/v1/payments/x"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://x"+path, nil)
			r.Host = host
			rec := httptest.NewRecorder()
			b.Handler().ServeHTTP(rec, r)
			if path == "/livez" {
				require.Equal(t, want, rec.Code, host)
			}
			require.Equal(t, want == 421, rec.Code == 421, "%s%s", host, path)
		}
	}
}
