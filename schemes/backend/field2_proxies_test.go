package backend

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_G5TheAddressBehindAProxy: behind a trusted proxy each caller has its own address, so the wrong codes of one are not those
// of all. A caller gives itself no other address by the header, and a proxy that is not named is a caller.
func TestField2_G5TheAddressBehindAProxy(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8::/64")}
	for name, tc := range map[string]struct {
		peer string
		said []string
		want string
	}{
		"one proxy":                 {"10.0.0.5:4000", []string{"192.0.2.7"}, "192.0.2.7:4000"},
		"two proxies":               {"10.0.0.5:4000", []string{"192.0.2.7, 10.1.2.3"}, "192.0.2.7:4000"},
		"two headers":               {"10.0.0.5:4000", []string{"192.0.2.7", "10.1.2.3"}, "192.0.2.7:4000"},
		"a caller's own word":       {"10.0.0.5:4000", []string{"10.1.9.9, 198.51.100.1, 192.0.2.7"}, "192.0.2.7:4000"},
		"with a port":               {"10.0.0.5:4000", []string{"192.0.2.7:55123"}, "192.0.2.7:4000"},
		"IPv6":                      {"[2001:db8::1]:4000", []string{"[2001:db8:1::7]:9"}, "[2001:db8:1::7]:4000"},
		"IPv4 in IPv6":              {"[::ffff:10.0.0.5]:4000", []string{"::ffff:192.0.2.7"}, "192.0.2.7:4000"},
		"no header":                 {"10.0.0.5:4000", nil, "10.0.0.5:4000"},
		"an address that is none":   {"10.0.0.5:4000", []string{"192.0.2.7, unknown"}, "10.0.0.5:4000"},
		"a stranger with a header":  {"192.0.2.9:4000", []string{"192.0.2.7"}, "192.0.2.9:4000"},
		"a proxy that is not named": {"10.0.0.6:4000", []string{"192.0.2.7"}, "10.0.0.6:4000"},
		"in process":                {"pipe", []string{"192.0.2.7"}, "pipe"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			h := forwarded(proxies, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr }))
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr, r.Header["X-Forwarded-For"] = tc.peer, tc.said
			h.ServeHTTP(httptest.NewRecorder(), r)
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.peer, r.RemoteAddr, "the caller's request is its own")
		})
	}
}
