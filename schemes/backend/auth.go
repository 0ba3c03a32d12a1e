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
	creds Credentials
	db    store.Store
	now   func() time.Time
	log   *slog.Logger
}

// same compares in a time that tells nothing, not even the length. An empty want matches nothing.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// pair compares key:secret.
func (g guard) pair(text string) bool {
	consumer := same(text, g.creds.ConsumerKey+":"+g.creds.ConsumerSecret.Reveal())
	client := same(text, g.creds.ClientID+":"+g.creds.ClientSecret.Reveal())
	return consumer && g.creds.ConsumerSecret != "" || client && g.creds.ClientSecret != ""
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

// allowed says whether a request carries one of the accepted Authorization values.
func (g guard) allowed(r *http.Request) bool {
	text := bearer(r)
	if text == "" {
		return false
	}
	by := ""
	raw, err := base64.StdEncoding.DecodeString(text)
	switch {
	case same(text, g.creds.Bearer.Reveal()):
		by = "bearer"
	case g.good(text):
		by = "token"
	case err == nil && g.pair(string(raw)):
		by = "client"
	default:
		return false
	}
	wire.ServedOf(r.Context()).Proves(by)
	return true
}

// operates says whether a request is the operator's of the fleet. What a terminal shows is not accepted.
func (g guard) operates(r *http.Request) bool {
	ok := same(bearer(r), g.creds.Operator.Reveal())
	if ok {
		wire.ServedOf(r.Context()).Proves("operator")
	}
	return ok
}

// wrap lets only good requests through, and answers the others in the shape of S1's services.
func (g guard) wrap(h http.Handler) http.Handler {
	return shaped(h, g.allowed, func(w http.ResponseWriter, _ *http.Request, e *wire.Error) {
		wire.WriteFault(w, g.log, aapay.ContentType, e)
	})
}

// problem is wrap for the services of S0, whose errors are problem bodies.
func (g guard) problem(h http.Handler) http.Handler {
	return shaped(h, g.allowed, g.asProblem)
}

// operator is problem for the operator of the fleet alone.
func (g guard) operator(h http.Handler) http.Handler {
	return shaped(h, g.operates, g.asProblem)
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

// issue makes a token: expiry.authentication, no row behind it.
func (g guard) issue() string {
	expires := g.now().Add(tokenLife).UnixMilli()
	return fmt.Sprintf("%d.%x", expires, g.db.MAC("backend_token", "bearer", expires))
}

func (g guard) good(token string) bool {
	left, right, ok := strings.Cut(token, ".")
	if !ok {
		return false
	}
	expires, err := strconv.ParseInt(left, 10, 64)
	if err != nil || g.now().UnixMilli() >= expires {
		return false
	}
	mac, err := hex.DecodeString(right)
	return err == nil && hmac.Equal(mac, g.db.MAC("backend_token", "bearer", expires))
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
	switch {
	case r.PostForm.Get("grant_type") != "client_credentials":
		fail(http.StatusBadRequest, "unsupported_grant_type")
	case !g.pair(id + ":" + secret):
		w.Header().Set("WWW-Authenticate", "Basic")
		fail(http.StatusUnauthorized, "invalid_client")
	default:
		_ = wire.WriteJSON(w, http.StatusOK, kind, map[string]any{ // a lost connection has no reader
			"access_token": g.issue(), "token_type": "Bearer", "expires_in": int(tokenLife / time.Second),
		})
	}
}
