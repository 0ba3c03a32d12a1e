package port

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// holding is a service whose reads wait.
type holding struct {
	payments.Service
	began, release chan bool
}

func (s holding) Read(context.Context, string) (payments.Payment, error) {
	s.began <- true
	<-s.release
	return payments.Payment{}, wire.Errorf(wire.NotFound, "", "none")
}

const ours = "Bearer local-token-0123456789"

// open starts a port with a payment service and payment links.
func open(t *testing.T, ln net.Listener, svc payments.Service) *Port {
	ok := func() error { return nil }
	p := New(Options{Listener: ln, Live: ok, Ready: ok, Token: "local-token-0123456789", Hooks: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}), Services: []Service{Payments(svc, ""), Links(struct{ paylinks.Links }{}, nil, "shop", false)}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return p
}

// Whoever announces a body and sends none, or asks and reads no answer, shuts nobody out: a client with a token is served at once
// beside hundreds of them, those of its own kind that wait for the backend are not cut, nor is its idle connection.
func TestStrangersMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipes()
		svc := holding{began: make(chan bool, 8), release: make(chan bool)}
		p := open(t, ln, svc)
		ask := func(client *http.Client, path string) (int, error) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Addr()+path, http.NoBody)
			if err != nil {
				return 0, err
			}
			req.Header.Set("Authorization", ours)
			resp, err := client.Do(req)
			if err != nil {
				return 0, err
			}
			return resp.StatusCode, resp.Body.Close()
		}
		flight := make(chan int, cap(svc.began))
		for range cap(flight) {
			go func() {
				status, _ := ask(ln.client(0), "/api/v1/payments/7")
				flight <- status
			}()
			<-svc.began
		}
		kept, err := ln.dial()
		require.NoError(t, err)
		defer kept.Close()
		again := bufio.NewReader(kept)
		hello := func() {
			_, err := io.WriteString(kept, "GET /api/v1/payments HTTP/1.1\r\nHost: "+p.Addr()+"\r\nAuthorization: "+ours+"\r\n\r\n")
			require.NoError(t, err)
			require.NoError(t, kept.SetReadDeadline(time.Now().Add(2*time.Second)))
			resp, err := http.ReadResponse(again, nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
		}
		hello()
		client := ln.client(2 * time.Second) // less than proofTime
		var silent []net.Conn
		for _, head := range []string{
			"POST /api/v1/payments HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
			"POST /api/v1/payments HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n",
			"POST /v1.0/Invoice/?instance=shop HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n",
			"POST /v1.0/Invoice/?instance=shop HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n",
			"POST /token HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n",
			"POST " + HooksPath + " HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nx",
			"POST /none HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\n",
			"GET /openapi.json HTTP/1.1\r\nHost: HOST\r\n\r\n",
		} {
			for range 2 * maxConns {
				conn, err := ln.dial()
				require.NoError(t, err)
				silent = append(silent, conn)
				go func() { _, _ = io.WriteString(conn, head) }() // it may be closed already
			}
			began := time.Now()
			status, err := ask(client, "/api/v1/payments")
			require.NoError(t, err, head)
			require.Equal(t, http.StatusMethodNotAllowed, status)
			signed, err := client.Get("http://" + p.Addr() + "/v1.0/SignatureCheck/?instance=shop&ApiSignature=x")
			require.NoError(t, err, head)
			require.NoError(t, signed.Body.Close())
			require.Equal(t, http.StatusForbidden, signed.StatusCode, "asked, and not turned away")
			require.Less(t, time.Since(began), time.Second, head)
			hello()
		}
		close(svc.release)
		for range cap(flight) {
			require.Equal(t, http.StatusNotFound, <-flight)
		}
		for _, conn := range silent {
			conn.Close()
		}
	})
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() pipes { return pipes{make(chan net.Conn), make(chan struct{})} }

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8480} }

// dial returns the other end of a connection once it was accepted.
func (p pipes) dial() (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// client makes a connection for each request. Its timeout is one of virtual time.
func (p pipes) client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial() },
	}}
}

// A stranger is answered on its header and cut after its time; who is known has the port's time for a body.
func TestStrangersHaveLittleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipes()
		open(t, ln, holding{})
		dial := func(text string) (*bufio.Reader, net.Conn) {
			here, err := ln.dial()
			require.NoError(t, err)
			_, err = io.WriteString(here, text)
			require.NoError(t, err)
			return bufio.NewReader(here), here
		}
		head := "POST /api/v1/payments HTTP/1.1\r\nHost: 127.0.0.1:8480\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
		began := time.Now()
		in, conn := dial(head + "\r\n")
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
		require.Zero(t, time.Since(began), "before the body")
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		_, err = in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		require.LessOrEqual(t, time.Since(began), proofTime+time.Second)
		conn.Close()

		in, conn = dial(head + "Authorization: " + ours + "\r\n\r\n")
		time.Sleep(readTime - time.Second)
		_, err = io.WriteString(conn, "[]")
		require.NoError(t, err)
		resp, err = http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, "read, and found to be no payment")
		conn.Close()
	})
}
