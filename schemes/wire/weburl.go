package wire

import (
	"net"
	"net/url"
	"strings"
)

// MaxURL is the longest address of a request, in bytes.
const MaxURL = 2048

// WebURL says whether s is an address of the web: absolute, http or https, with a host and without user or password, at most
// MaxURL bytes.
func WebURL(s string) bool {
	_, ok := webURL(s)
	return ok
}

// ReturnURL returns whether s is an address a customer may be sent to: a WebURL with https, or with http to this machine.
func ReturnURL(s string) bool {
	u, ok := webURL(s)
	if !ok || u.Scheme == "https" {
		return ok
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

func webURL(s string) (*url.URL, bool) {
	if !PlainText(s, MaxURL) || strings.ContainsAny(s, " \\") {
		return nil, false
	}
	u, err := url.Parse(s)
	return u, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && u.Opaque == ""
}
