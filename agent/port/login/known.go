package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"posagent/agent/records/audit"
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
	v := visitor{address: audit.Network(r.RemoteAddr)}
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
