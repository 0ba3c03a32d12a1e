package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire"
)

// TestField_U3FaultsByTheirErrors: errors that no test can make a network give are told apart by their kind.
func TestField_U3FaultsByTheirErrors(t *testing.T) {
	dial := func(err error) error {
		return &wire.Error{Code: wire.Unavailable, Err: &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}}
	}
	for name, tc := range map[string]struct {
		err  error
		want Kind
	}{
		"no error":                 {nil, ""},
		"another kind of error":    {errors.New("what"), ""},
		"name service down":        {dial(&net.DNSError{Err: "i/o timeout", Name: "a", IsTimeout: true}), NameService},
		"name service unreachable": {dial(&net.DNSError{Err: "dial udp: connect: network is unreachable", Name: "a", IsTemporary: true}), NameService},
		"no such name":             {dial(&net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}), NoName},
		"network down":             {dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), NoRoute},
		"host away":                {dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), NoRoute},
		"refused":                  {dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), Refused},
		"connecting takes long":    {dial(os.ErrDeadlineExceeded), Stall},
		"no answer":                {&url.Error{Op: "Get", Err: context.DeadlineExceeded}, Stall},
		"reset":                    {&url.Error{Op: "Get", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, Broken},
		"closed":                   {&url.Error{Op: "Get", Err: io.EOF}, Broken},
		"cut body":                 {fmt.Errorf("x: %w", io.ErrUnexpectedEOF), Broken},
		"proxy away":               {&url.Error{Op: "Get", Err: &net.OpError{Op: "proxyconnect", Net: "tcp", Err: dial(syscall.ECONNREFUSED)}}, ProxyDown},
		"SOCKS login":              {&net.OpError{Op: "socks connect", Err: errors.New("username/password authentication failed")}, ProxyLogin},
		"proxy forbids":            {&url.Error{Op: "Get", Err: proxyError(403)}, ProxyRefuses},
		"proxy wants a login":      {&url.Error{Op: "Get", Err: proxyError(407)}, ProxyLogin},
		"unknown authority":        {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, Untrusted},
		"expired":                  {&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, Expired},
		"for another purpose":      {&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.IncompatibleUsage}}, BadTLS},
		"another host's":           {&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: "a"}}, WrongName},
		"no pinned key":            {&url.Error{Op: "Get", Err: errPin}, WrongPin},
		"a short RSA key":          {&url.Error{Op: "Get", Err: errWeak}, WeakKey},
		"the peer refuses TLS":     {&url.Error{Op: "Get", Err: &net.OpError{Op: "remote error", Err: tls.AlertError(40)}}, BadTLS},
		"no TLS at all":            {&url.Error{Op: "Get", Err: tls.RecordHeaderError{Msg: "tls: first record does not look like a TLS handshake"}}, BadTLS},
		"HTTP without TLS":         {&url.Error{Op: "Get", Err: http.ErrSchemeMismatch}, BadTLS},
		"token refused":            {wire.Errorf(wire.Unauthorized, "", "no"), Credentials},
		"token service fails":      {&wire.Error{Code: wire.Unavailable, Err: statusError(502)}, Failing},
		"token service not there":  {&wire.Error{Code: wire.Unavailable, Err: statusError(404)}, NoService},
		"a page for a token":       {&wire.Error{Code: wire.Unavailable, Err: errPage}, Portal},
		"redirect":                 {&url.Error{Op: "Get", Err: ErrRedirect}, Portal},
	} {
		kind, detail := FaultOf(tc.err)
		require.Equal(t, tc.want, kind, name)
		require.NotContains(t, detail, ": ", name)
	}
}

// TestField_U3FaultsByTheirReplies: a reply is a fault where it is not the service's own word.
func TestField_U3FaultsByTheirReplies(t *testing.T) {
	const own, page = "application/json;charset=utf-8", "text/html"
	for _, tc := range []struct {
		status int
		typ    string
		want   Kind
	}{
		{200, own, ""}, {201, own, ""}, {202, own, ""}, {200, page, Portal}, {200, "", ""}, {400, page, ""}, {401, own, Credentials}, {403, own, Credentials},
		{404, own, ""}, {404, "application/problem+json", ""}, {404, page, NoService}, {407, page, ProxyLogin}, {409, own, ""}, {429, own, TooMany},
		{500, own, Failing}, {503, page, Failing}, {511, page, Portal},
	} {
		kind, _ := FaultOfReply(&http.Response{StatusCode: tc.status, Header: http.Header{"Content-Type": {tc.typ}}})
		require.Equal(t, tc.want, kind, "%d %s", tc.status, tc.typ)
	}
}

// A fault keeps its beginning while it lasts, and is gone with the first good answer. The caller's own wish to stop is none.
func TestFaultLastsUntilAGoodAnswer(t *testing.T) {
	status := 500
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	c := client(t, srv.URL, nil)
	require.Nil(t, c.Fault())
	_, err := exchange(t, c, "GET", srv.URL, "", "")
	require.NoError(t, err)
	first := c.Fault()
	require.Equal(t, Failing, first.Kind)
	require.Equal(t, "reply 500", first.Detail)
	_, err = exchange(t, c, "GET", srv.URL, "", "")
	require.NoError(t, err)
	require.Equal(t, first.Since, c.Fault().Since)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", srv.URL, strings.NewReader("x"))
	require.NoError(t, err)
	_, err = c.Do(req)
	require.Error(t, err)
	require.Equal(t, Failing, c.Fault().Kind)

	status = 204
	_, err = exchange(t, c, "GET", srv.URL, "", "")
	require.NoError(t, err)
	require.Nil(t, c.Fault())
}

// A question about nothing proves the way by any 404, and is not disturbed by a service that fails on it.
func TestField_U2AQuestionProvesTheWayAlone(t *testing.T) {
	status, typ := 404, "text/html"
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", typ)
		w.WriteHeader(status)
	})
	c := client(t, srv.URL, nil)
	ask := func(ctx context.Context) {
		req, err := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
		require.NoError(t, err)
		resp, err := c.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	for _, tc := range []struct {
		status int
		typ    string
		want   Kind // "" = none, after a call that met a 404 of no service
	}{
		{404, "text/html", ""}, {404, "application/json", ""}, {400, "application/json", ""}, {401, "application/json", Credentials}, {200, "text/html", Portal},
		{500, "text/plain", NoService}, {429, "text/plain", NoService},
	} {
		status, typ = 404, "text/html"
		ask(t.Context())
		require.Equal(t, NoService, c.Fault().Kind)
		status, typ = tc.status, tc.typ
		ask(Question(t.Context()))
		if tc.want == "" {
			require.Nil(t, c.Fault(), tc.status)
			continue
		}
		require.Equal(t, tc.want, c.Fault().Kind, tc.status)
	}
}
