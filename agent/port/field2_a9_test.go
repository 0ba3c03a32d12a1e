package port

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// attached is a service that says how large the attachments are which it gets.
type attached struct {
	paylinks.Links
	sizes chan int64
}

func (s attached) Create(_ context.Context, _ wire.Key, req paylinks.CreateRequest) (paylinks.Created, error) {
	var all int64
	for _, a := range req.Attachments {
		all += a.Size
	}
	s.sizes <- all
	return paylinks.Created{}, wire.Errorf(wire.NotFound, "", "none")
}

// keyed shows the secret as a header, in place of the signature within the body.
type keyed struct{ wire.Doer }

func (k keyed) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set(paylinks.APIKeyHeader, strings.TrimPrefix(ours, "Bearer "))
	return k.Doer.Do(r)
}

// TestField2_A9_SlowBodiesTakeNoPlaces: strangers announce large bodies and send little of them, or much and then no more. A client with attachments is
// served at once beside them, whether its proof lies in its body or in a header; what has made room hears that others send. The kind, what a request holds before
// its client is known: a connection (TestStrangersMakeRoom), the time for a body (TestStrangersHaveLittleTime), the disk for a body here; documents come after the
// proof, and have their places then (TestDocumentsPassInPieces).
func TestField2_A9_SlowBodiesTakeNoPlaces(t *testing.T) {
	for name, each := range map[string]int{"a few bytes": 100, "almost all": maxLinkBody - 1<<20} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newPipes()
				svc := attached{sizes: make(chan int64, 1)}
				ok := func() error { return nil }
				p := New(Options{Listener: ln, Live: ok, Ready: ok, Token: "local-token-0123456789", Dir: t.TempDir(), Services: []Service{Links(svc, nil, "shop", false)}})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- p.Run(ctx) }()
				head := "POST /v1.0/Invoice/?instance=shop HTTP/1.1\r\nHost: " + p.Addr() + "\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: " +
					fmt.Sprint(maxLinkBody-10) + "\r\n\r\n--b\r\nContent-Disposition: form-data; name=a; filename=a\r\n\r\n"
				var strangers []net.Conn
				for range 4 {
					conn, err := ln.dial()
					require.NoError(t, err)
					strangers = append(strangers, conn)
					go func() {
						_, _ = io.WriteString(conn, head) // it may be cut at any time
						_, _ = conn.Write(make([]byte, each))
					}()
					go func() { _, _ = io.Copy(io.Discard, conn) }()
				}
				synctest.Wait()
				time.Sleep(proofTime / 2)
				began := time.Now()
				data := bytes.Repeat([]byte("x"), 3<<20)
				link := paylinks.CreateRequest{Title: "T", Description: "D", Purpose: "P", ReferenceID: "R", Amount: 500, Currency: "EUR", Attachments: []paylinks.Attachment{{
					Name: "f.txt", ContentType: "text/plain", Size: int64(len(data)),
					Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
				}}}
				for how, client := range map[string]wire.Doer{"signed": ln.client(time.Second), "by a header": keyed{ln.client(time.Second)}} {
					_, err := (&paylinks.Client{BaseURL: "http://" + p.Addr(), Instance: "shop", Secret: "local-token-0123456789", Doer: client}).Links().Create(t.Context(), "", link)
					require.Equal(t, wire.NotFound, wire.CodeOf(err), "%s: %v", how, err)
					require.EqualValues(t, len(data), <-svc.sizes, how)
				}
				require.Less(t, time.Since(began), time.Second)
				for _, conn := range strangers {
					_ = conn.Close()
				}
				cancel()
				require.NoError(t, <-ended)
			})
		})
	}
}
