package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"posagent/schemes/wire"
)

// Client is the connection to one backend. It is a wire.Doer, safe for concurrent use.
type Client struct {
	tries   *try
	base    *url.URL
	agent   string
	timeout time.Duration
	limit   int64 // bytes of a reply
	auth    *authorizer
	retry   *retryablehttp.Client
	plain   *http.Client // one try, no credentials
	circuit *circuit
	faults  faults
	now     func() time.Time
	told    told
}

var _ wire.Doer = (*Client)(nil)

// New makes a client; it connects to nothing, but reads the files Config names.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.Base)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("upstream: the base address is not usable")
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, errors.New("upstream: http would send the credentials in clear: use https")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.TryTimeout <= 0 {
		cfg.TryTimeout = min(cfg.Timeout, max(cfg.Timeout/3, 10*time.Second))
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "posagent"
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.RetryWait <= 0 {
		cfg.RetryWait = 200 * time.Millisecond
	}
	if cfg.KeepIdle <= 0 {
		cfg.KeepIdle = 60 * time.Second
	}
	transport, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = MaxBody
	}
	if cfg.Route == nil {
		cfg.Route = func(string) string { return "" }
	}
	log := cfg.Log.With("sys", "upstream")
	tries := &try{next: transport, timeout: cfg.TryTimeout, limit: cfg.MaxBody, told: told{log, cfg.Route}}
	one := &http.Client{
		Transport:     tries,
		CheckRedirect: func(*http.Request, []*http.Request) error { return ErrRedirect },
	}
	c := &Client{
		base: base, agent: cfg.UserAgent, timeout: cfg.Timeout, limit: cfg.MaxBody, plain: one, told: told{log, cfg.Route},
		circuit: &circuit{now: cfg.Now}, now: cfg.Now, tries: tries,
		retry: &retryablehttp.Client{
			HTTPClient: one, Logger: nil, RetryMax: repeats, RetryWaitMin: cfg.RetryWait, RetryWaitMax: maxRetryAfter,
			CheckRetry: checkRetry, Backoff: backoff, ErrorHandler: retryablehttp.PassthroughErrorHandler,
		},
	}
	c.auth, err = newAuthorizer(cfg.Auth, base, c.plain, cfg.Now)
	if err != nil {
		return nil, err
	}
	c.auth = cfg.Shared.one(c.auth)
	return c, nil
}

// Time is the true time by the Date of the last reply, over the connection that the client proves: TLS, or loopback. ok is false while
// none has come.
func (c *Client) Time() (now time.Time, ok bool) {
	h := c.tries.heard.Load()
	if h == nil {
		return now, false
	}
	return h.said.Add(time.Since(h.at)), true
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Do sends one request to the backend, with credentials. A read is repeated, except in the context of wire.Once; a write leaves at most once, under a Key too: most services
// honour none, and whether a write goes again is decided above, by what is known of it. The reply's body must be closed. Errors: *wire.Error with Unavailable (circuit open, no token to be had) or Unauthorized (the token service refuses
// us), both before anything was sent; otherwise the transport's own, with its chain.
func (c *Client) Do(req *http.Request) (*http.Response, error) { return c.do(req, false) }

// Once is the Client as a wire.Doer, said where writes go out.
func (c *Client) Once() wire.Doer { return c }

// unanswered is a Client that repeats a write only where no reply came.
type unanswered struct{ c *Client }

// Do implements wire.Doer.
func (u unanswered) Do(req *http.Request) (*http.Response, error) { return u.c.do(req, true) }

// Unanswered is the client for a service that is known to honour Keys, and for callers who back off themselves: a write under a Key is
// repeated at once where its connection broke, and left to the caller where the backend answered that it cannot.
func (c *Client) Unanswered() wire.Doer { return unanswered{c} }

func (c *Client) do(req *http.Request, keyed bool) (*http.Response, error) {
	if req.URL.Scheme != c.base.Scheme || !strings.EqualFold(req.URL.Host, c.base.Host) {
		return nil, &wire.Error{Code: wire.Unavailable, Msg: "not sent", Err: ErrHost}
	}
	if wait, ok := c.circuit.enter(); !ok {
		c.told.unsent(req)
		return nil, &wire.Error{Code: wire.Unavailable, Msg: "backend not reachable lately", RetryAfter: wait}
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.timeout)
	read := req.Method == http.MethodGet || req.Method == http.MethodHead
	keyed = keyed && req.Header.Get(wire.KeyHeader) != ""
	policy := &call{repeatable: read && !wire.LeavesOnce(ctx) || keyed, fresh: read || keyed, final: !read}
	resp, err := c.authorized(context.WithValue(ctx, callKey{}, policy), req)
	c.judge(req.Context(), resp, err)
	if err == nil && policy.lost && policy.final && refuses(resp.StatusCode) {
		err = fmt.Errorf("upstream: reply %d to a repeat: %w", resp.StatusCode, ErrLost)
	}
	if err != nil {
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		cancel()
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, left: c.limit, done: cancel}
	return resp, nil
}

// refuses says that a reply is a no, or may be one: of a write it says nothing about an earlier try, whoever says it. 201 is the
// scheme service's word for "created but rejected".
func refuses(status int) bool {
	return status == http.StatusCreated || status >= http.StatusBadRequest && status < http.StatusInternalServerError || status == http.StatusNotImplemented
}

// judge tells the circuit how a call went.
func (c *Client) judge(ctx context.Context, resp *http.Response, err error) {
	var own *wire.Error
	c.fault(ctx, resp, err)
	switch {
	case errors.Is(err, errRests):
		c.circuit.leave() // nothing was asked
	case errors.As(err, &own) && own.Code == wire.Unauthorized:
		c.circuit.ok()
	case err != nil && ctx.Err() == context.Canceled:
		c.circuit.leave() // the caller's wish says nothing about the backend
	case err != nil:
		c.circuit.failed(wire.MaskPANs(err.Error())) // it names the path, and the path is the caller's
	case resp.StatusCode == http.StatusBadGateway, resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusGatewayTimeout:
		c.circuit.failed("reply " + strconv.Itoa(resp.StatusCode))
	default:
		c.circuit.ok()
	}
}

// fault notes what was wrong with a call. What ended by the caller's wish, and an error of another kind, change nothing.
func (c *Client) fault(ctx context.Context, resp *http.Response, err error) {
	if err != nil && ctx.Err() == context.Canceled {
		return
	}
	if err != nil {
		if kind, detail := FaultOf(err); kind != "" {
			c.faults.set(kind, c.before(kind, detail), c.now())
		}
		return
	}
	kind, detail := FaultOfReply(resp)
	if ctx.Value(questionKey{}) != nil {
		switch kind {
		case NoService:
			kind = ""
		case Failing, TooMany:
			return
		}
	}
	c.faults.set(kind, c.before(kind, detail), c.now())
}

// before adds to a fault that the right host has answered in this run, where another one may answer now.
func (c *Client) before(kind Kind, detail string) string {
	switch {
	case !kind.elsewhere() || !c.circuit.answered():
		return detail
	case detail == "":
		return answeredBefore
	}
	return detail + "; " + answeredBefore
}

// authorized sends with credentials, and once more with a fresh token after a 401.
func (c *Client) authorized(ctx context.Context, req *http.Request) (*http.Response, error) {
	policy, _ := ctx.Value(callKey{}).(*call)
	out := req.Clone(ctx)
	out.Header.Set("User-Agent", c.agent)
	rr, err := repeatable(out)
	if err != nil {
		return nil, fmt.Errorf("upstream: request body: %w", err)
	}
	given := out.Header.Get("Authorization") != ""
	for again := false; ; again = true {
		token := ""
		if !given {
			if token, err = c.auth.header(ctx); err != nil {
				return nil, err
			}
			if token != "" {
				rr.Header.Set("Authorization", token)
			}
		}
		resp, err := c.retry.Do(rr)
		if err != nil || resp.StatusCode != http.StatusUnauthorized || !c.auth.drop(token) || !policy.fresh || again {
			return resp, err
		}
		_, _ = io.CopyN(io.Discard, resp.Body, 4096)
		_ = resp.Body.Close()
	}
}

// Probe asks whether the backend can be reached at all: any HTTP answer from it will do. It sends no credentials, is
// not held up by the circuit, and closes it when it succeeds.
func (c *Client) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, c.base.String(), nil)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	req.Header.Set("User-Agent", c.agent)
	resp, err := c.plain.Do(req)
	if err != nil && !errors.Is(err, ErrRedirect) {
		return fmt.Errorf("probe: %w", err)
	}
	if resp != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return fmt.Errorf("probe: %w", ErrRedirect) // a captive portal answers so
	}
	c.circuit.ok()
	return nil
}

// Touch connects to the backend, or to the proxy on the way, and says nothing there: an error is of the network or of who should listen.
// It costs some hundred bytes, and changes nothing that the client tells of itself.
func (c *Client) Touch(ctx context.Context) error {
	at := c.base
	if through := c.tries.next.Proxy; through != nil {
		proxy, err := through(&http.Request{URL: c.base})
		if err != nil {
			return fmt.Errorf("touch: %w", err)
		}
		if proxy != nil {
			at = proxy
		}
	}
	port := at.Port()
	switch {
	case port != "":
	case at.Scheme == "http":
		port = "80"
	case at.Scheme == "https":
		port = "443"
	default:
		port = "1080"
	}
	conn, err := c.tries.next.DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port))
	if err != nil {
		return fmt.Errorf("touch: %w", err)
	}
	return conn.Close()
}

// Host is the host and port of the base address, for people.
func (c *Client) Host() string { return c.base.Host }

// Plain says that the base address is asked without TLS.
func (c *Client) Plain() bool { return c.base.Scheme == "http" }

// Healthy reports whether the backend answered last time, or was never asked.
func (c *Client) Healthy() bool { return c.circuit.healthy() }

// Stats is what became of the calls so far.
func (c *Client) Stats() Stats { return c.circuit.stats() }

// CloseIdle closes connections that are not in use, after a change of networks.
func (c *Client) CloseIdle() { c.plain.CloseIdleConnections() }

// Fault is what was wrong with the last call, nil when it was answered as it should be or nothing was called yet.
func (c *Client) Fault() *Fault {
	c.faults.mu.Lock()
	defer c.faults.mu.Unlock()
	return c.faults.now
}
