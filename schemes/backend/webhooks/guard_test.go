package webhooks_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// inward are addresses of every kind that is not public.
var inward = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
	"100.64.0.1", "100.100.100.200", "100.127.255.255", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
	"203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1",
	"::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:100.64.0.1", "::ffff:0.0.0.1", "::ffff:198.18.0.1", "::127.0.0.1", "fe80::1", "fc00::1", "fd00:ec2::254",
	"ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "fec0::1", "100::1", "5f00::1", "3fff::1",
}

var outward = []string{"93.184.216.34", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "169.253.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"}

func checker(t *testing.T, allow ...string) *webhooks.Deliver {
	return webhooks.New(webhooks.Options{DB: storetest.Open(t, webhooks.Schema()...), Allow: allow})
}

func TestCheckRefusesWhatIsNotPublic(t *testing.T) {
	d := checker(t)
	literal := func(ip string) string { return "https://" + hostOf(ip) + "/hook" }
	for _, ip := range inward {
		require.Error(t, d.Check(literal(ip)), ip)
	}
	for _, ip := range outward {
		require.NoError(t, d.Check(literal(ip)), ip)
	}
	for _, good := range []string{"https://shop.example/hook", "https://shop.example:8443/a?b=c", "HTTPS://Shop.Example", "https://xn--bcher-kva.example/"} {
		require.NoError(t, d.Check(good), good)
	}
	for _, bad := range []string{
		"", "shop.example", "/hook", "//shop.example/", "http://shop.example/", "ftp://shop.example/", "https://", "https:///x", "https:shop.example",
		"https://user@shop.example/", "https://user:pass@shop.example/", "https://shop.example/#x", "https://shop.example:0/", "https://shop.example:65536/",
		"https://shop.example:/", "https://shop.example:99999999/", "https://shop.example:8x/", "https://localhost/", "https://LOCALHOST:443/",
		"https://a.localhost/", "https://printer.local/", "https://db.internal/", "https://intranet/", "https://localhost./", "https://127.1/",
		"https://2130706433/", "https://0x7f000001/", "https://0x7f.1/", "https://0177.0.0.1/", "https://1.2.3.4.5/", "https://[::1%25lo]/", "https://[fe80::1%25eth0]/",
		"https://shop.example/\r\nX: y", "https://shop.example/ x", "https://shop.example/é", "https://bücher.example/", "https://127.0.0.1\\@shop.example/",
		"https://shop.example/" + strings.Repeat("a", 2048), "javascript:alert(1)", "file:///etc/passwd", "gopher://shop.example/", "https://./", "https://../",
	} {
		err := d.Check(bad)
		require.Error(t, err, bad)
		if len(bad) > 12 {
			require.NotContains(t, err.Error(), bad)
		}
	}
}

func TestTheAllowListFreesExactlyItsHosts(t *testing.T) {
	d := checker(t, "127.0.0.1:9999", "receiver.test", "[::1]:80")
	for _, good := range []string{"http://127.0.0.1:9999/x", "https://127.0.0.1:9999/x", "http://receiver.test/", "http://RECEIVER.test:1234/", "http://[::1]/"} {
		require.NoError(t, d.Check(good), good)
	}
	for _, bad := range []string{"http://127.0.0.1:9998/", "http://127.0.0.1/", "http://127.0.0.2:9999/", "http://x.receiver.test/", "http://[::1]:81/",
		"ftp://receiver.test/", "http://u@receiver.test/", "http://localhost:9999/", "https://[::ffff:127.0.0.1]:9999/"} {
		require.Error(t, d.Check(bad), bad)
	}
}

func hostOf(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}

// A name that was public when it was registered may not be when it is called: what is dialled is what was checked.
func TestTheCheckedAddressIsDialled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, webhooks.Options{})
		var asked atomic.Int64
		dialled := make(chan string, 100)
		answers := [][]string{{"93.184.216.34"}, {"127.0.0.1"}, {"8.8.8.8", "10.0.0.1"}, {"::ffff:192.168.0.1"}, {}}
		for _, ip := range inward {
			answers = append(answers, []string{ip})
		}
		r.opt.Resolve = func(context.Context, string) (list []netip.Addr, _ error) {
			for _, s := range answers[(asked.Add(1)-1)%int64(len(answers))] {
				list = append(list, netip.MustParseAddr(s))
			}
			return list, nil
		}
		r.opt.Dial = func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled <- addr
			here, there := net.Pipe()
			return here, there.Close()
		}
		r.start()
		r.register("s", hook("https://shop.example/"))
		for i := range answers {
			r.emit(message(string(rune('a' + i))))
			sleep(time.Second)
		}
		require.EqualValues(t, len(answers), asked.Load(), "the name is asked for once per try")
		require.Len(t, dialled, 1)
		require.Equal(t, "93.184.216.34:443", <-dialled)
		list := r.list(webhooks.Filter{})
		for _, d := range list[:len(list)-1] {
			if d.Message == "e" {
				require.Equal(t, "the connection broke", d.Attempts[0].Note)
				continue
			}
			require.Equal(t, "refused: the address is neither public nor in webhook_allow", d.Attempts[0].Note)
		}
		r.stop()
	})
}

func TestRegisterRefusesBadHooks(t *testing.T) {
	d := checker(t)
	db := storetest.Open(t, webhooks.Schema()...)
	long := strings.Repeat("a", 5000)
	good := webhooks.Hook{Event: "e", URL: "https://shop.example/"}
	for name, bad := range map[string]func(*webhooks.Hook){
		"event":         func(h *webhooks.Hook) { h.Event = "" },
		"url":           func(h *webhooks.Hook) { h.URL = "https://10.0.0.1/" },
		"line end":      func(h *webhooks.Hook) { h.Authorization = "a\r\nHost: b" },
		"long value":    func(h *webhooks.Hook) { h.Authorization = wire.Secret(long) },
		"header name":   func(h *webhooks.Hook) { h.Headers = [][2]string{{"a b", "x"}} },
		"empty name":    func(h *webhooks.Hook) { h.Headers = [][2]string{{"", "x"}} },
		"header value":  func(h *webhooks.Hook) { h.Headers = [][2]string{{"a", "x\n"}} },
		"host":          func(h *webhooks.Hook) { h.Headers = [][2]string{{"hOsT", "x"}} },
		"length":        func(h *webhooks.Hook) { h.Headers = [][2]string{{"content-length", "1"}} },
		"encoding":      func(h *webhooks.Hook) { h.Headers = [][2]string{{"Transfer-Encoding", "chunked"}} },
		"proxy":         func(h *webhooks.Hook) { h.Headers = [][2]string{{"Proxy-Authorization", "x"}} },
		"many headers":  func(h *webhooks.Hook) { h.Headers = make([][2]string, 17) },
		"not ascii":     func(h *webhooks.Hook) { h.Headers = [][2]string{{"a", "é"}} },
		"control event": func(h *webhooks.Hook) { h.Event = "e\n" },
	} {
		t.Run(name, func(t *testing.T) {
			h := good
			bad(&h)
			err := db.Write(t.Context(), func(tx store.Tx) error { return d.Register(tx, "s", []webhooks.Hook{good, h}) })
			require.Equal(t, wire.Invalid, wire.CodeOf(err))
			require.Contains(t, err.Error(), "webHooks[1]")
			require.NotContains(t, err.Error(), long)
		})
	}
	err := db.Write(t.Context(), func(tx store.Tx) error { return d.Register(tx, "s", make([]webhooks.Hook, 65)) })
	require.Equal(t, wire.Invalid, wire.CodeOf(err))
}

// The real thing: a TLS server that is trusted, one that is not, and a reply without end.
func TestOverTLS(t *testing.T) {
	got := make(chan *http.Request, 10)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		if r.URL.Path == "/flood" {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, strings.Repeat("flood ", 1<<20)) // the sender leaves early
		}
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "https://")
	for _, trusted := range []bool{true, false} {
		db := storetest.OpenAt(t, filepath.Join(t.TempDir(), "d.db"), webhooks.Schema()...)
		conf := &tls.Config{MinVersion: tls.VersionTLS12}
		if trusted {
			conf = srv.Client().Transport.(*http.Transport).TLSClientConfig
		}
		d := webhooks.New(webhooks.Options{DB: db, Allow: []string{host}, TLS: conf})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			if err := d.Register(tx, "s", []webhooks.Hook{hook(srv.URL + "/in"), hook(srv.URL + "/flood")}); err != nil {
				return err
			}
			_, err := d.Emit(tx, message("m1"))
			return err
		}))
		var list []webhooks.Delivery
		need.Until(t, "two attempts", func() bool {
			var err error
			list, err = d.List(t.Context(), webhooks.Filter{})
			require.NoError(t, err)
			return len(list) == 2 && len(list[0].Attempts) == 1 && len(list[1].Attempts) == 1
		})
		if trusted {
			require.Len(t, got, 2)
			require.Equal(t, "posagent-webhooks/1", (<-got).UserAgent())
			<-got
			require.Equal(t, webhooks.Done, list[1].State)
			require.Equal(t, 500, list[0].Attempts[0].Status)
			require.Len(t, list[0].Attempts[0].Note, 200)
		} else {
			require.Empty(t, got)
			require.Equal(t, "no trusted connection", list[0].Attempts[0].Note)
		}
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.NoError(t, db.Close())
	}
}
