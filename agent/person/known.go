package person

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// knownName is the cookie of a browser in which the PIN was entered before. It lets no one in: it gives the browser a lock of its own.
const (
	knownName = "posagent_known"
	knownFor  = 400 * 24 * time.Hour // browsers keep none longer
)

// proof proves a browser's word. Its key is the stored hash, so a new PIN ends all, and nothing has to be kept.
func (p PIN) proof(word string) string {
	h := hmac.New(sha256.New, p.hash)
	h.Write([]byte("posagent known browser " + word)) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// visitorOf is who sent a request, as the stored PIN knows it.
func (p PIN) visitorOf(r *http.Request) visitor {
	v := visitor{address: network(r.RemoteAddr)}
	if cookie, err := r.Cookie(knownName); err == nil && len(p.hash) > 0 {
		if word, proof, _ := strings.Cut(cookie.Value, "."); hmac.Equal([]byte(proof), []byte(p.proof(word))) {
			v.browser = word
		}
	}
	return v
}

// setKnown makes a browser known by its word, or a new one.
func (p PIN) setKnown(w http.ResponseWriter, word string) {
	if word == "" {
		word = rand.Text()
	}
	http.SetCookie(w, &http.Cookie{
		Name: knownName, Value: word + "." + p.proof(word), Path: "/", MaxAge: int(knownFor / time.Second), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// network is the part of an address that one visitor has: all of loopback, an IPv4 address, or the first 64 bits of an IPv6 one.
func network(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return "other"
	}
	switch a = a.Unmap().WithZone(""); {
	case a.IsLoopback():
		return "loopback"
	case a.Is6():
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}
