package sessions

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
)

// get opens a page.
func (w *world) get(path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.Pages().ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, path, nil))
	return rec
}

// send posts a form as the page's own script does; header names and values alternate.
func (w *world) send(path string, fields url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, path, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", public)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.Pages().ServeHTTP(rec, r)
	return rec
}

var tokenIn = regexp.MustCompile(`(?:data-token|name="token"[^>]*value)="([^"]*)"`)

func (w *world) ticket(path string) string {
	w.t.Helper()
	rec := w.get(path)
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body.String())
	m := tokenIn.FindStringSubmatch(rec.Body.String())
	require.Len(w.t, m, 2, rec.Body.String())
	return html.UnescapeString(m[1])
}

// put fills a field in by its page and gives what the frame would tell.
func (w *world) put(sid, id, value string) (m message) {
	w.t.Helper()
	path := FieldPrefix + sid + "/" + id
	rec := w.send(path, url.Values{"token": {w.ticket(path)}, "value": {value}})
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body.String())
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &m))
	return m
}

// A field may be framed by the merchant's pages only, and is told to talk to them alone; no other page may be framed at all.
func TestWhoMayFrameAField(t *testing.T) {
	w := newWorld(t)
	req := request()
	req.MerchantURL = "https://Shop.example:8443/checkout?a=1"
	id := w.built(req)
	rec := w.get(FieldPrefix + id + "/CARD_NUMBER")
	csp := rec.Header().Get("Content-Security-Policy")
	require.True(t, strings.HasSuffix(csp, "frame-ancestors https://shop.example:8443"), csp)
	require.Contains(t, csp, "default-src 'none'; script-src 'self'; connect-src 'self';")
	require.Empty(t, rec.Header().Get("X-Frame-Options"))
	require.Contains(t, rec.Body.String(), `data-to="https://shop.example:8443"`)
	require.NotContains(t, rec.Body.String(), "<script>", "no script of the page's own")
	for _, path := range []string{AwayPrefix + id, FieldPrefix + "nothing/CARD_NUMBER", FieldPrefix + id + "/OTHER"} {
		rec := w.get(path)
		require.Contains(t, rec.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		require.Equal(t, "DENY", rec.Header().Get("X-Frame-Options"))
	}
	// What the frame tells goes to that origin; the browser's tests see it, and here it stands that there is no other way out.
	require.Equal(t, 1, strings.Count(fieldScript, "postMessage("))
	require.Contains(t, fieldScript, "parent.postMessage(m, to)")
	require.Contains(t, fieldScript, "to = box.dataset.to;")
	for _, path := range []string{ScriptPath, fieldScriptPath} {
		require.Contains(t, w.get(path).Header().Get("Content-Type"), "text/javascript")
	}
	require.Equal(t, http.StatusOK, w.get(FieldPrefix+"methods/VISA.svg").Code)
	require.Equal(t, http.StatusNotFound, w.get(FieldPrefix+"methods/%3Cscript%3E.svg").Code)
}

// What stands in a field comes from its own page only, with a token that is spent.
func TestOnlyTheFieldsOwnPageFillsIt(t *testing.T) {
	w := newWorld(t)
	id := w.built(request())
	path := FieldPrefix + id + "/CARD_NUMBER"
	number := pan(t, "visa").Reveal()
	good := func() url.Values { return url.Values{"token": {w.ticket(path)}, "value": {number}} }
	for name, header := range map[string][]string{
		"the shop":   {"Origin", "https://shop.example"},
		"nobody":     {"Origin", "null"},
		"cross-site": {"Sec-Fetch-Site", "cross-site"},
	} {
		rec := w.send(path, good(), header...)
		require.Equal(t, http.StatusForbidden, rec.Code, name)
		require.NotContains(t, rec.Body.String(), number)
	}
	require.Equal(t, http.StatusForbidden, w.send(path, url.Values{"value": {number}}).Code)
	other := good()
	require.Equal(t, http.StatusForbidden, w.send(FieldPrefix+id+"/SECURITY_CODE", other).Code, "made for another field")
	require.Equal(t, http.StatusOK, w.send(path, other).Code)
	require.Equal(t, http.StatusForbidden, w.send(path, other).Code, "spent")
}

// Each field judges itself; the last good one makes the session ready, and one that turns bad takes that back. Nothing repeats
// what stands in it.
func TestFields(t *testing.T) {
	w := newWorld(t)
	id := w.built(request())
	for _, c := range []struct{ id, value, code string }{
		{cardNumber, "4111 1111 1111 1112", hfInvalid}, {cardNumber, "4929000000006000", hfInvalid}, {cardNumber, "5105105105105100", hfBrand},
		{expiryDate, "13/30", hfInvalid}, {expiryDate, "10/26", hfPast}, {securityCode, "12", hfInvalid}, {securityCode, "12a", hfInvalid},
		{holderName, " ", hfInvalid}, {holderName, "4111111111111111", hfInvalid}, {holderEmail, "nobody", hfInvalid}, {"OTHER", "x", hfTrouble},
	} {
		if c.id == "OTHER" {
			require.Equal(t, http.StatusNotFound, w.get(FieldPrefix+id+"/OTHER").Code)
			continue
		}
		m := w.put(id, c.id, c.value)
		require.Equal(t, eventError, m.Event, c.value)
		require.Equal(t, c.code, m.ErrorCode, c.value)
		if text := strings.TrimSpace(c.value); text != "" {
			require.NotContains(t, raw(t, m), `"`+text+`"`)
		}
	}
	good := [][2]string{
		{cardNumber, "4111 1111-1111 1111"}, {expiryDate, "11 / 26"}, {securityCode, "737"}, {holderName, "Anna Rossi"}, {holderEmail, "anna@shop.example"},
	}
	for i, f := range good {
		m := w.put(id, f[0], f[1])
		require.Equal(t, eventSuccess, m.Event, f[0])
		require.NotContains(t, raw(t, m), f[1])
		require.Equal(t, i == len(good)-1, m.Then != nil)
		if m.Then != nil {
			require.Equal(t, eventChange, m.Then.Event)
			require.Equal(t, hosted.Ready, m.Then.State)
		}
	}
	require.Equal(t, hosted.CardCollection, w.put(id, securityCode, "1").Then.State)
	_, err := w.Finalize(t.Context(), "", id, "")
	refused(t, hosted.SessionNotReady, err)
	require.Equal(t, hosted.Ready, w.put(id, securityCode, "737").Then.State)
	path := FieldPrefix + id + "/CARD_NUMBER"
	rec := w.send(path, url.Values{"token": {w.ticket(path)}, "value": {"4111111111111111"}, "confirm": {"1"}})
	require.Contains(t, rec.Body.String(), `"then":{"event":"BUILD_FLOW_STATE_CHANGE","id":"confirmData","state":"READY_FOR_PAYMENT"`)
	s, err := w.Finalize(t.Context(), "", id, "")
	require.NoError(t, err)
	require.JSONEq(t, `{"cardHolderName":"Anna Rossi","cardHolderEmail":"anna@shop.example"}`, string(s.Operation.CustomerInfo))
	w.clean("4111111111111111", "4111 1111", "737\"", "Anna Rossi")

	require.Contains(t, w.get(path).Body.String(), `data-over="HF0003"`)
	id = w.built(request())
	path = FieldPrefix + id + "/CARD_NUMBER"
	token := w.ticket(path)
	w.ms.Add((5 * time.Minute).Milliseconds())
	rec = w.send(path, url.Values{"token": {token}, "value": {"4111111111111111"}})
	require.Contains(t, rec.Body.String(), `"errorCode":"HF0003"`)
	rec = w.send(FieldPrefix+w.built(request())+"/CARD_NUMBER", url.Values{"token": {token}})
	require.Equal(t, http.StatusForbidden, rec.Code, "another session's")
}

// A telephone's number pad has no slash.
func TestField_B1ExpiryInTheHostedField(t *testing.T) {
	w := newWorld(t)
	id := w.built(request())
	for _, typed := range []string{"1130", "11/30", "11 30", "11 / 2030"} {
		require.Equal(t, eventSuccess, w.put(id, expiryDate, typed).Event, typed)
	}
	require.Equal(t, hfPast, w.put(id, expiryDate, "1026").ErrorCode)
	require.Contains(t, w.get(FieldPrefix+"field.js").Body.String(), "formatExpiry(input)")
}

// The choice of a method, and the confirmation of what is not filled in.
func TestActions(t *testing.T) {
	w := newWorld(t)
	req := request()
	req.PaymentSession.PaymentService = ""
	id := w.built(req)
	m := w.put(id, payWithCard, "")
	require.Equal(t, hosted.CardCollection, m.State)
	require.Len(t, m.FieldSet.Fields, 5)
	require.NotContains(t, raw(t, m), "securityToken")
	require.Equal(t, eventError, w.put(id, payWithCard, "").Event, "once")
	path := FieldPrefix + id + "/CARD_NUMBER"
	rec := w.send(path, url.Values{"token": {w.ticket(path)}, "value": {"4111111111111111"}, "confirm": {"1"}})
	require.Contains(t, rec.Body.String(), `"event":"CONFIRM_ERROR"`)
	require.Contains(t, rec.Body.String(), `{"id":"CARD_NUMBER","valid":true},{"id":"EXPIRATION_DATE","valid":false}`)
	id = w.built(req)
	m = w.put(id, "PAYPAL", "")
	require.Equal(t, hosted.Redirected, m.State)
	require.Equal(t, public+AwayPrefix+id, m.URL)
	require.Equal(t, m.URL, m.Data.URL)
}

func TestAwayPage(t *testing.T) {
	for lang, word := range map[string]string{"eng": "Yes, it is me", "ITA": "Sì, sono io", "ger": "Ja, ich bin es", "xx": "Yes, it is me"} {
		w := newWorld(t)
		req := request()
		req.PaymentSession.Language = lang
		id, _, err := w.finalized(req, "challenge")
		require.NoError(t, err)
		path := AwayPrefix + id
		body := w.get(path).Body.String()
		for _, text := range []string{"SANDBOX", html.EscapeString(word), "50.00 EUR", "**** 3184", "Corner Shop"} {
			require.Contains(t, body, text)
		}
		form := url.Values{"token": {w.ticket(path)}, "say": {sayYes}}
		require.Equal(t, http.StatusForbidden, w.send(path, form, "Origin", "https://shop.example").Code)
		rec := w.send(path, form)
		require.Equal(t, http.StatusSeeOther, rec.Code)
		require.Equal(t, http.StatusSeeOther, w.send(path, form).Code, "pressed twice")
		body = w.get(rec.Header().Get("Location")).Body.String()
		require.Contains(t, body, `content="0;url=https://shop.example/result"`)
		require.Contains(t, body, hosted.Executed)
		require.EqualValues(t, 5000, w.accounts()["merchant"])
	}
	w := newWorld(t)
	require.Equal(t, http.StatusNotFound, w.get(AwayPrefix+"nothing").Code)
	id, _, err := w.finalized(request(), "challenge")
	require.NoError(t, err)
	w.send(AwayPrefix+id, url.Values{"token": {w.ticket(AwayPrefix + id)}, "say": {sayCancel}})
	require.Contains(t, w.get(AwayPrefix+id+"?go=1").Body.String(), `content="0;url=https://shop.example/cancel"`)
	require.Empty(t, w.accounts())
}
