package methodstest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a service to be proven: a merchant with at least two methods, and one without any.
type Fixture struct {
	Service    methods.Service
	BaxID      string
	TerminalID string
	NoBaxID    string // a merchant for whom no method exists
	// Wire is the same service over HTTP; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's service.
func Run(t *testing.T, f Fixture) {
	require.NotNil(t, f.Service)
	q := methods.Query{BaxID: f.BaxID, TerminalID: f.TerminalID}
	all, err := f.Service.List(t.Context(), q)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 2)

	t.Run("every definition is usable", func(t *testing.T) {
		good, problems := methods.Usable(all)
		require.Empty(t, problems)
		require.Equal(t, len(all), len(good))
		for _, d := range good {
			require.NotEmpty(t, d.Label)
			require.Positive(t, methods.StaleAge(d))
		}
	})
	t.Run("the same question gives the same answer", func(t *testing.T) {
		again, err := f.Service.List(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, all, again)
	})
	t.Run("exclude", func(t *testing.T) {
		out := q
		out.Exclude = []int32{all[0].PaymentProviderID, -5}
		rest, err := f.Service.List(t.Context(), out)
		require.NoError(t, err)
		require.Equal(t, all[1:], rest)
	})
	t.Run("caller and language", func(t *testing.T) {
		for _, lang := range []string{"en", "de", "sv-SE", "xx"} {
			other := q
			other.Caller, other.Lang = "terminal & co", lang
			list, err := f.Service.List(t.Context(), other)
			require.NoError(t, err)
			require.Len(t, list, len(all))
		}
	})
	t.Run("no method for the merchant", func(t *testing.T) {
		none := q
		none.BaxID = f.NoBaxID
		_, err := f.Service.List(t.Context(), none)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), "%v", err)
	})
	t.Run("broken questions", func(t *testing.T) {
		for name, broken := range BrokenQueries(q) {
			_, err := f.Service.List(t.Context(), broken)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", name, err)
		}
	})
	if f.Wire != nil {
		t.Run("wire", func(t *testing.T) { f.wire(t, all) })
	}
}

// BrokenQueries lists the questions that every service refuses as Invalid, spoilt from a good one.
func BrokenQueries(good methods.Query) map[string]methods.Query {
	spoil := func(change func(*methods.Query)) methods.Query {
		q := good
		change(&q)
		return q
	}
	return map[string]methods.Query{
		"no baxId":            spoil(func(q *methods.Query) { q.BaxID = "" }),
		"no terminalId":       spoil(func(q *methods.Query) { q.TerminalID = "" }),
		"dots":                spoil(func(q *methods.Query) { q.TerminalID = ".." }),
		"zero byte":           spoil(func(q *methods.Query) { q.BaxID = "a\x00" }),
		"long id":             spoil(func(q *methods.Query) { q.TerminalID = strings.Repeat("1", 1024) }),
		"language with path":  spoil(func(q *methods.Query) { q.Lang = "../../etc" }),
		"language of letters": spoil(func(q *methods.Query) { q.Lang = strings.Repeat("e", 100) }),
		"long caller":         spoil(func(q *methods.Query) { q.Caller = strings.Repeat("c", 1024) }),
		"many ids":            spoil(func(q *methods.Query) { q.Exclude = make([]int32, methods.MaxExclude+1) }),
	}
}

func (f Fixture) raw(t *testing.T, method, path string) (*http.Response, string) {
	t.Helper()
	return f.Wire.Raw(t, method, methods.Prefix+path, "", "")
}

func (f Fixture) wire(t *testing.T, all []methods.Definition) {
	here := f.BaxID + "/" + f.TerminalID
	resp, body := f.raw(t, http.MethodGet, here)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, methods.ContentType, resp.Header.Get("Content-Type"))
	require.Equal(t, byte('['), body[0], "a top-level array")
	list, problems, err := methods.DecodeList([]byte(body))
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Len(t, list, len(all))

	for _, c := range []struct {
		name, method, path string
		status             int
	}{
		{"no method", http.MethodGet, f.NoBaxID + "/" + f.TerminalID, 404},
		{"one piece", http.MethodGet, f.BaxID, 404},
		{"three pieces", http.MethodGet, here + "/x", 404},
		{"post", http.MethodPost, here, 405},
		{"delete", http.MethodDelete, here, 405},
		{"exclude a word", http.MethodGet, here + "?exclude=EASY", 400},
		{"exclude beyond int32", http.MethodGet, here + "?exclude=2147483648", 400},
		{"exclude holes", http.MethodGet, here + "?exclude=1,,2", 400},
		{"exclude many", http.MethodGet, here + "?exclude=" + strings.TrimSuffix(strings.Repeat("1,", 1001), ","), 400},
		{"exclude twice", http.MethodGet, here + "?exclude=1&exclude=2", 400},
		{"language", http.MethodGet, here + "?lang=..%2F..%2Fetc", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := f.raw(t, c.method, c.path)
			require.Equal(t, c.status, resp.StatusCode, body)
			require.Equal(t, methods.ContentType, resp.Header.Get("Content-Type"))
			require.NoError(t, wire.Check([]byte(body)))
			require.Contains(t, body, `"valid":false`)
		})
	}
}
