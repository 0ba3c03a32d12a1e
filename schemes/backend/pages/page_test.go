package pages

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEverythingIsEscaped(t *testing.T) {
	const evil = `"><script>alert(1)</script>&'`
	p := Page{Title: evil, Lang: evil, Body: []Node{
		Heading(evil), Para(evil, evil), Result(evil), Form(evil, evil, evil, evil, evil),
		Input{Name: evil, Label: evil, Value: evil, Type: evil, Auto: evil}.Node(),
	}}
	text := p.Render()
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, `"">`)
	require.Equal(t, 2+3+1+5+5, strings.Count(text, "&lt;script&gt;"), text)
}

func TestHeadersAllowOnlyOurSheet(t *testing.T) {
	rec := httptest.NewRecorder()
	Page{Status: 409, Title: "x", Refresh: 2}.Send(rec)
	require.Equal(t, 409, rec.Code)
	csp := rec.Header().Get("Content-Security-Policy")
	require.Contains(t, csp, "style-src 'sha256-")
	for _, word := range []string{"unsafe", "http:", "https:", "data:", "*"} {
		require.NotContains(t, csp, word)
	}
	require.Contains(t, rec.Body.String(), `<meta http-equiv="refresh" content="2">`)
	require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
}

// A page leads to https and to this machine, nowhere else, and its policy cannot be talked out of that.
func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://shop.example/thanks?a=b": "https://shop.example", "https://shop.example:8443": "https://shop.example:8443",
		"http://127.0.0.1:8080/x": "http://127.0.0.1:8080", "http://localhost/x": "http://localhost", "http://[::1]:1/": "http://[::1]:1",
		"http://shop.example/": "", "http://127.0.0.1.example/": "", "javascript:alert(1)": "", "data:text/html,x": "", "//shop.example/": "",
		"/elsewhere": "", "": "", "https://": "", "https://user:pw@shop.example/": "", "https://shop.example;script-src": "",
		"https://a b.example/": "", "file:///etc/passwd": "", "https://x'y/": "",
	} {
		require.Equal(t, want, Origin(address), address)
	}
	rec := httptest.NewRecorder()
	Page{Title: "x", Next: `https://shop.example/a?b="><script>`}.Send(rec)
	require.Contains(t, rec.Body.String(), `<meta http-equiv="refresh" content="0;url=https://shop.example/a?b=&#34;&gt;&lt;script&gt;">`)
	require.Contains(t, rec.Header().Get("Content-Security-Policy"), "form-action 'self';")
	rec = httptest.NewRecorder()
	Page{Title: "x", Next: "javascript:alert(1)"}.Send(rec)
	require.NotContains(t, rec.Body.String(), "refresh")
}
