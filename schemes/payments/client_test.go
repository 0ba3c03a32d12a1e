package payments_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/schemes/wire/wiretest"
)

type doer func(*http.Request) (*http.Response, error)

func (f doer) Do(req *http.Request) (*http.Response, error) { return f(req) }

// failed makes every call over d.
func failed(t *testing.T, d wire.Doer, write, read wire.Code) {
	t.Helper()
	each(t, &payments.Client{BaseURL: "http://gateway.example", Doer: d}, wire.NewKey(), func(op string, err error) {
		want := write
		if op == "read" {
			want = read
		}
		require.Equal(t, want, wire.CodeOf(err), "%s: %v", op, err)
	})
}

func TestWhatWasProvablyNotSent(t *testing.T) {
	t.Run("a dial error", func(t *testing.T) {
		failed(t, doer(func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		}), wire.Unavailable, wire.Unavailable)
	})
	t.Run("any other error", func(t *testing.T) {
		failed(t, doer(func(*http.Request) (*http.Response, error) { return nil, errors.New("broken") }), wire.UnknownOutcome, wire.Unavailable)
	})
	t.Run("a Doer's own code", func(t *testing.T) {
		failed(t, doer(func(*http.Request) (*http.Response, error) {
			return nil, wire.Errorf(wire.Unavailable, "", "circuit open")
		}), wire.Unavailable, wire.Unavailable)
	})
	t.Run("sent, and the line broke", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the request arrived whole; what is in it does not matter
			panic(http.ErrAbortHandler)
		}))
		defer srv.Close()
		each(t, &payments.Client{BaseURL: srv.URL, Doer: srv.Client()}, wire.NewKey(), func(op string, err error) {
			want := wire.UnknownOutcome
			if op == "read" {
				want = wire.Unavailable
			}
			require.Equal(t, want, wire.CodeOf(err), "%s: %v", op, err)
		})
	})
	t.Run("never sent", func(t *testing.T) {
		never := doer(func(*http.Request) (*http.Response, error) {
			t.Error("sent")
			return nil, io.EOF
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := &payments.Client{BaseURL: "http://gateway.example", Doer: never}
		_, err := c.Create(ctx, "", *good())
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.ErrorIs(t, err, context.Canceled)
		for _, key := range []wire.Key{"a b", "ü"} {
			_, err = c.Capture(t.Context(), key, "P1", payments.CaptureRequest{})
			require.Equal(t, wire.Invalid, wire.CodeOf(err))
		}
		for _, id := range []string{"", "..", "a\x00"} {
			_, err = c.Refund(t.Context(), "", id, payments.RefundRequest{})
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q", id)
			_, err = c.Read(t.Context(), id)
			require.Equal(t, wire.Invalid, wire.CodeOf(err), "%q", id)
		}
		c.BaseURL = "http://a b"
		each(t, c, "", func(_ string, err error) { require.Equal(t, wire.Unavailable, wire.CodeOf(err)) })
	})
}

func TestHandlerKnowsItsPaths(t *testing.T) {
	for path, want := range map[string]bool{"/api/v1/Payments/": true, "/api/v1/payments/P1/Capture": true, "/api/v1/tokens": false, "/api/v1/paymentsx": false} {
		require.Equal(t, want, payments.Is(httptest.NewRequest(http.MethodGet, path, nil)), path)
	}
}

// TestOddIDs: ids travel whole, whatever they are made of.
func TestOddIDs(t *testing.T) {
	for _, id := range []string{"a/b", "%2f", "ä ö", "a?b#c", "１", "1;2", "CAPTURE", "a+b"} {
		svc := &scripted{t: t, want: call{Op: "cancel", Key: "k", ID: id, Cancel: &payments.CancelRequest{}},
			give: result{Done: &payments.Done{PaymentID: id, TransactionRef: "T1"}}}
		c := &payments.Client{BaseURL: "http://gateway.example/", Doer: wiretest.Direct(payments.Handler(svc, payments.HandlerOptions{}))}
		d, err := c.Cancel(t.Context(), "k", id, payments.CancelRequest{})
		require.NoError(t, err, id)
		require.Equal(t, id, d.PaymentID)
	}
}
