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
	}}
	text := p.Render()
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, `"">`)
	require.Equal(t, 2+3+1+5, strings.Count(text, "&lt;script&gt;"), text)
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
