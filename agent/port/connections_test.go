package port

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever opens connections and says nothing on them, or half a header, shuts nobody out; and no request in flight is cut for them.
func TestSilentConnectionsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipes()
		began, release := make(chan bool, 1), make(chan bool)
		p := New(Options{Listener: ln, Live: func() error { return nil }, Ready: func() error { began <- true; <-release; return nil }})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()

		get := func(client *http.Client, path string) error {
			resp, err := client.Get("http://" + p.Addr() + path)
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		}
		flight := make(chan error, 8)
		for range cap(flight) {
			go func() { flight <- get(ln.client(0), "/readyz") }()
		}
		<-began // one looks, the others wait for what it says
		synctest.Wait()
		client := ln.client(4 * time.Second) // less than proofTime
		var silent []net.Conn
		for range 3 {
			for i := range 200 {
				conn, err := ln.dial()
				require.NoError(t, err)
				silent = append(silent, conn)
				if i%2 == 1 {
					go func() { _, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n") }() // it may be closed already
				}
			}
			require.NoError(t, get(client, "/livez"))
		}
		close(release)
		for range cap(flight) {
			require.NoError(t, <-flight)
		}
		for _, conn := range silent {
			conn.Close()
		}
		cancel()
		require.NoError(t, <-ended)
	})
}
