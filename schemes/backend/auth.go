package backend

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/hosted"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// tokenLife is how long a token of the token route is good.
const tokenLife = time.Hour

// guard checks credentials.
type guard struct {
	creds  Credentials
	strict bool
	db     store.Store
	now    func() time.Time
	log    *slog.Logger
}

// same compares in a time that tells nothing, not even the length. An empty want matches nothing.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// kind is a kind of credentials that an Authorization header shows.
type kind string

const (
	byBearer   kind = "bearer"   // S0 5
	byClient   kind = "client"   // S0 5: for a token, or as they are
	byConsumer kind = "consumer" // S1 5
)

// own says whether credentials of a kind are set to a value of one's own. The printed ones are the same everywhere, and say
// nothing about who configured what.
func (c Credentials) own(k kind) bool {
	printed := DemoCredentials()
	switch k {
	case byBearer:
		return c.Bearer != "" && c.Bearer != printed.Bearer
	case byClient:
		return c.ClientSecret != "" && c.ClientSecret != printed.ClientSecret
	case byConsumer:
		return c.ConsumerSecret != "" && c.ConsumerSecret != printed.ConsumerSecret
	}
	return false
}

// pairOf returns the key:secret of a kind, "" where it is switched off.
func (g guard) pairOf(k kind) string {
	switch {
	case k == byConsumer && g.creds.ConsumerSecret != "":
		return g.creds.ConsumerKey + ":" + g.creds.ConsumerSecret.Reveal()
	case k == byClient && g.creds.ClientSecret != "":
		return g.creds.ClientID + ":" + g.creds.ClientSecret.Reveal()
	}
	return ""
}

// pair returns the kinds that a key:secret is of: both where both are set alike, none where it is wrong.
func (g guard) pair(text string) (kinds []kind) {
	for _, k := range []kind{byClient, byConsumer} {
		if same(text, g.pairOf(k)) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

const maxCredential = 4 << 10

// bearer returns the text of a request's one Authorization value of that scheme, "" where it has none.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 || len(values[0]) > maxCredential {
		return ""
	}
	scheme, text, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return text
}

// shown returns the kinds of the credentials that a request's Authorization value is of, none where it is wrong. by is how it
// shows them.
func (g guard) shown(r *http.Request) (kinds []kind, by string) {
	text := bearer(r)
	if text == "" {
		return nil, ""
	}
	if same(text, g.creds.Bearer.Reveal()) {
		return []kind{byBearer}, "bearer"
	}
	if kinds = g.good(text); kinds != nil {
		return kinds, "token"
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, ""
	}
	return g.pair(string(raw)), "client"
}

// allowed says whether a request carries one of the accepted Authorization values, of whatever kind.
func (g guard) allowed(r *http.Request) bool { return g.takes()(r) }

// takes says whether a request carries credentials of a service's own kinds, where the guard is strict and one of these is set to a
// value of one's own; else those of every kind are taken.
func (g guard) takes(kinds ...kind) func(*http.Request) bool {
	strict := g.strict && slices.ContainsFunc(kinds, g.creds.own)
	return func(r *http.Request) bool {
		shown, by := g.shown(r)
		own := func(k kind) bool { return slices.Contains(kinds, k) }
		if len(shown) == 0 || strict && !slices.ContainsFunc(shown, own) {
			return false
		}
		wire.ServedOf(r.Context()).Proves(by)
		return true
	}
}

// operates says whether a request is the operator's of the fleet. What a terminal shows is not accepted.
func (g guard) operates(r *http.Request) bool {
	ok := same(bearer(r), g.creds.Operator.Reveal())
	if ok {
		wire.ServedOf(r.Context()).Proves("operator")
	}
	return ok
}

// wrap lets only requests with the credentials of S1 5 through, and answers the others in the shape of S1's services.
func (g guard) wrap(h http.Handler) http.Handler { return shaped(h, g.takes(byConsumer), g.asFault) }

// own is wrap for the backend's own routes, which take credentials of every kind.
func (g guard) own(h http.Handler) http.Handler { return shaped(h, g.allowed, g.asFault) }

// problem is wrap for the services of S0 and the disputes, whose errors are problem bodies.
func (g guard) problem(h http.Handler) http.Handler {
	return shaped(h, g.takes(byBearer, byClient), g.asProblem)
}

// operator is problem for the operator of the fleet alone.
func (g guard) operator(h http.Handler) http.Handler {
	return shaped(h, g.operates, g.asProblem)
}

func (g guard) asFault(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
	wire.WriteFault(w, g.log, aapay.ContentType, e)
}

func (g guard) asProblem(w http.ResponseWriter, r *http.Request, e *wire.Error) {
	wire.WriteProblem(w, r, g.log, e, nil)
}

// shaped lets only requests through that allowed takes, and none of a browser; fail answers the others.
func shaped(h http.Handler, allowed func(*http.Request) bool, fail func(http.ResponseWriter, *http.Request, *wire.Error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
			fail(w, r, wire.Errorf(wire.Forbidden, "", "not for browsers"))
		case !allowed(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, r, wire.Errorf(wire.Unauthorized, "", "operation not allowed"))
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// keyed lets only requests with the X-API-KEY of hosted build through.
func (g guard) keyed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header.Values(hosted.KeyHeader)
		switch {
		case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
			hosted.WriteError(w, g.log, wire.Errorf(wire.Forbidden, "", "not for browsers"))
		case len(values) != 1 || len(values[0]) > maxCredential || !same(values[0], g.creds.APIKey.Reveal()):
			hosted.WriteError(w, g.log, wire.Errorf(wire.Unauthorized, "", "operation not allowed"))
		default:
			wire.ServedOf(r.Context()).Proves("api-key")
			h.ServeHTTP(w, r)
		}
	})
}

// addressed lets only requests through whose Host is an address, localhost, or a name of the backend. A web page whose name was
// made to mean this machine (DNS rebinding) shows its own name, and gets 421.
func addressed(cfg Config, next http.HandlerFunc) http.Handler {
	own := []string{"localhost"}
	if u, err := url.Parse(cfg.PublicURL); err == nil {
		own = append(own, u.Hostname())
	}
	own = append(own, cfg.Hosts...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		named := slices.ContainsFunc(own, func(s string) bool { return strings.EqualFold(s, host) })
		if !named && net.ParseIP(host) == nil {
			http.Error(w, "this backend answers to its own addresses and names only; [backend] hosts names more", http.StatusMisdirectedRequest)
			return
		}
		next(w, r)
	})
}

// signed keeps browsers from payment links; the signature lies in the parameters, and their Handler checks it.
func (g guard) signed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "" {
			_ = wire.WriteJSON(w, http.StatusForbidden, paylinks.ContentType, map[string]string{ // a lost connection has no reader
				"status": "error", "message": "An error occurred: not for browsers",
			})
			return
		}
		h.ServeHTTP(w, r)
	})
}

// secret gives the secret of a payment-link account.
func (g guard) secret(instance string) (wire.Secret, error) {
	if !same(instance, g.creds.Instance) {
		return "", nil
	}
	return g.creds.Secret, nil
}

// issue makes a token for credentials of a kind: expiry.authentication, no row behind it.
func (g guard) issue(k kind) string {
	expires := g.now().Add(tokenLife).UnixMilli()
	return fmt.Sprintf("%d.%x", expires, g.tokenMAC(k, expires))
}

// tokenMAC authenticates a token. It ends with the pair that fetched it: a secret that was changed, because others have it perhaps, leaves
// them no token.
func (g guard) tokenMAC(k kind, expires int64) []byte {
	return g.db.MAC("backend_token", string(k), g.pairOf(k), expires)
}

// good returns the kinds of the credentials that a token was issued for, none where it is no good one.
func (g guard) good(token string) []kind {
	left, right, ok := strings.Cut(token, ".")
	if !ok {
		return nil
	}
	expires, err := strconv.ParseInt(left, 10, 64)
	if err != nil || g.now().UnixMilli() >= expires {
		return nil
	}
	mac, err := hex.DecodeString(right)
	if err != nil {
		return nil
	}
	for _, k := range []kind{byClient, byConsumer} {
		if hmac.Equal(mac, g.tokenMAC(k, expires)) {
			return g.pair(g.pairOf(k))
		}
	}
	return nil
}

// token answers POST /token: OAuth 2.0 client credentials.
func (g guard) token(w http.ResponseWriter, r *http.Request) {
	const kind = "application/json"
	wire.ServedOf(r.Context()).Names("backend.token")
	fail := func(status int, code string) {
		_ = wire.WriteJSON(w, status, kind, map[string]string{"error": code}) // a lost connection has no reader
	}
	if r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "" {
		fail(http.StatusForbidden, "access_denied")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil:
		err = fmt.Errorf("content type: %w", err)
	case r.Header.Get("Content-Encoding") != "":
		err = errors.New("an encoded body")
	case media == "multipart/form-data":
		err = r.ParseMultipartForm(16 << 10)
	case media == "application/x-www-form-urlencoded":
		err = r.ParseForm()
	default:
		err = fmt.Errorf("content type %s", media)
	}
	for _, values := range r.PostForm {
		if len(values) > 1 { // RFC 6749 3.2
			err = errors.New("a parameter given twice")
		}
	}
	if err != nil {
		fail(http.StatusBadRequest, "invalid_request")
		return
	}
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	kinds := g.pair(id + ":" + secret)
	switch {
	case r.PostForm.Get("grant_type") != "client_credentials":
		fail(http.StatusBadRequest, "unsupported_grant_type")
	case len(kinds) == 0:
		w.Header().Set("WWW-Authenticate", "Basic")
		fail(http.StatusUnauthorized, "invalid_client")
	default:
		_ = wire.WriteJSON(w, http.StatusOK, kind, map[string]any{ // a lost connection has no reader
			"access_token": g.issue(kinds[0]), "token_type": "Bearer", "expires_in": int(tokenLife / time.Second),
		})
	}
}
