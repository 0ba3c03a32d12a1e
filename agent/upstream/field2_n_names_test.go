package upstream

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/certs"
	"posagent/device/names"
	"posagent/schemes/wire"
)

// odd is a name server that answers as it likes.
type odd struct {
	answer func(q asked) (reply []byte, after time.Duration) // nil = none
	stream bool                                              // it takes TCP connections
	closed bool                                              // nothing listens

	mu        sync.Mutex
	questions int
	withEDNS  int
}

// asked is one question.
type asked struct {
	message []byte // without EDNS
	edns    bool
	aaaa    bool
	stream  bool
	server  string
}

const addressA = "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x7f\x00\x00\x01"

// says is a reply with a code, and with the host's IPv4 address where it has one.
func (q asked) says(code byte, found bool) []byte {
	reply := bytes.Clone(q.message)
	reply[2], reply[3] = 0x81, 0x80|code
	if found {
		reply[7] = 1
		reply = append(reply, addressA...)
	}
	return reply
}

// good is what a sound name server answers.
func (q asked) good() []byte { return q.says(0, !q.aaaa) }

func (o *odd) dial(ctx context.Context, network, server string) (net.Conn, error) {
	stream := network == "tcp"
	if o.closed || stream && !o.stream {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		buf := make([]byte, 1500)
		for {
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			q := asked{message: bytes.Clone(buf[:n]), stream: stream, server: server}
			if stream {
				q.message = q.message[2:]
			}
			if q.edns = q.message[11] == 1; q.edns {
				q.message = q.message[:len(q.message)-11]
				q.message[11] = 0
			}
			q.aaaa = binary.BigEndian.Uint16(q.message[len(q.message)-4:]) == 28
			o.mu.Lock()
			o.questions++
			if q.edns {
				o.withEDNS++
			}
			o.mu.Unlock()
			reply, after := o.answer(q)
			if reply == nil {
				continue
			}
			if stream {
				reply = append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)
			}
			go func() {
				<-time.After(after)
				_, _ = far.Write(reply)
			}()
		}
	}()
	return near, nil
}

// pipes is a listener whose connections are pipes.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestField2_N1OddNameServers: name servers that misbehave in known ways. The terminal finds its backend where the other programs of the
// box do, waits no more than told here for each new connection, and says of the others that names are not found, never that the
// backend does not answer. The kind is whatever a name server can do with one question: refuse it (four codes, with and without the
// question repeated), keep silent, do either for one of the two addresses alone, cut the answer, be late, be away.
func TestField2_N1OddNameServers(t *testing.T) {
	refusing := func(code byte) func(asked) ([]byte, time.Duration) {
		return func(q asked) ([]byte, time.Duration) {
			if q.edns {
				return q.says(code, false), 0
			}
			return q.good(), 0
		}
	}
	second, none := time.Second, time.Duration(0)
	warm(t)
	for name, tc := range map[string]struct {
		server      *odd
		first, next time.Duration // at most, until a first and a later connection stand
		told        Kind          // "" = it is ready
	}{
		"FORMERR to EDNS":      {&odd{answer: refusing(1)}, none, none, ""},
		"SERVFAIL to EDNS":     {&odd{answer: refusing(2)}, none, none, ""},
		"NOTIMP to EDNS":       {&odd{answer: refusing(4)}, none, none, ""},
		"REFUSED to EDNS":      {&odd{answer: refusing(5)}, none, none, ""},
		"no such name to EDNS": {&odd{answer: refusing(3)}, none, none, ""},
		"FORMERR to EDNS, a bare header": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			if q.edns {
				bare := bytes.Clone(q.says(1, false)[:12])
				bare[5] = 0
				return bare, 0
			}
			return q.good(), 0
		}}, none, none, ""},
		"silent to EDNS": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			if q.edns {
				return nil, 0
			}
			return q.good(), 0
		}}, second, none, ""},
		"silent to AAAA": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			if q.aaaa {
				return nil, 0
			}
			return q.good(), 0
		}}, second, second, ""},
		"silent to EDNS and to AAAA": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			if q.aaaa || q.edns {
				return nil, 0
			}
			return q.good(), 0
		}}, 2 * second, second, ""},
		"no such name to AAAA": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			if q.aaaa {
				return q.says(3, false), 0
			}
			return q.good(), 0
		}}, none, none, ""},
		"SERVFAIL to AAAA": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			if q.aaaa {
				return q.says(2, false), 0
			}
			return q.good(), 0
		}}, none, none, ""},
		"IPv4 addresses to AAAA": {&odd{answer: func(q asked) ([]byte, time.Duration) { return q.says(0, true), 0 }}, none, none, ""},
		"cut, and no TCP": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			reply := q.good()
			reply[2] |= 0x02
			return reply, 0
		}}, none, none, ""},
		"cut, and TCP without EDNS": {&odd{stream: true, answer: func(q asked) ([]byte, time.Duration) {
			reply := q.good()
			switch {
			case q.edns:
				reply = q.says(1, false)
			case !q.stream:
				reply[2] |= 0x02
			}
			return reply, 0
		}}, none, none, ""},
		"late by three seconds": {&odd{answer: func(q asked) ([]byte, time.Duration) { return q.good(), 3 * time.Second }}, 4 * second, 3 * second, ""},
		"answers another question": {&odd{answer: func(q asked) ([]byte, time.Duration) {
			reply := q.good()
			reply[0] ^= 0xff
			return reply, 0
		}}, 0, 0, NameService},
		"refuses all":     {&odd{answer: func(q asked) ([]byte, time.Duration) { return q.says(5, false), 0 }}, 0, 0, NameService},
		"knows no name":   {&odd{answer: func(q asked) ([]byte, time.Duration) { return q.says(3, false), 0 }}, 0, 0, NoName},
		"silent to all":   {&odd{answer: func(asked) ([]byte, time.Duration) { return nil, 0 }}, 0, 0, NameService},
		"nothing listens": {&odd{closed: true}, 0, 0, NameService},
	} {
		t.Run(name, func(t *testing.T) {
			root := certs.New(t, "root")
			cfg := root.Leaf(t, func(c *x509.Certificate) {
				c.DNSNames, c.NotBefore, c.NotAfter = []string{"pay.shop.test"}, time.Time{}, time.Now().AddDate(50, 0, 0)
			}).Config()
			synctest.Test(t, func(t *testing.T) {
				listener := make(pipes)
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }), ErrorLog: log.New(io.Discard, "", 0)}
				go func() { _ = srv.Serve(tls.NewListener(listener, cfg)) }()
				defer func() { close(listener); _ = srv.Close() }()
				find := (&names.Finder{Dial: tc.server.dial}).Dialer(net.Dialer{Timeout: 8 * time.Second, Control: func(string, string, syscall.RawConn) error { return errFound }})
				c := client(t, "https://pay.shop.test", func(cfg *Config) {
					cfg.RootsFile, cfg.Timeout = root.File, 30*time.Second
					cfg.Now = func() time.Time { return root.Cert.NotBefore.AddDate(0, 1, 0) }
					cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						if _, err := find(ctx, network, address); !errors.Is(err, errFound) {
							return nil, err
						}
						near, far := net.Pipe()
						listener <- far
						return near, nil
					}
				})
				for i, limit := range []time.Duration{tc.first, tc.next} {
					began := time.Now()
					_, err := exchange(t, c, "GET", "https://pay.shop.test/x", "", "")
					if tc.told != "" {
						require.Error(t, err)
						require.Equal(t, tc.told, c.Fault().Kind, err)
						break
					}
					require.NoError(t, err)
					require.LessOrEqual(t, time.Since(began), limit, "connection %d", i+1)
					require.Nil(t, c.Fault())
					c.CloseIdle()
				}
				time.Sleep(10 * time.Second) // what is late arrives
				synctest.Wait()
			})
		})
	}
}

var errFound = errors.New("the name was found")

// warm lets package net read its configuration outside of a bubble, whose clock and channels it would keep.
func warm(t *testing.T) {
	t.Helper()
	off := net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errFound }}
	_, err := off.LookupHost(t.Context(), "pay.shop.test")
	require.Error(t, err)
}

// A lookup that the end of a call cut short is no silence of the backend.
func TestField2_N8NoNameInTimeIsNotTheBackend(t *testing.T) {
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		o := &odd{answer: func(asked) ([]byte, time.Duration) { return nil, 0 }}
		c := client(t, "https://pay.shop.test", func(cfg *Config) {
			cfg.Timeout, cfg.Names = 4*time.Second, &names.Finder{Dial: o.dial}
		})
		_, err := exchange(t, c, "GET", "https://pay.shop.test/x", "", "")
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.Equal(t, NameService, c.Fault().Kind, err)
		time.Sleep(time.Minute) // the resolver ends by itself
		o.mu.Lock()
		defer o.mu.Unlock()
		require.NotZero(t, o.questions)
	})
}
