package port

import (
	"net"
	"net/http"
	"strings"
)

// PayPath is where the pages of stored payments are. They need no token but the payment's id, which
// cannot be guessed.
const PayPath = "/pay/"

// Guard refuses what a web page could send: a foreign Host (DNS rebinding), or any sign of a
// browser but where it reads a page. addr is the listening address; the names allowed are its own
// IP and, on loopback, localhost.
func Guard(addr net.Addr, next http.Handler) http.Handler {
	hosts := allowed(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		why := ""
		page := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, PayPath)
		for _, h := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
			if _, there := r.Header[h]; there && !page {
				why = "this port is closed to web pages"
			}
		}
		if !hosts[strings.ToLower(r.Host)] {
			why = "this port answers to its own address only"
		}
		if len(r.TransferEncoding) > 0 { // it may have named a length as well, and then what follows is not known
			w.Header().Set("Connection", "close")
		}
		if why != "" {
			unread(w, r)
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func allowed(addr net.Addr) map[string]bool {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	hosts := map[string]bool{net.JoinHostPort(host, port): true}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		hosts["localhost:"+port] = true
	}
	return hosts
}
