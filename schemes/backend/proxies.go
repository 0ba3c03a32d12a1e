package backend

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwarded gives a request that comes through trusted proxies the address of the caller: the last one of X-Forwarded-For that is no
// trusted proxy's. What stands before it is the caller's own word, and an address that cannot be read ends the search at the
// proxy that sent it. From anywhere else the header is not looked at.
func forwarded(proxies []netip.Prefix, next http.Handler) http.Handler {
	if len(proxies) == 0 {
		return next
	}
	trusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if at := peer.Addr().Unmap(); err == nil && trusted(at) {
			hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
			for i := len(hops) - 1; i >= 0 && trusted(at); i-- {
				a, err := hop(strings.TrimSpace(hops[i]))
				if err != nil {
					break
				}
				at = a
			}
			r = r.WithContext(r.Context()) // the caller's is not changed
			r.RemoteAddr = netip.AddrPortFrom(at, peer.Port()).String()
		}
		next.ServeHTTP(w, r)
	})
}

// hop reads an entry of X-Forwarded-For: an address, which some proxies write with a port.
func hop(text string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err
}
