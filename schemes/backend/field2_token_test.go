package backend_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
)

// A token ends with the pair that fetched it (MONEY E.7), not with its hour: where the pair was changed or switched off nobody works with
// it, and where it is as it was it goes on over a restart. Kind: both pairs, each with its name and its secret.
func TestField2_A6TokensEndWithTheirPair(t *testing.T) {
	old := backend.Credentials{ConsumerKey: "key", ConsumerSecret: "secret", ClientID: "client", ClientSecret: "client-secret"}
	pairs := map[string][2]string{"consumer": {"key", "secret"}, "client": {"client", "client-secret"}}
	dir := t.TempDir()
	tokens := map[string]string{}
	t.Run("fetched", func(t *testing.T) {
		_, srv := listen(t, backend.Config{Dir: dir, Credentials: old})
		for kind, pair := range pairs {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/token", strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode()))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(pair[0], pair[1])
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			var got struct {
				Token string `json:"access_token"`
			}
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
			require.NoError(t, resp.Body.Close())
			tokens[kind] = got.Token
		}
	})
	for name, row := range map[string]struct {
		change         func(*backend.Credentials)
		consumer, then bool // the consumer's token is good, the client's
	}{
		"as it was":       {func(*backend.Credentials) {}, true, true},
		"consumer secret": {func(c *backend.Credentials) { c.ConsumerSecret = "another" }, false, true},
		"consumer key":    {func(c *backend.Credentials) { c.ConsumerKey = "another" }, false, true},
		"consumer off":    {func(c *backend.Credentials) { c.ConsumerKey, c.ConsumerSecret = "", "" }, false, true},
		"client secret":   {func(c *backend.Credentials) { c.ClientSecret = "another" }, true, false},
		"client id":       {func(c *backend.Credentials) { c.ClientID = "another" }, true, false},
		"both":            {func(c *backend.Credentials) { c.ClientSecret, c.ConsumerSecret = "x", "y" }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := old
			row.change(&c)
			_, srv := listen(t, backend.Config{Dir: dir, Credentials: c})
			for kind, good := range map[string]bool{"consumer": row.consumer, "client": row.then} {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/v1/payments/none", nil)
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer "+tokens[kind])
				resp, err := srv.Client().Do(req)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, good, resp.StatusCode == http.StatusNotFound, "%s: %d", kind, resp.StatusCode)
			}
		})
	}
}
