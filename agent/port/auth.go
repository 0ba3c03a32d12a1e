package port

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"posagent/schemes/hosted"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// maxCredential bounds an Authorization header.
const maxCredential = 4 << 10

// auth finds the client of a request, and refuses a request without one.
type auth struct {
	clients
	conns    *limiter
	reported func(address string) // is told of each request without a client's credential; nil = nothing
	log      *slog.Logger
}

// clientOf is the client whose token a request carries: alone, or as base64(name:token); nil =
// none.
func (a *auth) clientOf(r *http.Request) *client {
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
	plain, named := a.byToken(text), a.byToken(pair)
	switch {
	case plain != nil:
		return plain
	case err == nil:
		return named
	}
	return nil
}

// shown says that a request to payment links comes from a client though its parameters are not read yet: it shows a client's secret as
// a header, or comes over a connection by which a client has proven itself.
func (a *auth) shown(r *http.Request) bool {
	keys := r.Header.Values(paylinks.APIKeyHeader)
	return len(keys) == 1 && a.byToken(keys[0]) != nil || a.conns.known(r)
}

// problem answers with an error as the services of S0 do.
func (a *auth) problem(w http.ResponseWriter, r *http.Request, e *wire.Error) {
	wire.WriteProblem(w, r, a.log, e, nil)
}

// authorized lets only requests with a client's token through, at that client's pace.
func (a *auth) authorized(fail failFunc, h http.Handler) http.Handler {
	return a.known(fail, func(c *client, w http.ResponseWriter, r *http.Request) { c.paced(w, r, fail, h) })
}

// known lets only requests with a client's token through.
func (a *auth) known(fail failFunc, serve func(c *client, w http.ResponseWriter, r *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := a.clientOf(r)
		if c == nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			a.refuse(w, r, fail)
			return
		}
		a.conns.proven(r)
		serve(c, w, r)
	})
}

// refuse answers 401 before the request's body is there, at the pace of unproven requests.
func (a *auth) refuse(w http.ResponseWriter, r *http.Request, fail failFunc) {
	a.report(r)
	unread(w, r)
	throttleOf(r).wait(r.Context().Done())
	text := "this is no token of this terminal: show the one in port.token of its state directory, or your own of [port.clients]"
	if len(r.Header.Values("Authorization")) == 0 && len(r.Header.Values(hosted.KeyHeader)) == 0 {
		text = "a token is needed: show the one in port.token of the terminal's state directory, or your own of [port.clients]"
	}
	fail(w, r, wire.Errorf(wire.Unauthorized, "port", "%s", text))
}

// report tells of a request without a client's credential.
func (a *auth) report(r *http.Request) {
	if a.reported != nil {
		a.reported(r.RemoteAddr)
	}
}

// public serves what needs no token: clients at once, others at the pace of unproven requests.
func (a *auth) public(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if a.clientOf(r) == nil {
			throttleOf(r).wait(r.Context().Done())
		}
		h(w, r)
	}
}

// token answers POST /token, for clients that fetch a token before every call (OAuth 2.0 client
// credentials): any name, and its token as its secret. A multipart form is not taken apart: a
// client that sends one shows the secret by Basic.
func (a *auth) token(w http.ResponseWriter, r *http.Request) {
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
	case a.byToken(secret) == nil:
		a.report(r)
		w.Header().Set("WWW-Authenticate", "Basic")
		answer(http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	default:
		answer(http.StatusOK, map[string]any{"access_token": secret, "token_type": "Bearer", "expires_in": 3600})
	}
}
