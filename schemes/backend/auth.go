package backend

import (
	"context"
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
	desk "posagent/schemes/backend/fleet"
	"posagent/schemes/backend/room"
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
	fleet  *desk.Fleet // nil where none may enrol
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

// anyPair is pair, and enrolledPair.
func (g guard) anyPair(ctx context.Context, text string) ([]kind, *desk.Holder, error) {
	if h, err := g.enrolledPair(ctx, text); h != nil || err != nil {
		return []kind{byConsumer}, h, err
	}
	return g.pair(text), nil, nil
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

// proof is what a request's Authorization value shows.
type proof struct {
	kinds []kind       // of the credentials, none where they are wrong
	by    string       // how they are shown
	of    *desk.Holder // the enrolment whose own they are, nil = the operator's
}

// shown reads a request's Authorization value.
func (g guard) shown(r *http.Request) (p proof, err error) {
	ctx, text := r.Context(), bearer(r)
	if text == "" {
		return p, nil
	}
	if same(text, g.creds.Bearer.Reveal()) {
		return proof{kinds: []kind{byBearer}, by: "bearer"}, nil
	}
	if h, err := g.enrolled(ctx, byBearer, text); h != nil || err != nil {
		return proof{[]kind{byBearer}, "bearer", h}, err
	}
	if kinds, h, err := g.good(ctx, text); kinds != nil || err != nil {
		return proof{kinds, "token", h}, err
	}
	raw, bad := base64.StdEncoding.DecodeString(text)
	if bad != nil {
		return p, nil
	}
	kinds, h, err := g.anyPair(ctx, string(raw))
	return proof{kinds, "client", h}, err
}

// admission lets a request through, on behalf of the merchant whose credentials it shows, or says why not.
type admission func(*http.Request) (*http.Request, error)

// admit lets a request through that carries one of the accepted Authorization values, of whatever kind.
func (g guard) admit(r *http.Request) (*http.Request, error) { return g.takes()(r) }

// takes lets requests through that carry credentials of a service's own kinds, where the guard is strict and one of these is set to a
// value of one's own; else those of every kind are taken.
func (g guard) takes(kinds ...kind) admission {
	strict := g.strict && slices.ContainsFunc(kinds, g.creds.own)
	return func(r *http.Request) (*http.Request, error) {
		p, err := g.shown(r)
		own := func(k kind) bool { return slices.Contains(kinds, k) }
		switch {
		case err != nil:
			return r, &wire.Error{Code: wire.Unavailable, Err: err}
		case len(p.kinds) == 0 || strict && !slices.ContainsFunc(p.kinds, own):
			return r, wire.Errorf(wire.Unauthorized, "", "operation not allowed")
		}
		wire.ServedOf(r.Context()).Proves(p.by)
		if p.of != nil {
			r = r.WithContext(room.As(r.Context(), caller(p.of)))
		}
		return r, nil
	}
}

// operates lets the operator of the fleet through. What a terminal shows is not accepted.
func (g guard) operates(r *http.Request) (*http.Request, error) {
	if !same(bearer(r), g.creds.Operator.Reveal()) {
		return r, wire.Errorf(wire.Unauthorized, "", "operation not allowed")
	}
	wire.ServedOf(r.Context()).Proves("operator")
	return r, nil
}

// wrap lets only requests with the credentials of S1 5 through, and answers the others in the shape of S1's services.
func (g guard) wrap(h http.Handler) http.Handler { return shaped(h, g.takes(byConsumer), g.asFault) }

// administration is wrap for what the backend does for all merchants: in a fleet it takes the operator's token alone, elsewhere
// credentials of every kind too.
func (g guard) administration(h http.Handler) http.Handler {
	return shaped(h, func(r *http.Request) (*http.Request, error) {
		if as, err := g.operates(r); err == nil || g.fleet != nil {
			return as, err
		}
		return g.admit(r)
	}, g.asFault)
}

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

// shaped lets only requests through that admit takes, and none of a browser; fail answers the others.
func shaped(h http.Handler, admit admission, fail func(http.ResponseWriter, *http.Request, *wire.Error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "" {
			fail(w, r, wire.Errorf(wire.Forbidden, "", "not for browsers"))
			return
		}
		as, err := admit(r)
		if err != nil {
			if wire.CodeOf(err) == wire.Unauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			fail(w, r, wire.AsError("", err))
			return
		}
		h.ServeHTTP(w, as)
	})
}

// keyed lets only requests with the X-API-KEY of hosted build through.
func (g guard) keyed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header.Values(hosted.KeyHeader)
		var of *desk.Holder
		var err error
		one := len(values) == 1 && len(values[0]) <= maxCredential
		if one {
			of, err = g.enrolled(r.Context(), byKey, values[0])
		}
		switch {
		case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
			hosted.WriteError(w, g.log, wire.Errorf(wire.Forbidden, "", "not for browsers"))
		case err != nil:
			hosted.WriteError(w, g.log, &wire.Error{Code: wire.Unavailable, Err: err})
		case !one || of == nil && !same(values[0], g.creds.APIKey.Reveal()):
			hosted.WriteError(w, g.log, wire.Errorf(wire.Unauthorized, "", "operation not allowed"))
		default:
			wire.ServedOf(r.Context()).Proves("api-key")
			if of != nil {
				r = r.WithContext(room.As(r.Context(), caller(of)))
			}
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

// issue makes a token for credentials of a kind: expiry.authentication, no row behind it. An enrolment's names it: expiry.id.authentication.
func (g guard) issue(k kind, of *desk.Holder) string {
	expires := g.now().Add(tokenLife).UnixMilli()
	if of != nil {
		return fmt.Sprintf("%d.%s.%x", expires, of.Enrolment, g.tokenMAC(k, of.Enrolment, expires))
	}
	return fmt.Sprintf("%d.%x", expires, g.tokenMAC(k, g.pairOf(k), expires))
}

// tokenMAC authenticates a token, which is of the pair or of the enrolment that fetched it, and ends with it.
func (g guard) tokenMAC(k kind, of string, expires int64) []byte {
	return g.db.MAC("backend_token", string(k), of, expires)
}

// good returns the kinds of the credentials that a token was issued for, none where it is no good one, and the enrolment whose own they
// are.
func (g guard) good(ctx context.Context, token string) ([]kind, *desk.Holder, error) {
	left, right, ok := strings.Cut(token, ".")
	if !ok {
		return nil, nil, nil
	}
	expires, err := strconv.ParseInt(left, 10, 64)
	if err != nil || g.now().UnixMilli() >= expires {
		return nil, nil, nil
	}
	if h, err := g.enrolledToken(ctx, expires, right); h != nil || err != nil {
		return []kind{byConsumer}, h, err
	}
	mac, err := hex.DecodeString(right)
	if err != nil {
		return nil, nil, nil
	}
	for _, k := range []kind{byClient, byConsumer} {
		if pair := g.pairOf(k); pair != "" && hmac.Equal(mac, g.tokenMAC(k, pair, expires)) {
			return g.pair(pair), nil, nil
		}
	}
	return nil, nil, nil
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
	kinds, of, bad := g.anyPair(r.Context(), id+":"+secret)
	switch {
	case bad != nil:
		fail(http.StatusServiceUnavailable, "temporarily_unavailable")
	case r.PostForm.Get("grant_type") != "client_credentials":
		fail(http.StatusBadRequest, "unsupported_grant_type")
	case len(kinds) == 0:
		w.Header().Set("WWW-Authenticate", "Basic")
		fail(http.StatusUnauthorized, "invalid_client")
	default:
		_ = wire.WriteJSON(w, http.StatusOK, kind, map[string]any{ // a lost connection has no reader
			"access_token": g.issue(kinds[0], of), "token_type": "Bearer", "expires_in": int(tokenLife / time.Second),
		})
	}
}
