package form_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/pages/form"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

const origin = "http://shop.example:8490"

// post is a form as a browser sends it, with the headers given on top.
func post(t *testing.T, token string, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", strings.NewReader(url.Values{form.Field: {token}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", origin)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestOnlyOurOwnFreshFormIsTaken(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	db := storetest.Open(t, form.Schema()...)
	g := form.New(db, origin+"/", func() time.Time { return now })
	take := func(r *http.Request, subject string) error {
		_, err := g.Take(httptest.NewRecorder(), r, subject)
		return err
	}
	token := g.Token("a")
	require.NoError(t, take(post(t, token), "a"))
	require.NoError(t, take(post(t, token, "Sec-Fetch-Site", "same-origin"), "a"))
	for name, r := range map[string]*http.Request{
		"other origin":   post(t, token, "Origin", "http://shop.example"),
		"null origin":    post(t, token, "Origin", "null"),
		"cross-site":     post(t, token, "Sec-Fetch-Site", "cross-site"),
		"no token":       post(t, ""),
		"longer":         post(t, token+"00"),
		"two parts":      post(t, token[:strings.LastIndexByte(token, '.')]),
		"moved expiry":   post(t, strings.Replace(token, ".1", ".9", 1)),
		"not urlencoded": post(t, token, "Content-Type", "text/plain"),
		"too long":       post(t, strings.Repeat("x", 100<<10)),
	} {
		require.Equal(t, wire.Forbidden, wire.CodeOf(take(r, "a")), name)
	}
	gone := post(t, token)
	gone.Header.Del("Origin")
	require.Equal(t, wire.Forbidden, wire.CodeOf(take(gone, "a")))
	require.Equal(t, wire.Forbidden, wire.CodeOf(take(post(t, token), "b")), "made for another thing")
	now = now.Add(30 * time.Minute)
	require.Equal(t, wire.Forbidden, wire.CodeOf(take(post(t, token), "a")), "expired")
	require.Equal(t, wire.Forbidden, wire.CodeOf(func() error {
		_, err := form.New(db, "", time.Now).Take(httptest.NewRecorder(), post(t, token, "Origin", ""), "a")
		return err
	}()), "a guard without a place takes nothing")
}

// However often a form is sent at once, and however its token is spelled, its act happens once.
func TestAFormIsSpentOnce(t *testing.T) {
	db := storetest.Open(t, form.Schema()...)
	g := form.New(db, origin, time.Now)
	token := g.Token("a")
	var mu sync.Mutex
	var wg sync.WaitGroup
	done := 0
	for i := range 16 {
		spelled := token
		if i%2 == 1 { // the authentication in capitals is the same authentication
			at := strings.LastIndexByte(token, '.')
			spelled = token[:at] + strings.ToUpper(token[at:])
		}
		wg.Go(func() {
			slip, err := g.Take(httptest.NewRecorder(), post(t, spelled), "a")
			if err == nil {
				err = db.Write(t.Context(), slip.Spend)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if wire.CodeOf(err) != wire.Forbidden {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, done)
	slip, err := g.Take(httptest.NewRecorder(), post(t, g.Token("a")), "a")
	require.NoError(t, err)
	require.ErrorIs(t, db.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, slip.Spend(tx))
		return http.ErrAbortHandler
	}), http.ErrAbortHandler)
	require.NoError(t, db.Write(t.Context(), slip.Spend), "an act that did not happen spends nothing")
}
