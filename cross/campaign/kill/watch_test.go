package kill

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/referee"
)

// forward passes requests on; where there is no answer, there is none.
func forward(to string) (http.Handler, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}, nil
}

// serve serves h on an address of its own.
func serve(h http.Handler) (s *http.Server, at string, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	s = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: h}
	go func() { _ = s.Serve(ln) }()
	return s, "http://" + ln.Addr().String(), nil
}

// watch puts the referee between the terminals and the backend. A read every 30 ms, and a start after each kill, are faster than a busy
// machine can tell: the pace is judged where time is virtual.
func (c *campaign) watch(backend string) {
	c.referee = referee.New(referee.Rules{Pace: -1})
	proxy, err := forward(backend)
	require.NoError(c.t, err)
	behind := c.referee.Backend(proxy)
	for at, h := range map[*string]http.Handler{&c.behind: behind, &c.backend: c.referee.Terminal(behind)} {
		var s *http.Server
		s, *at, err = serve(h)
		require.NoError(c.t, err)
		c.t.Cleanup(func() { _ = s.Close() })
	}
}

// verdict is the referee's, over everything that the terminals of a campaign have sent.
func (c *campaign) verdict() {
	var list []referee.Entry
	for _, b := range c.books() {
		list = append(list, referee.Entry{
			Service: b.Service, ID: b.ID, Reference: b.Reference, Original: b.Original, Type: b.Type, Amount: b.Amount, Moved: len(b.Postings) > 0,
		})
	}
	for _, v := range c.referee.Verdict(list) {
		c.t.Errorf("referee: %s", v)
	}
	c.t.Logf("the referee saw %d requests", c.referee.Arrivals())
	require.Positive(c.t, c.referee.Arrivals())
}
