package aapay_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/aapay/aapaytest"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(req *http.Request) (*http.Response, error) { return f(req) }

// both makes the same failing exchange as a write and as a read.
func both(t *testing.T, d wire.Doer, write, read wire.Code) {
	t.Helper()
	c := &aapay.Client{BaseURL: "http://gateway.example", Doer: d}
	_, err := c.Initialize(t.Context(), aapay.Payment, good())
	require.Equal(t, write, wire.CodeOf(err), "%v", err)
	_, err = c.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, good())
	require.Equal(t, write, wire.CodeOf(err), "%v", err)
	_, err = c.Status(t.Context(), "ref", "")
	require.Equal(t, read, wire.CodeOf(err), "%v", err)
}

func TestWhatWasProvablyNotSent(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	t.Run("nobody listens", func(t *testing.T) {
		nobody := need.ClosedPort(t)
		client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", nobody)
		}}}
		both(t, client, wire.Unavailable, wire.Unavailable)
	})
	t.Run("sent once, then a dial error on a second attempt", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		defer srv.Close()
		both(t, doer(func(req *http.Request) (*http.Response, error) {
			again := req.Clone(req.Context())
			again.URL.Host = strings.TrimPrefix(srv.URL, "http://")
			_, err := srv.Client().Do(again)
			require.Error(t, err)
			return nil, dial
		}), wire.UnknownOutcome, wire.Unavailable)
		both(t, doer(func(req *http.Request) (*http.Response, error) {
			again := req.Clone(req.Context())
			again.URL.Host = strings.TrimPrefix(srv.URL, "http://")
			_, err := srv.Client().Do(again)
			require.Error(t, err)
			return nil, wire.Errorf(wire.Unavailable, "", "circuit open")
		}), wire.UnknownOutcome, wire.Unavailable)
	})
}

func TestWhatMayHaveBeenSent(t *testing.T) {
	serve := func(t *testing.T, h http.HandlerFunc) *http.Client {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", srv.Listener.Addr().String())
		}}}
	}
	t.Run("body cut", func(t *testing.T) {
		both(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", aapay.ContentType)
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"valid":true`)
		}), wire.UnknownOutcome, wire.Unavailable)
	})
	t.Run("endless body", func(t *testing.T) {
		both(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", aapay.ContentType)
			w.WriteHeader(map[string]int{"GET": 200, "POST": 202}[r.Method])
			_, _ = io.WriteString(w, `{"valid":true,"state":"X","x":"`+strings.Repeat("x", wire.MaxReply)+`"}`)
		}), wire.UnknownOutcome, wire.Unavailable)
	})
	t.Run("spaces without end", func(t *testing.T) {
		both(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", aapay.ContentType)
			w.WriteHeader(map[string]int{"GET": 200, "POST": 202}[r.Method])
			_, _ = io.WriteString(w, `{"valid":true,"state":"X"}`+strings.Repeat(" ", wire.MaxReply))
		}), wire.UnknownOutcome, wire.Unavailable)
	})
	t.Run("a redirect that was followed", func(t *testing.T) {
		both(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/elsewhere" {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
				return
			}
			w.Header().Set("Content-Type", aapay.ContentType)
			w.WriteHeader(map[string]int{"GET": 200, "POST": 202}[r.Method])
			_, _ = io.WriteString(w, `{"valid":true,"state":"FINALIZED","accountState":"COMMIT"}`)
		}), wire.UnknownOutcome, wire.Unavailable)
	})
}

func TestDeadlineAfterSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, far) }() // reads the request, never answers
		tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil }}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		c := &aapay.Client{BaseURL: "http://gateway.example", Doer: &http.Client{Transport: tr}}
		_, err := c.Initialize(ctx, aapay.Payment, good())
		require.Equal(t, wire.UnknownOutcome, wire.CodeOf(err), "%v", err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, far.Close())
		tr.CloseIdleConnections()
	})
}

func TestDeadlineBeforeSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{}) // a dial outlives the request that asked for it
		defer close(release)
		tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-release
			return nil, errors.New("never")
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		c := &aapay.Client{BaseURL: "http://gateway.example", Doer: &http.Client{Transport: tr}}
		_, err := c.Initialize(ctx, aapay.Payment, good())
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%v", err)
	})
}

func TestClientRefusesWhatItCannotSend(t *testing.T) {
	c := &aapay.Client{BaseURL: "http://gateway.example", Doer: doer(func(*http.Request) (*http.Response, error) {
		t.Error("sent")
		return nil, io.EOF
	})}
	_, err := c.Initialize(t.Context(), "transfer", good())
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	_, err = c.InitializeWithIdempotency(t.Context(), "", aapay.Payment, good())
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	_, err = c.InitializeWithIdempotency(t.Context(), "a b", aapay.Payment, good())
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
	for _, id := range []string{"", ".", "..", "a\x00"} {
		_, err = c.Status(t.Context(), id, "")
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q", id)
	}
}

// answering is a Service whose every initialize comes to one reply.
type answering struct {
	aapay.Service
	reply aapay.Reply
}

func (a answering) Initialize(context.Context, aapay.Type, aapay.Request) (aapay.Reply, error) {
	return a.reply, nil
}

func TestHandlerOfAContradictoryService(t *testing.T) {
	for _, status := range []int{0, 200, 400, 500} {
		svc := answering{reply: aapay.Reply{HTTPStatus: status, Valid: true}}
		c := &aapay.Client{BaseURL: "http://gateway.example", Doer: wiretest.Direct(aapay.Handler(svc, aapay.HandlerOptions{}))}
		_, err := c.Initialize(t.Context(), aapay.Payment, good())
		require.Equal(t, wire.Internal, wire.CodeOf(err))
	}
}

func TestStatusIs(t *testing.T) {
	st := aapay.Status{TransactionID: 7, NAA2ECR: &aapay.NAA2ECR{PPRef: "pp"}, Receipt: &aapay.Receipt{Reference: "ref"}}
	for _, c := range []struct {
		st          aapay.Status
		id          string
		same, known bool
	}{
		{st, "7", true, true}, {st, "pp", true, true}, {st, "ref", true, true},
		{st, "8", false, true}, {st, "other", false, false}, {st, "", false, false}, {st, "-8", false, false},
		{aapay.Status{}, "0", false, false}, {aapay.Status{}, "8", false, false}, {aapay.Status{TransactionID: 8}, "7", false, true},
	} {
		same, known := c.st.Is(c.id)
		require.Equal(t, c.same, same, c.id)
		require.Equal(t, c.known, known, c.id)
	}
}

// TestHandlerAsksOnlyWithGoodRequests: a service behind the handler never sees what the rules refuse.
func TestHandlerAsksOnlyWithGoodRequests(t *testing.T) {
	c := &aapay.Client{BaseURL: "http://gateway.example", Doer: wiretest.Direct(aapay.Handler(nil, aapay.HandlerOptions{}))}
	for _, b := range aapaytest.Broken() {
		if _, ok := aapay.ParseType(string(b.Type)); !ok {
			continue
		}
		req := good()
		b.Break(&req)
		_, err := c.Initialize(t.Context(), b.Type, req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), b.Name)
	}
}

// 404, 405 and 501 where the idempotent route should be are told apart from every other refusal,
// whatever their body, and so on the plain route. Of a read they say nothing about a route.
func TestField2_M8AMissingRouteWhateverTheBody(t *testing.T) {
	bodies := map[string]string{
		"application/json":         `{"valid":false,"error":{"message":"no such route"},"response":null}`,
		"application/problem+json": `{"title":"Not Found"}`,
		"text/html":                `<h1>404</h1>`,
		"text/plain":               "404 page not found",
		"":                         "",
	}
	for status, missing := range map[int]bool{400: false, 403: false, 404: true, 405: true, 409: false, 500: false, 501: true, 503: false} {
		for typ, body := range bodies {
			d := doer(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {typ}}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
			})
			c := &aapay.Client{BaseURL: "http://gateway.example", Doer: d}
			_, err := c.InitializeWithIdempotency(t.Context(), wire.NewKey(), aapay.Payment, good())
			require.Error(t, err)
			require.Equal(t, missing, errors.Is(err, aapay.ErrNoRoute), "%d %s", status, typ)
			_, err = c.Initialize(t.Context(), aapay.Payment, good())
			require.Equal(t, missing, errors.Is(err, aapay.ErrNoRoute), "%d %s, plain", status, typ)
			_, err = c.Status(t.Context(), "ref", "")
			require.NotErrorIs(t, err, aapay.ErrNoRoute)
		}
	}
}
