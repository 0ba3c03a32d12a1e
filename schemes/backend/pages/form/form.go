package form

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/wire"
	"posagent/store"
)

// Field is the name of the hidden field that carries the token.
const Field = "token"

// life is how long a form may lie open in a browser.
const life = 30 * time.Minute

// maxBody bounds a posted form in bytes.
const maxBody = 64 << 10

const (
	opForm = "form"
	table  = "form_token"
)

// Schema is the table of spent tokens, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "form/1 tokens", SQL: `
CREATE TABLE form_token (
	nonce TEXT PRIMARY KEY,
	expires_ms INTEGER NOT NULL
) STRICT;`}}
}

// Guard makes tokens and takes forms.
type Guard struct {
	db     store.DB
	origin string
	now    func() time.Time
}

// New makes a Guard of the pages below publicURL; now must not be nil.
func New(db store.DB, publicURL string, now func() time.Time) *Guard {
	g := &Guard{db: db, now: now}
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		g.origin = u.Scheme + "://" + u.Host
	}
	return g
}

// Token makes the token of a form about subject. Making one stores nothing; spending one does.
func (g *Guard) Token(subject string) string { return g.TokenShowing(subject, 0) }

// TokenShowing is Token for a form that asks about one attempt among several: Slip.Shown gives its number back, so that the
// act can compare, in its commit, what it is about to do with what the customer was shown.
func (g *Guard) TokenShowing(subject string, attempt int64) string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	nonce, expires := hex.EncodeToString(raw), g.now().Add(life).UnixMilli()
	return fmt.Sprintf("%s.%d.%d.%x", nonce, expires, attempt, g.db.MAC(table, subject, nonce, expires, attempt))
}

// Slip is a form that was taken and whose token is not spent yet.
type Slip struct {
	Shown        int64  // the attempt that the form was about, 0 = the form names none
	nonce        string // the only part of a token that has one spelling
	expires, now int64
}

// Take reads a posted form: its origin must be ours exactly and its token fresh and made for subject. The fields are in
// r.PostForm. The error is wire.Forbidden; it says nothing about the form.
func (g *Guard) Take(w http.ResponseWriter, r *http.Request, subject string) (Slip, error) {
	refused := wire.Errorf(wire.Forbidden, opForm, "not our form")
	origins, site := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Site")
	if g.origin == "" || len(origins) != 1 || origins[0] != g.origin || site != "" && site != "same-origin" {
		return Slip{}, refused
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil || len(r.PostForm[Field]) != 1 {
		return Slip{}, refused
	}
	parts := strings.Split(r.PostForm.Get(Field), ".")
	if len(parts) != 4 {
		return Slip{}, refused
	}
	s := Slip{nonce: parts[0], now: g.now().UnixMilli()}
	var err error
	if s.expires, err = strconv.ParseInt(parts[1], 10, 64); err != nil || s.now >= s.expires {
		return Slip{}, refused
	}
	if s.Shown, err = strconv.ParseInt(parts[2], 10, 64); err != nil {
		return Slip{}, refused
	}
	mac, err := hex.DecodeString(parts[3])
	if err != nil || !hmac.Equal(mac, g.db.MAC(table, subject, s.nonce, s.expires, s.Shown)) {
		return Slip{}, refused
	}
	return s, nil
}

// Spend uses the form up, in the commit of its act. It answers wire.Forbidden when that was done before.
func (s Slip) Spend(tx store.Tx) error {
	if _, err := tx.Exec(`DELETE FROM form_token WHERE expires_ms <= ?`, s.now); err != nil {
		return fmt.Errorf("forget form tokens: %w", err)
	}
	var n int64
	if err := tx.QueryRow(`SELECT COUNT(*) FROM form_token WHERE nonce = ?`, s.nonce).Scan(&n); err != nil {
		return fmt.Errorf("read form token: %w", err)
	}
	if n > 0 {
		return wire.Errorf(wire.Forbidden, opForm, "the form was sent before")
	}
	if _, err := tx.Exec(`INSERT INTO form_token (nonce, expires_ms) VALUES (?, ?)`, s.nonce, s.expires); err != nil {
		return fmt.Errorf("spend form token: %w", err)
	}
	return nil
}
