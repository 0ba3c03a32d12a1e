package backend_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// TestField6_ABodyThatIsNoFormIsNotAbsent: `curl -d '{"amount":500}'` calls its JSON a form. Its one parameter was called
// `{"amount":500}`, which nobody reads, and the refund of 5.00 gave the whole payment back. The kind: what the body of a payment link's
// write says, and the form that is made of it does not have. JSON that is called a form, or nothing; a form that was encoded twice, or
// begins with a byte order mark; other texts; and in JSON an amount that is an object or array without a text, and null in other letters. All are refused, by each write whose
// absent field means all or decides how money moves; a form and JSON under their own names are read as before. JSON services refuse a
// body that is not called JSON, a name with blanks as one in other letters, and in the address also what a reader of addresses leaves out.
func TestField6_ABodyThatIsNoFormIsNotAbsent(t *testing.T) {
	_, srv := serve(t, t.TempDir(), 0)
	send := func(path, kind, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		if kind != "" {
			req.Header.Set("Content-Type", kind)
		}
		req.Header.Set(paylinks.APIKeyHeader, "demo-secret")
		if strings.HasPrefix(path, "/api/v1/") {
			req.Header.Del(paylinks.APIKeyHeader)
			req.Header.Set("Authorization", demoBearer)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	const form = "application/x-www-form-urlencoded"
	for _, path := range []string{
		"/v1.0/Transaction/1/refund?instance=demo", "/v1.0/Transaction/1/?instance=demo", "/v1.0/Transaction/1/charge?instance=demo",
		"/v1.0/Transaction/1/capture?instance=demo",
	} {
		for _, body := range []string{
			`{"amount":500}`, ` {"amount":500}`, "{\n  \"amount\": 500,\n  \"purpose\": \"a=b&c\"\n}", `{"amount":[500]}`, "amount%3D500", "amount:500", "amount: 500\n",
			"<amount>500</amount>", `"amount"=500`, `purpose=a&{"amount":500}`, "\ufeffamount=500", "\namount=500",
		} {
			for _, kind := range []string{form, ""} {
				status, answer := send(path, kind, body)
				require.Equal(t, http.StatusBadRequest, status, "%s: %s: %s", path, body, answer)
				require.Contains(t, answer, "form", body)
			}
		}
		for _, body := range []string{`{"amount":[null]}`, `{"amount":{"value":null}}`, `{"amount": [ [] ]}`, `{"Amount":null}`, `{"amount ":{}}`} {
			status, answer := send(path, wire.JSONType, body)
			require.Equal(t, http.StatusBadRequest, status, "%s: %s: %s", path, body, answer)
			require.Contains(t, answer, "amount", body)
		}
		for _, good := range [][2]string{{form, ""}, {form, "purpose=a%3Db%7B%3A%7D&shop:id=7"}, {wire.JSONType, "{}"}, {wire.JSONType, `{"purpose":"a=b:{}","{shop}":1}`}} {
			status, answer := send(path, good[0], good[1])
			require.NotEqual(t, http.StatusBadRequest, status, "%s: %s: %s", path, good[1], answer)
		}
	}
	for _, path := range []string{"/api/v1/payments/P1/Refund", "/api/v1/payments/P1/Capture"} {
		for _, body := range []string{`{"amount ":500}`, `{"\tAmount":500}`} {
			status, answer := send(path, wire.JSONType, body)
			require.Equal(t, http.StatusBadRequest, status, "%s: %s: %s", path, body, answer)
			require.Contains(t, answer, "amount", body)
		}
		for _, query := range []string{"?amount=500;shop=7", "?shop=7;amount=500", "?amount=500%", "?amount[]=500", "?%61mount=500"} {
			status, answer := send(path+query, wire.JSONType, "{}")
			require.Equal(t, http.StatusBadRequest, status, "%s%s: %s", path, query, answer)
			require.Contains(t, answer, "address", query)
		}
		for _, kind := range []string{form, ""} {
			status, answer := send(path, kind, `{"amount":500}`)
			require.True(t, status == http.StatusBadRequest || status == http.StatusUnsupportedMediaType, "%s %q: %d %s", path, kind, status, answer)
		}
	}
}
