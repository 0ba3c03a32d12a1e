package port_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/agent/upstream"
	"posagent/agent/view"
	"posagent/cross/need"
	"posagent/schemes/disputes"
	"posagent/schemes/wire"
)

// scales weighs the memory in use beside what was before, whenever somebody asks.
type scales struct {
	mu    sync.Mutex
	base  int64
	peak  int64
	looks int
}

func (s *scales) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	runtime.GC()
	runtime.GC() // what a finalizer held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.peak, s.looks = max(s.peak, int64(m.HeapAlloc)-s.base), s.looks+1
}

// letters are left letters A, the Base64 of zeros; it weighs at every MiB, and stops halfway until hold is closed.
type letters struct {
	left, said int
	half       int
	s          *scales
	arrived    func() // at the half
	hold       <-chan struct{}
}

func (l *letters) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	if l.hold != nil && l.left <= l.half {
		l.arrived()
		<-l.hold
		l.hold = nil
	}
	n := min(len(p), l.left, 32<<10)
	for i := range n {
		p[i] = 'A'
	}
	if l.left, l.said = l.left-n, l.said+n; l.said >= 1<<20 {
		l.said = 0
		l.s.look()
	}
	return n, nil
}

// Documents of 10 MiB pass through the port in pieces, in both directions and two at a time; a third waits outside, and what
// is small goes on. Nothing of them is left in the port's folder.
func TestDocumentsPassInPieces(t *testing.T) {
	const text = disputes.MaxDocument / 3 * 4
	s := &scales{}
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"filename":"d","inputStream":{"content":"`)
			_, _ = io.Copy(w, &letters{left: text, s: s})
			_, _ = io.WriteString(w, `"}}`)
			return
		}
		n, err := io.Copy(io.Discard, r.Body)
		s.look()
		code := disputes.Done
		if err != nil || strings.HasSuffix(r.URL.Path, "disputes") && n < text {
			code = disputes.Failed
		}
		_, _ = fmt.Fprintf(w, `{"disputeCaseNumber":"500001","disputeGroupNumber":"700001","responseCode":%q}`, code)
	}))
	t.Cleanup(far.Close)
	x, dir := start(t, true), t.TempDir()
	u, err := upstream.New(upstream.Config{Base: far.URL, Auth: upstream.Auth{Bearer: "b"}, Timeout: need.Limit(), MaxBody: disputes.MaxBody})
	require.NoError(t, err)
	c := &disputes.Client{BaseURL: far.URL, Doer: u.Once(), Dir: dir}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := port.New(port.Options{
		Listener: ln, Live: func() error { return nil }, Ready: func() error { return nil }, Hooks: x.inbox.Handler("Bearer hook"), Token: token,
		Within: need.Limit(), Dir: dir, Version: "test", Log: slog.New(slog.DiscardHandler),
		House:    &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now},
		Services: []port.Service{port.Disputes(c, c, "")},
	})
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	t.Cleanup(func() { require.NoError(t, <-ended) })
	at := "http://" + p.Addr() + "/api/v1/disputes"

	send := func(body io.Reader) (status int, reply string, err error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, body)
		if err != nil {
			return 0, "", err
		}
		req.Header.Set("Content-Type", jsonKind)
		resp, err := doer{bearer}.Do(req)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data), err
	}
	document := func(l *letters) io.Reader {
		return io.MultiReader(strings.NewReader(`{"providerTransactionID":"7","providerFraudReasonCode":"F1","documentsList":[{"documentBinary":"`), l, strings.NewReader(`"}]}`))
	}
	fetch := func() (n int64, err error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/document/d", nil)
		if err != nil {
			return 0, err
		}
		resp, err := doer{bearer}.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return 0, wire.Errorf(wire.Internal, "", "status %d", resp.StatusCode)
		}
		return io.Copy(io.Discard, resp.Body)
	}
	status, reply, err := send(document(&letters{left: text, s: s})) // makes what is made once
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, reply)

	s.look()
	s.base, s.peak, s.looks = s.peak, 0, 0
	hold, ready := make(chan struct{}), make(chan struct{}, 2)
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			l := &letters{left: text, half: text / 2, s: s, hold: hold, arrived: func() { ready <- struct{}{} }}
			if status, reply, err := send(document(l)); err != nil || status != http.StatusOK || !strings.Contains(reply, `"responseCode":"00"`) {
				t.Error(status, reply, err)
			}
		})
	}
	<-ready
	<-ready
	status, reply, err = send(document(&letters{left: text, s: s}))
	if err == nil { // or it was cut off while it was still speaking
		require.Equal(t, http.StatusServiceUnavailable, status, reply)
		require.Contains(t, reply, "urn:problem:unavailable")
	}
	small, err := json.Marshal(map[string]string{"disputeCaseNumber": "500001", "closeDispute": "Y"})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, at+"/500001", strings.NewReader(string(small)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", jsonKind)
	resp, err := doer{bearer}.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, "what is small goes on")
	release()
	wg.Wait()
	for range 2 {
		wg.Go(func() {
			if n, err := fetch(); err != nil || n < text {
				t.Error(n, err)
			}
		})
	}
	wg.Wait()
	t.Logf("at most %d kB beside what was before, %d looks", s.peak/1000, s.looks)
	require.Greater(t, s.looks, 40)
	require.Less(t, s.peak, int64(2<<20), "bytes; two documents are 20 MiB")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
