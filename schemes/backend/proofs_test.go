package backend_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend"
)

// A service takes credentials of its own kind (S0 5, S1 5) where these are set to a value of one's own; else it takes each kind,
// as the sandbox with the printed credentials does. The kind: every route with an Authorization header, each with each kind shown
// as it is and as a token for it.
func TestField2_S1ServicesTakeTheirOwnCredentials(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	kinds := []string{"bearer", "client", "client's token", "consumer", "consumer's token"}
	s0, s1, all := kinds[:3], kinds[3:], kinds
	routes := []struct{ name, path string }{
		{"schemes", "/ms/aapay/v2/transaction/none/status"}, {"methods", "/ms/naa/terminal/method/list/10000001/20000001"},
		{"payments", "/api/v1/payments/none"}, {"tokens", "/api/v1/tokens/none"}, {"onboarding", "/api/v1/onboarding/applications/1"},
		{"disputes", "/api/v1/disputes/document/none"}, {"administration", "/backend/v1/hooks"},
	}
	own := backend.Credentials{
		Bearer: "own-bearer", ConsumerKey: "own-key", ConsumerSecret: "own-consumer-secret", ClientID: "own-client", ClientSecret: "own-client-secret",
		Instance: "shop", Secret: "own-link-secret", APIKey: "own-api-key",
	}
	alike := own
	alike.ConsumerKey, alike.ConsumerSecret = own.ClientID, own.ClientSecret
	for _, row := range []struct {
		name             string
		creds            backend.Credentials
		ofS1, ofS0, each []string // each of the backend's own routes
	}{
		{"printed", backend.DemoCredentials(), all, all, all},
		{"each its own", own, s1, s0, all},
		{"bearer alone", backend.Credentials{Bearer: own.Bearer}, s0[:1], s0[:1], s0[:1]},
		{"consumer alone", backend.Credentials{ConsumerKey: own.ConsumerKey, ConsumerSecret: own.ConsumerSecret}, s1, s1, s1},
		{"one pair for both", alike, kinds[1:], all, all},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, srv := listen(t, backend.Config{Dir: t.TempDir(), Credentials: row.creds, StrictProofs: true})
			c := row.creds
			token := func(id, secret string) string {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/token", strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode()))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				req.SetBasicAuth(id, secret)
				resp, err := srv.Client().Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				var got struct {
					Token string `json:"access_token"`
				}
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(text, &got))
				return got.Token
			}
			shown := map[string]string{"bearer": c.Bearer.Reveal(), "client": b64(c.ClientID + ":" + c.ClientSecret.Reveal()), "consumer": b64(c.ConsumerKey + ":" + c.ConsumerSecret.Reveal())}
			shown["client's token"], shown["consumer's token"] = token(c.ClientID, c.ClientSecret.Reveal()), token(c.ConsumerKey, c.ConsumerSecret.Reveal())
			for _, route := range routes {
				taken := row.ofS0
				switch route.name {
				case "schemes", "methods":
					taken = row.ofS1
				case "administration":
					taken = row.each
				}
				for _, kind := range kinds {
					req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+route.path, nil)
					require.NoError(t, err)
					req.Header.Set("Authorization", "Bearer "+shown[kind])
					resp, err := srv.Client().Do(req)
					require.NoError(t, err)
					require.NoError(t, resp.Body.Close())
					want := slices.Contains(taken, kind)
					require.Equal(t, want, resp.StatusCode != http.StatusUnauthorized, "%s with %s: %d", route.name, kind, resp.StatusCode)
				}
			}
		})
	}
}
