package port_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
)

// customers is a display that counts what reaches it.
type customers struct {
	http.Handler
	posts int
}

// Follow implements port.Display.
func (c *customers) Follow(w http.ResponseWriter, r *http.Request, ended <-chan struct{}) {
	_ = http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done():
	case <-ended:
	}
}

// The customer's screen is open to the browser that shows it, and to no other page; few may follow it.
func TestTheCustomersScreenIsClosedToOtherPages(t *testing.T) {
	d := &customers{}
	d.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			d.posts++
		}
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := port.New(port.Options{Listener: ln, Live: func() error { return nil }, Ready: func() error { return nil }, Display: d})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	x := &rig{t: t, addr: "http://" + p.Addr()}
	script := map[string]string{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
	require.Equal(t, 200, x.browseAt("/display", "GET", "", "", nil).status)
	require.Equal(t, 200, x.browseAt("/display", "GET", "", "", script).status)
	require.Equal(t, 200, x.browseAt("/display", "POST", "", "key=1", nil).status)
	require.Equal(t, 200, x.browseAt("/display", "POST", "", "key=1", map[string]string{"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", "Origin": x.addr}).status)
	require.Equal(t, 2, d.posts)
	for _, path := range []string{"/display", "/display/events"} {
		for _, method := range []string{"GET", "POST"} {
			for _, head := range []map[string]string{
				{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"}, {"Referer": "http://evil.example/"},
				{"Host": "evil.example"}, {"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
			} {
				require.Equal(t, 403, x.browseAt(path, method, "", "key=1", head).status, "%s %s %v", method, path, head)
			}
		}
	}
	bare := map[string]string{"Sec-Fetch-Site": "-", "Sec-Fetch-Mode": "-", "Sec-Fetch-Dest": "-", "Origin": "-"}
	require.Equal(t, 405, x.browseAt("/display", "POST", "", "key=1", bare).status, "a form that does not say where it comes from")
	require.Equal(t, 2, d.posts)

	for range 4 {
		resp, err := http.Get(x.addr + "/display/events")
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode)
	}
	require.Equal(t, 503, x.ask("GET", "/display/events", "", "", "").status)
	require.Equal(t, 200, x.ask("GET", "/livez", "", "", "").status)
}
