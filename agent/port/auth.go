package port

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// maxCredential bounds an Authorization header.
const maxCredential = 4 << 10

// same compares in a time that tells nothing, not even the length. An empty want matches nothing.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// shown is whose token a request carries: alone, or as base64(name:token); nil = nobody's.
func (a *api) shown(r *http.Request) *account {
	values := r.Header.Values("Authorization")
	if len(values) != 1 || len(values[0]) > maxCredential {
		return nil
	}
	scheme, text, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	_, pair, _ := strings.Cut(string(raw), ":")
	plain, named := a.holder(text), a.holder(pair)
	switch {
	case plain != nil:
		return plain
	case err == nil:
		return named
	}
	return nil
}

// shape answers with an error as a service does.
type shape func(w http.ResponseWriter, r *http.Request, e *wire.Error)

func (a *api) problem(w http.ResponseWriter, r *http.Request, e *wire.Error) {
	wire.WriteProblem(w, r, a.o.Log, e, nil)
}

// authorized lets only requests with a client's token through, at that client's pace.
func (a *api) authorized(fail shape, h http.Handler) http.Handler {
	return a.known(fail, func(c *account, w http.ResponseWriter, r *http.Request) { c.paced(w, r, fail, h) })
}

// known lets only requests with a client's token through.
func (a *api) known(fail shape, serve func(c *account, w http.ResponseWriter, r *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := a.shown(r)
		if c == nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			a.stranger(w, r, fail)
			return
		}
		a.conns.proven(r)
		serve(c, w, r)
	})
}

// stranger refuses a request before its body is there.
func (a *api) stranger(w http.ResponseWriter, r *http.Request, fail shape) {
	a.refused(r)
	unread(w, r)
	crowdOf(r).wait(r.Context().Done())
	text := "this is no token of this terminal: show the one in port.token of its state directory, or your own of [port.clients]"
	if len(r.Header.Values("Authorization")) == 0 && len(r.Header.Values(hosted.KeyHeader)) == 0 {
		text = "a token is needed: show the one in port.token of the terminal's state directory, or your own of [port.clients]"
	}
	fail(w, r, wire.Errorf(wire.Unauthorized, "port", "%s", text))
}

// refused tells of a request without a client's credential.
func (a *api) refused(r *http.Request) {
	if a.o.Refused != nil {
		a.o.Refused(r.RemoteAddr)
	}
}

// unread lets an answer out that the server would keep until the request's body is there: it does so where a connection goes on.
func unread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}

// token answers POST /token, for clients that fetch a token before every call (OAuth 2.0 client credentials): any name, and
// its token as its secret. A multipart form is not taken apart: who sends one shows the secret by Basic.
func (a *api) token(w http.ResponseWriter, r *http.Request) {
	data, err := wire.ReadBody(r, maxCredential)
	kind, text := r.Header.Get("Content-Type"), string(data)
	_, secret, basic := r.BasicAuth()
	good := basic && strings.HasPrefix(kind, "multipart/form-data;") && strings.Contains(text, "\r\n\r\nclient_credentials\r\n")
	if err == nil && strings.HasPrefix(kind, formBody) {
		var form url.Values
		form, err = url.ParseQuery(text)
		if good = form.Get("grant_type") == "client_credentials"; !basic {
			secret = form.Get("client_secret")
		}
	}
	answer := func(status int, v map[string]any) {
		_ = wire.WriteJSON(w, status, jsonBody, v) // a lost connection has no reader
	}
	switch {
	case err != nil || !good:
		answer(http.StatusBadRequest, map[string]any{"error": "invalid_request"})
	case a.holder(secret) == nil:
		a.refused(r)
		w.Header().Set("WWW-Authenticate", "Basic")
		answer(http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	default:
		answer(http.StatusOK, map[string]any{"access_token": secret, "token_type": "Bearer", "expires_in": 3600})
	}
}
