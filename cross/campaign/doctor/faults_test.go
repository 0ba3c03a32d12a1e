package doctor

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
)

// fault is one thing that is wrong, and the only check that may fail for it.
type fault struct {
	name  string
	want  string // id; "" = nothing fails
	code  int    // exit code of doctor
	seen  string // part of the evidence or the remedy
	quick bool   // part of make verify
	root  bool   // needs rights that only root has
	as    string // its name in the lists of lists_test.go, "" = it is in none
	seed  func(b *box)
}

const notReady, isReady = "not ready: ", "ready "

// faults are the campaign. The first row is a terminal that is well.
func faults() []fault {
	return slices.Concat(localFaults(), enrolmentFaults(), wayFaults(), lineFaults(), listFaults(), journalFaults(), queueFaults(), laterFaults())
}

// localFaults are those of configuration, keys, ports and processes.
func localFaults() []fault {
	return []fault{
		{name: "nothing", quick: true, seed: func(b *box) { b.run(isReady) }},
		{name: "nothing, and root looks at another account's terminal", root: true, quick: true, seed: func(b *box) {
			b.uid = 65534
			b.run(isReady)
			b.uid = 0
		}},
		{name: "config: a line that is no TOML", want: "PA-CFG-002", code: 3, seen: "config.toml:", quick: true, seed: func(b *box) {
			b.extra = "this is not toml\n"
			b.write()
		}},
		{name: "config: unknown key", as: "config typo", want: "PA-CFG-003", code: 3, seen: "did you mean", quick: true, seed: func(b *box) {
			b.set["terminal.terminal_idd"] = `"1"`
			b.write()
		}},
		{name: "config: unknown key in the place of a needed one", want: "PA-CFG-003", code: 3, seen: "bax_jd", seed: func(b *box) {
			delete(b.set, "terminal.bax_id")
			b.set["terminal.bax_jd"] = `"10000001"`
			b.write()
		}},
		{name: "config: a value that cannot be", want: "PA-CFG-005", code: 3, seen: "ecr.tcp", quick: true, seed: func(b *box) {
			b.set["ecr.tcp"] = `"nowhere"`
			b.write()
		}},
		{name: "credential: its file is missing", as: "missing credential", want: "PA-CFG-004", code: 3, seen: "consumer_secret_file", quick: true, seed: func(b *box) {
			delete(b.set, "upstream.auth.consumer_secret")
			b.set["upstream.auth.consumer_secret_file"] = fmt.Sprintf("%q", filepath.Join(b.dir, "secret"))
			b.write()
		}},
		{name: "credential: its file is for everybody", want: "PA-CFG-004", code: 3, seen: "chmod 600", seed: func(b *box) {
			path := filepath.Join(b.dir, "secret")
			require.NoError(b.t, os.WriteFile(path, []byte("demo-consumer-secret\n"), 0o644))
			delete(b.set, "upstream.auth.consumer_secret")
			b.set["upstream.auth.consumer_secret_file"] = fmt.Sprintf("%q", path)
			b.write()
		}},
		{name: "config: roots that are not there", want: "PA-CFG-006", code: 3, seen: "roots", seed: func(b *box) {
			b.set["upstream.roots_file"] = `"/nowhere/roots.pem"`
			b.write()
		}},
		{name: "no configuration and no journal", want: "PA-CFG-001", code: 3, seen: "config example", quick: true, seed: func(b *box) {
			require.NoError(b.t, os.WriteFile(b.config(), nil, 0o600))
			b.bare = true
		}},
		{name: "the terminal runs with another configuration", want: "PA-CFG-008", code: 3, seen: "20000001", seed: func(b *box) {
			b.run(isReady)
			b.set["terminal.terminal_id"] = `"20000002"`
			b.write()
		}},
		{name: "client certificate out of date", want: "PA-KEY-003", code: 1, seen: "out of date", seed: func(b *box) {
			server, client := newAuthority(b.t, "127.0.0.1", time.Now().AddDate(0, 6, 0)), newAuthority(b.t, "terminal", time.Now().Add(-time.Hour))
			b.serveTLS(server, b.through(nil))
			b.set["upstream.client_cert"], b.set["upstream.client_key"] = fmt.Sprintf("%q", client.cert), fmt.Sprintf("%q", client.key)
			b.run(isReady)
		}},
		{name: "the state directory is for everybody", want: "PA-DSK-001", code: 1, seen: "chmod go-w", quick: true, seed: func(b *box) {
			b.write()
			require.NoError(b.t, os.Mkdir(b.state(), 0o700))
			require.NoError(b.t, os.Chmod(b.state(), 0o777))
		}},
		{name: "the state directory may not be written", want: "PA-DSK-001", code: 1, seen: "may not write", root: true, seed: func(b *box) {
			b.uid = 65534
			require.NoError(b.t, os.Mkdir(b.state(), 0o700))
			b.write()
			require.NoError(b.t, os.Chmod(b.state(), 0o500))
		}},
		{name: "local port taken", want: "PA-SYS-002", code: 1, seen: "process", quick: true, seed: func(b *box) {
			b.set["port.listen"] = fmt.Sprintf("%q", b.taken())
			b.write()
		}},
		{name: "register's port taken", want: "PA-SER-009", code: 1, seen: "process", seed: func(b *box) {
			b.set["ecr.tcp"] = fmt.Sprintf("%q", b.taken())
			b.write()
		}},
		{name: "second instance", as: "second instance", want: "PA-SYS-001", code: 1, seen: "posagent run", quick: true, seed: func(b *box) {
			b.run(isReady)
			b.elsewhere = filepath.Join(b.dir, "other")
		}},
		{name: "the terminal was ended", want: "PA-SYS-003", code: 1, seen: "posagent run", quick: true, seed: func(b *box) {
			b.run(isReady)
			b.up.Kill()
		}},
		{name: "the terminal hangs", want: "PA-SYS-004", code: 1, seen: "does not answer", seed: func(b *box) {
			b.run(isReady)
			require.NoError(b.t, b.up.Cmd.Process.Signal(syscall.SIGSTOP))
		}},
		{name: "the port's token is for everybody", want: "PA-SEC-001", code: 1, seen: "read or written by others", seed: func(b *box) {
			b.run(isReady)
			b.stop()
			require.NoError(b.t, os.Chmod(filepath.Join(b.state(), "port.token"), 0o644))
		}},
		{name: "device key for everybody", want: "PA-KEY-002", code: 9, seen: "0644", quick: true, seed: func(b *box) {
			b.run(isReady)
			b.stop()
			require.NoError(b.t, os.Chmod(filepath.Join(b.state(), "keys", "device.key"), 0o644))
		}},
		{name: "device key missing", want: "PA-KEY-001", code: 9, seen: "no key file", seed: func(b *box) {
			b.run(isReady)
			b.stop()
			require.NoError(b.t, os.Rename(filepath.Join(b.state(), "keys", "device.key"), filepath.Join(b.dir, "aside.key")))
		}},
		{name: "device key of another box", want: "PA-KEY-004", code: 9, seen: "another key", seed: func(b *box) {
			b.run(isReady)
			b.stop()
			other := newBox(b.t, b.bin, b.backend)
			other.run(isReady)
			other.stop()
			data, err := os.ReadFile(filepath.Join(other.state(), "keys", "device.key"))
			require.NoError(b.t, err)
			require.NoError(b.t, os.WriteFile(filepath.Join(b.state(), "keys", "device.key"), data, 0o600))
		}},
	}
}

// taken is an address on which the test listens.
func (b *box) taken() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// wayFaults are those between the terminal and the backend.
func wayFaults() []fault {
	soon := func() time.Time { return time.Now().AddDate(0, 6, 0) }
	return []fault{
		{name: "credentials: none set", want: "PA-UPS-003", code: 1, seen: "no credentials are set", seed: func(b *box) {
			for _, key := range []string{"bearer", "consumer_key", "consumer_secret"} {
				delete(b.set, "upstream.auth."+key)
			}
			b.run(notReady)
		}},
		{name: "credentials: wrong (401)", as: "401", want: "PA-UPS-003", code: 1, seen: "reply 401", quick: true, seed: func(b *box) {
			b.set["upstream.auth.bearer"], b.set["upstream.auth.consumer_secret"] = `"wrong"`, `"wrong"`
			b.run(notReady)
		}},
		{name: "method list: unknown merchant (404)", as: "wrong merchant", want: "PA-UPS-005", code: 1, seen: "bax_id", quick: true, seed: func(b *box) {
			b.set["terminal.bax_id"] = `"99999999"`
			b.serve(b.through(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, "/method/list/99999999/") {
					answers(404, "application/json", `{"valid":false,"error":{"message":"no such merchant"}}`)(w, r)
					return true
				}
				return false
			}))
			b.run(notReady)
		}},
		{name: "method list: none for this terminal (404)", as: "404 no method", want: "PA-UPS-005", code: 1, seen: "bax_id", seed: func(b *box) {
			b.serve(b.through(func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.Path, "/method/list/") {
					answers(404, "application/json", `{"valid":false,"error":{"message":"no method"}}`)(w, r)
					return true
				}
				return false
			}))
			b.run(notReady)
		}},
		{name: "method list: empty", want: "PA-UPS-005", code: 1, seen: "bax_id", seed: func(b *box) {
			b.serve(answers(200, "application/json", "[]"))
			b.run(notReady)
		}},
		{name: "method list: none that can be sold", want: "PA-UPS-006", code: 1, seen: "posagent methods", seed: func(b *box) {
			b.serve(answers(200, "application/json", `[{"priority":1,"paymentProviderId":7,"name":"WALLET","label":"Wallet","meanDelay":10,"transactionTypes":["PAYMENT"],"trigger":["QR"],"defaultTrigger":"QR","delayedAmount":0}]`))
			b.run(notReady)
		}},
		{name: "method list: not usable", want: "PA-UPS-004", code: 1, seen: "no usable method list", seed: func(b *box) {
			b.serve(answers(200, "application/json", `"hello"`))
			b.run(notReady)
		}},
		{name: "backend: no such path (404)", want: "PA-UPS-002", code: 1, seen: "reply 404", seed: func(b *box) {
			b.serve(http.NotFound)
			b.run(notReady)
		}},
		{name: "backend: 500", as: "500 upstream", want: "PA-UPS-001", code: 1, seen: "reply 500", quick: true, seed: func(b *box) {
			b.serve(answers(500, "text/plain", "oops"))
			b.run(notReady)
		}},
		{name: "backend: 429", want: "PA-UPS-001", code: 1, seen: "asked too often", seed: func(b *box) {
			b.serve(answers(429, "text/plain", "slow"))
			b.run(notReady)
		}},
		{name: "backend: schemes elsewhere refuse", want: "PA-UPS-007", code: 1, seen: "reply 401", seed: func(b *box) {
			real := b.set["upstream.base"]
			b.serve(answers(401, "application/json", "{}"))
			b.set["upstream.schemes"], b.set["upstream.base"] = b.set["upstream.base"], real
			b.run(notReady)
		}},
		{name: "payment links: wrong secret, and their method is offered", as: "wrong payment-link secret", want: "PA-UPS-009", code: 1, seen: "[upstream.auth] secret", quick: true,
			seed: func(b *box) {
				b.set["upstream.auth.instance"], b.set["upstream.auth.secret"] = `"demo"`, `"wrong"`
				b.extra = "[paylinks]\nmethod = true\n"
				b.run(isReady)
			}},
		{name: "hosted build: wrong key", want: "PA-UPS-009", code: 1, seen: "[upstream.auth] api_key", seed: func(b *box) {
			b.set["upstream.auth.api_key"] = `"wrong"`
			b.run(isReady)
		}},
		{name: "payments elsewhere: refuse", want: "PA-UPS-009", code: 1, seen: "[upstream.auth] bearer", seed: func(b *box) {
			real := b.set["upstream.base"]
			b.serve(answers(401, "application/json", "{}"))
			b.set["upstream.payments"], b.set["upstream.base"] = b.set["upstream.base"], real
			b.run(isReady)
		}},
		{name: "backend: stalls", want: "PA-NET-011", code: 1, seen: "does not answer in time", quick: true, seed: func(b *box) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b.t, err)
			b.t.Cleanup(func() { _ = l.Close() })
			b.base("http://" + l.Addr().String()) // the kernel takes the connection, and nobody answers
			b.run(notReady)
		}},
		{name: "backend: one byte a second", as: "slow-loris upstream", want: "PA-NET-011", code: 1, seen: "does not answer in time", seed: func(b *box) {
			over := make(chan struct{})
			b.t.Cleanup(func() { close(over) })
			b.serve(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for {
					_, _ = io.WriteString(w, " ")
					w.(http.Flusher).Flush()
					select {
					case <-over:
						return
					case <-r.Context().Done():
						return
					case <-time.After(time.Second):
					}
				}
			})
			b.run(notReady)
		}},
		{name: "backend: breaks off", want: "PA-NET-011", code: 1, seen: "breaks off", seed: func(b *box) {
			b.serve(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			b.run(notReady)
		}},
		{name: "backend: refuses connections", want: "PA-NET-005", code: 1, seen: "refuses the connection", quick: true, seed: func(b *box) {
			b.base("http://" + need.ClosedPort(b.t))
			b.run(notReady)
		}},
		{name: "backend: TLS stalls", want: "PA-NET-006", code: 1, seen: "does not answer in time", seed: func(b *box) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b.t, err)
			b.t.Cleanup(func() { _ = l.Close() })
			b.base("https://" + l.Addr().String())
			b.run(notReady)
		}},
		{name: "network: captive portal", as: "captive portal", want: "PA-NET-012", code: 1, seen: "login page", quick: true, seed: func(b *box) {
			b.serve(answers(200, "text/html; charset=utf-8", "<h1>Welcome to the hotel</h1>"))
			b.run(notReady)
		}},
		{name: "network: a redirect", want: "PA-NET-012", code: 1, seen: "a redirect", seed: func(b *box) {
			b.serve(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://192.0.2.1/login", http.StatusFound)
			})
			b.run(notReady)
		}},
		{name: "DNS: the name does not exist", want: "PA-NET-003", code: 1, seen: "does not exist", root: true, seed: func(b *box) {
			b.names().say(noSuchName)
			b.base("https://backend.example")
			b.run(notReady)
		}},
		{name: "DNS: hijacked, a stranger answers", as: "DNS hijack", want: "PA-NET-008", code: 1, seen: "Shop Router CA", root: true, seed: func(b *box) {
			b.names().say(loopback)
			b.serveTLS(newAuthority(b.t, "backend.example", soon()), b.through(nil))
			b.set["upstream.roots_file"] = fmt.Sprintf("%q", newAuthority(b.t, "backend.example", soon()).root)
			b.set["upstream.base"] = strings.Replace(b.set["upstream.base"], "127.0.0.1", "backend.example", 1)
			b.run(notReady)
		}},
		{name: "DNS: no server answers", as: "DNS dead", want: "PA-NET-002", code: 1, seen: "name service", root: true, seed: func(b *box) {
			b.names().say(nothing)
			b.base("https://backend.example")
			b.run(notReady)
		}},
		{name: "proxy: 407", as: "proxy 407", want: "PA-NET-004", code: 1, seen: "demands a login", quick: true, seed: func(b *box) {
			b.serve(answers(http.StatusProxyAuthRequired, "text/html", "login"))
			b.set["upstream.proxy"] = b.set["upstream.base"]
			b.base("https://backend.invalid")
			b.run(notReady)
		}},
		{name: "proxy: away", want: "PA-NET-004", code: 1, seen: "proxy cannot be reached", seed: func(b *box) {
			b.set["upstream.proxy"] = fmt.Sprintf("%q", "http://"+need.ClosedPort(b.t))
			b.base("https://backend.invalid")
			b.run(notReady)
		}},
		{name: "TLS: unknown authority", want: "PA-NET-008", code: 1, seen: "Shop Router CA", quick: true, seed: func(b *box) {
			b.serveTLS(newAuthority(b.t, "127.0.0.1", soon()), b.through(nil))
			b.set["upstream.roots_file"] = fmt.Sprintf("%q", newAuthority(b.t, "127.0.0.1", soon()).root)
			b.run(notReady)
		}},
		{name: "TLS: out of date", as: "expired cert", want: "PA-NET-007", code: 1, seen: "date -u", quick: true, seed: func(b *box) {
			b.serveTLS(newAuthority(b.t, "127.0.0.1", time.Now().Add(-time.Hour)), b.through(nil))
			b.run(notReady)
		}},
		{name: "TLS: another name", want: "PA-NET-009", code: 1, seen: "for another name", seed: func(b *box) {
			b.serveTLS(newAuthority(b.t, "other.example", soon()), b.through(nil))
			b.run(notReady)
		}},
		{name: "TLS: wrong pin", as: "bad pin", want: "PA-NET-010", code: 1, seen: "pinned", quick: true, seed: func(b *box) {
			b.serveTLS(newAuthority(b.t, "127.0.0.1", soon()), b.through(nil))
			b.set["upstream.pins"] = fmt.Sprintf("[%q, %q]", newAuthority(b.t, "a", soon()).pin, newAuthority(b.t, "b", soon()).pin)
			b.run(notReady)
		}},
		{name: "TLS: the server speaks none", want: "PA-NET-006", code: 1, seen: "no secure connection", seed: func(b *box) {
			b.base(strings.Replace(b.backend, "http://", "https://", 1))
			b.run(notReady)
		}},
		{name: "TLS: all is well", seed: func(b *box) {
			a := newAuthority(b.t, "127.0.0.1", soon())
			b.serveTLS(a, b.through(nil))
			b.set["upstream.pins"] = fmt.Sprintf("[%q, %q]", a.pin, newAuthority(b.t, "a", soon()).pin)
			b.run(isReady)
		}},
		{name: "clock: an hour off the backend's", as: "wrong clock", want: "PA-CLK-003", code: 1, seen: "more than five minutes", quick: true, seed: func(b *box) {
			real := b.through(nil)
			b.serve(func(w http.ResponseWriter, r *http.Request) { real(&dated{ResponseWriter: w}, r) })
			b.run(isReady)
		}},
		{name: "clock: before the program was built", want: "PA-CLK-001", code: 1, seen: "before this program was built", seed: func(b *box) {
			b.run(isReady)
			b.examiner = futureBuild(b.t)
		}},
		{name: "the stored method list is stale", as: "stale method list", want: "PA-UPS-008", code: 1, seen: "not refreshed", seed: func(b *box) {
			began := time.Now()
			b.serve(b.through(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/method/list/") || strings.HasSuffix(r.UserAgent(), " doctor") || time.Since(began) < 5*time.Second {
					return false
				}
				answers(503, "text/plain", "not for terminals")(w, r)
				return true
			}))
			b.set["methods.refresh"] = `"1s"`
			b.run(isReady)
			<-time.After(45 * time.Second) // three times the interval and half a minute, behind the last list
		}},
	}
}

// dated is a reply of a backend whose clock is an hour ahead.
type dated struct{ http.ResponseWriter }

func (d *dated) WriteHeader(status int) {
	d.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	d.ResponseWriter.WriteHeader(status)
}

// lineFaults are those of the register's line.
func lineFaults() []fault {
	return []fault{
		{name: "line: none set", want: "PA-SER-001", code: 1, seen: "[ecr]", seed: func(b *box) {
			delete(b.set, "ecr.tcp")
			b.run(notReady + "no register line is set, and no local program may sell")
		}},
		{name: "line: none set, and the local programs may not sell", want: "PA-SER-001", code: 1, seen: "[port.clients]", seed: func(b *box) {
			delete(b.set, "ecr.tcp")
			b.extra = "[port.clients.office]\ntoken = \"office-token-0123456789\"\nmay = [\"read\", \"all\"]\n"
			b.run(notReady + "no register line is set, and no local program may sell")
		}},
		{name: "line: none set, and a local program sells", seed: func(b *box) {
			delete(b.set, "ecr.tcp")
			b.extra = "[port.clients.kiosk]\ntoken = \"kiosk-token-0123456789\"\nmay = [\"read\", \"sales\"]\n"
			b.run(isReady)
		}},
		{name: "line: missing", want: "PA-SER-002", code: 1, seen: "is not there", quick: true, seed: func(b *box) {
			delete(b.set, "ecr.tcp")
			b.set["ecr.serial"] = `"/dev/ttyUSB93"`
			b.run(notReady + "the register line")
		}},
		{name: "line: unplugged", as: "cable out", want: "PA-SER-002", code: 1, seen: "was unplugged", seed: func(b *box) {
			c := b.cable()
			b.run(isReady)
			c.Pull()
			b.until("the terminal misses its line", func() bool {
				out, _ := b.command(b.t.Context(), "status", "--check").Output()
				return strings.Contains(string(out), "was unplugged")
			})
		}},
		{name: "line: a file", want: "PA-SER-003", code: 1, seen: "no serial device", seed: func(b *box) {
			delete(b.set, "ecr.tcp")
			path := filepath.Join(b.dir, "line")
			require.NoError(b.t, os.WriteFile(path, nil, 0o600))
			b.set["ecr.serial"] = fmt.Sprintf("%q", path)
			b.run(notReady + "the register line")
		}},
		{name: "line: no permission", want: "PA-SER-004", code: 1, seen: "may not be opened by this user", root: true, seed: func(b *box) {
			c := b.cable()
			require.NoError(b.t, os.Chmod(c.Device, 0o600))
			b.uid = 65534
			b.run(notReady + "the register line")
		}},
		{name: "line: another program holds it", as: "port busy", want: "PA-SER-005", code: 1, seen: "in use by another program", quick: true, seed: func(b *box) {
			c := b.cable()
			f, err := os.OpenFile(c.Device, os.O_RDWR|unix.O_NOCTTY, 0)
			require.NoError(b.t, err)
			b.t.Cleanup(func() { _ = f.Close() })
			require.NoError(b.t, unix.IoctlSetInt(int(f.Fd()), unix.TIOCEXCL, 0))
			lock := filepath.Join("/run/lock", "LCK..pts_"+filepath.Base(c.Device))
			l, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				l, err = os.OpenFile(filepath.Join(os.TempDir(), filepath.Base(lock)), os.O_CREATE|os.O_RDWR, 0o644)
			}
			require.NoError(b.t, err)
			b.t.Cleanup(func() { _ = l.Close() })
			require.NoError(b.t, unix.Flock(int(l.Fd()), unix.LOCK_EX))
			b.run(notReady + "the register line")
		}},
		{name: "line: wrong parity", as: "wrong parity", want: "PA-SER-007", code: 1, seen: "no message is among them", seed: func(b *box) {
			c := b.cable()
			b.run(isReady)
			seven := even([]byte("\x10\x02\x06\x00\x04\x00\x00\x00\x3e\x10\x03\x21\x43")) // a registration of 7 data bits and even parity
			_, err := c.Far.Write(bytes.Repeat(seven, 40))
			require.NoError(b.t, err)
			b.until("the terminal has counted the noise", func() bool {
				out, _ := b.command(b.t.Context(), "status").Output()
				return strings.Contains(string(out), "baud and stop_bits")
			})
		}},
		{name: "line: wrong speed", as: "wrong baud", want: "PA-SER-007", code: 1, seen: "no message is among them", seed: func(b *box) {
			c := b.cable()
			b.run(isReady)
			_, err := c.Far.Write([]byte(strings.Repeat("\xf8\x80\x00\xf8\x78", 40)))
			require.NoError(b.t, err)
			b.until("the terminal has counted the noise", func() bool {
				out, _ := b.command(b.t.Context(), "status").Output()
				return strings.Contains(string(out), "baud and stop_bits")
			})
		}},
	}
}

// listFaults are those of the till's list that is compared daily.
func listFaults() []fault {
	set := func(b *box, path string) { b.extra = fmt.Sprintf("[reconcile]\nfile = %q\n", path) }
	return []fault{
		{name: "list: all is well", seed: func(b *box) {
			path := filepath.Join(b.dir, "till.csv")
			require.NoError(b.t, os.WriteFile(path, []byte("time,amount,paid,id\n2026-11-26T14:30:05,12.50,yes,order-1\n"), 0o644))
			set(b, path)
			b.run(isReady)
		}},
		{name: "list: missing", want: "PA-REC-001", code: 1, seen: "is not there", seed: func(b *box) {
			set(b, filepath.Join(b.dir, "till.csv"))
			b.run(isReady)
		}},
		{name: "list: damaged", want: "PA-REC-001", code: 1, seen: "line 2: amount", seed: func(b *box) {
			path := filepath.Join(b.dir, "till.csv")
			require.NoError(b.t, os.WriteFile(path, []byte("amount;paid;id\n12,50;yes;order-1\n"), 0o644))
			set(b, path)
			b.run(isReady)
		}},
	}
}

// even gives letters of seven bits the eighth that makes the number of ones even.
func even(data []byte) []byte {
	for i, b := range data {
		data[i] = b | byte(bits.OnesCount8(b)%2)<<7
	}
	return data
}
