package wire

import (
	"net/url"
	"strings"
)

// MaxURL is the longest address of a request, in bytes.
const MaxURL = 2048

// WebURL says whether s is an address a browser may be sent to: absolute, http or https, with a host and without user
// or password, at most MaxURL bytes.
func WebURL(s string) bool {
	if !PlainText(s, MaxURL) || strings.ContainsAny(s, " \\") {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && u.Opaque == ""
}
