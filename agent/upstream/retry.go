package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"posagent/schemes/wire"
)

const (
	repeats       = 2               // after the first try
	maxRetryAfter = 5 * time.Second // of a repeat within one call; longer waits belong to the outbox
)

// call is what the policies know about a request.
type call struct {
	repeatable bool
	fresh      bool // a 401 is followed by one try with a fresh token
	final      bool // a reply is, whatever it says
	lost       bool // a try of a write before the last one may have arrived
}

type callKey struct{}

// repeatable makes a request that can be sent again. A large body is read anew each time; the library would keep it in memory.
func repeatable(req *http.Request) (*retryablehttp.Request, error) {
	if req.GetBody == nil || req.ContentLength <= wire.MaxRequest {
		return retryablehttp.FromRequest(req)
	}
	length, again := req.ContentLength, req.GetBody
	_ = req.Body.Close() // nothing was read
	req.Body = nil
	rr, err := retryablehttp.FromRequest(req)
	if err == nil {
		err = rr.SetBody(retryablehttp.ReaderFunc(func() (io.Reader, error) { return again() }))
		rr.ContentLength = length
	}
	return rr, err
}

// checkRetry is the repeat policy: only what may be repeated, only what a repeat may cure.
func checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil || !c.repeatable || ctx.Err() != nil || err == nil && c.final {
		return false, nil
	}
	var op *net.OpError
	if err != nil && (!errors.As(err, &op) || op.Op != "dial" && op.Op != "proxyconnect") {
		c.lost = true
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < time.Second {
		return false, nil
	}
	if err != nil {
		var cert *tls.CertificateVerificationError
		return !errors.Is(err, ErrRedirect) && !errors.Is(err, errPin) && !errors.Is(err, errWeak) && !errors.As(err, &cert), nil
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return wire.RetryAfter(resp.Header) <= maxRetryAfter, nil
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout, http.StatusTooEarly:
		return true, nil
	}
	return false, nil
}

// backoff is the pause before a repeat: doubling, spread, or what the backend asks for.
func backoff(low, high time.Duration, attempt int, resp *http.Response) time.Duration {
	wait := min(low<<attempt, high)
	wait = wait/2 + rand.N(wait/2+1)
	if resp != nil {
		wait = max(wait, min(wire.RetryAfter(resp.Header), high))
	}
	return wait
}
