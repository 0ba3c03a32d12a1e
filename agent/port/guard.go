package port

import (
	"net"
	"net/http"
	"strings"

	"posagent/schemes/wire"
)

// PayPath is where the pages of stored payments are. They need no token but the payment's id, which
// cannot be guessed.
const PayPath = "/pay/"

// PagePath is the page that the terminal shows to people, PersonPath is below which a person who is
// logged in has it.
const (
	PagePath   = "/"
	PersonPath = "/person/"
)

// Guard refuses what a web page could send: a foreign Host (DNS rebinding), or any sign of a
// browser but where it reads a page, or sends the form of the terminal's own page. addr is the
// listening address; the names allowed are its own IP and, on loopback, localhost.
func Guard(addr net.Addr, next http.Handler) http.Handler {
	hosts := allowed(addr)
	own := "this port answers to its own address only: http://" + addr.String()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		why := ""
		page := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, PayPath) || ofPerson(r) || ofDisplay(r)
		for _, h := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
			if _, there := r.Header[h]; there && !page {
				why = "this port is closed to web pages: leave the header " + h + " out"
			}
		}
		if !hosts[strings.ToLower(r.Host)] {
			why = own
		}
		if len(r.TransferEncoding) > 0 { // it may have named a length as well, and then what follows is not known
			w.Header().Set("Connection", "close")
		}
		if why != "" {
			unread(w, r)
			if path := r.URL.Path; path == PagePath || path == DisplayPath || strings.HasPrefix(path, PersonPath) || strings.HasPrefix(path, PayPath) { // read by people
				http.Error(w, why, http.StatusForbidden)
				return
			}
			wire.WriteProblem(w, r, nil, wire.Errorf(wire.Forbidden, "port", "%s", why), nil)
			return
		}
		next.ServeHTTP(w, r.WithContext(wire.WithTrace(r.Context(), wire.TraceFrom(r.Header))))
	})
}

// ofPerson says that a person's browser asks for one of the terminal's pages as a document of its
// own, or sends a page's own form. No other page may lead here, frame it or read it.
func ofPerson(r *http.Request) bool {
	if r.URL.Path != PagePath && !strings.HasPrefix(r.URL.Path, PersonPath) {
		return false
	}
	from := r.Header["Referer"]
	return fromOwnPage(r) && asks(r, "navigate", "document") && (from == nil || only(from, "http://"+r.Host+PagePath))
}

// ofDisplay says that a browser asks for the customer's screen as a document of its own, or that the
// page itself, its script or its form asks.
func ofDisplay(r *http.Request) bool {
	if r.Header["Referer"] != nil || !fromOwnPage(r) {
		return false
	}
	script := asks(r, "cors", "empty") && !only(r.Header["Sec-Fetch-Site"], "none")
	switch r.URL.Path {
	case DisplayPath:
		return script || asks(r, "navigate", "document")
	case displayEvents:
		return script && r.Method == http.MethodGet
	}
	return false
}

// fromOwnPage says that a GET comes from no page or one of the port's own, and a POST from the form
// of one of its own.
func fromOwnPage(r *http.Request) bool {
	site, origin := r.Header["Sec-Fetch-Site"], r.Header["Origin"]
	switch r.Method {
	case http.MethodGet:
		return origin == nil && (site == nil || only(site, "none") || only(site, "same-origin"))
	case http.MethodPost: // a browser that does not say where a form comes from is refused; the page's policy makes Origin null
		return only(site, "same-origin") && (only(origin, "null") || only(origin, "http://"+r.Host))
	}
	return false
}

// asks says that a browser asks in a mode for a kind of thing, where it says so.
func asks(r *http.Request, mode, dest string) bool {
	m, d := r.Header["Sec-Fetch-Mode"], r.Header["Sec-Fetch-Dest"]
	return (m == nil || only(m, mode)) && (d == nil || only(d, dest))
}

// only says that a header has one value, and it is this one.
func only(values []string, want string) bool { return len(values) == 1 && values[0] == want }

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
