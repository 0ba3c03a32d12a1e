package roomtest

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Browser asks a room's pages as a customer's browser does.
type Browser struct {
	TB      testing.TB
	Handler http.Handler
	Origin  string // of the pages: "http://shop.example:8490"
}

// Send asks for a page. A form goes with the pages' own origin unless headers say otherwise: they
// are names and values, "" takes one away.
func (b Browser) Send(method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	b.TB.Helper()
	r := httptest.NewRequestWithContext(b.TB.Context(), method, b.Origin+path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.Origin)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	rec := httptest.NewRecorder()
	b.Handler.ServeHTTP(rec, r)
	return rec
}

// Page reads a page that is there.
func (b Browser) Page(path string) string {
	b.TB.Helper()
	rec := b.Send(http.MethodGet, path, nil)
	require.Equal(b.TB, http.StatusOK, rec.Code, rec.Body.String())
	return rec.Body.String()
}

// FormOf finds a page's forms: where each goes, and its token.
var FormOf = regexp.MustCompile(`action="([^"]+)"><input type="hidden" name="token"[^>]* value="([^"]+)"`)

// Form reads the first form of the page at path that does act: where it goes and its token, with
// fields filled in (names and values).
func (b Browser) Form(path, act string, fields ...string) (to string, form url.Values) {
	b.TB.Helper()
	to, form, ok := formIn(b.Page(path), path, act, fields)
	if !ok {
		b.TB.Fatalf("no form to %s", act)
	}
	return to, form
}

// formIn reads a form of a page. act "" = the page's own address.
func formIn(body, path, act string, fields []string) (to string, form url.Values, ok bool) {
	goes := path
	if act != "" {
		goes += "/" + act
	}
	for _, m := range FormOf.FindAllStringSubmatch(body, -1) {
		if m[1] == goes || strings.HasPrefix(m[1], goes+"?") {
			form = url.Values{"token": {m[2]}}
			for i := 0; i < len(fields); i += 2 {
				form.Set(fields[i], fields[i+1])
			}
			return m[1], form, true
		}
	}
	return "", nil, false
}

// Leads is how a page leads on to another address.
var Leads = regexp.MustCompile(`<meta http-equiv="refresh" content="0;url=([^"]*)">`)

// Follow opens a page. It returns where the page leads on, or path.
func (b Browser) Follow(path string) string {
	b.TB.Helper()
	if m := Leads.FindStringSubmatch(b.Page(path)); m != nil {
		return html.UnescapeString(m[1])
	}
	return path
}
