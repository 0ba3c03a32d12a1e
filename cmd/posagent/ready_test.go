package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
	"posagent/agent/upstream"
	"posagent/cross/certs"
	"posagent/cross/need"
	"posagent/ecr/ecrtest/lines"
)

// terminalRun is a running `posagent run`.
type terminalRun struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	more chan struct{}
	end  chan struct{}

	mu    sync.Mutex
	out   []string // lines of the data stream
	talk  bytes.Buffer
	taken int
}

// methodList is what a backend answers that knows one method.
const methodList = `[{"priority":1,"paymentProviderId":7,"name":"WALLET","label":"Wallet","meanDelay":10,"transactionTypes":["PAYMENT","REVERSAL"],"trigger":["QR"],"defaultTrigger":"QR","delayedAmount":0}]`

// served answers as a backend with a method list does; of a transaction it knows nothing.
func served(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	if !strings.HasPrefix(r.URL.Path, "/ms/naa/terminal/method/list/") {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"valid":false,"error":{"message":"not found"}}`)
		return
	}
	_, _ = io.WriteString(w, methodList)
}

// terminalOn writes a configuration and gives its directory. base and auth are those of [upstream]; more are further lines of it.
func terminalOn(t *testing.T, base, more, ecr string) string {
	t.Helper()
	dir := t.TempDir()
	if ecr == "" {
		ecr = `tcp = "127.0.0.1:0"`
	}
	text := fmt.Sprintf("[terminal]\nbax_id = \"10000001\"\nterminal_id = \"20000001\"\nmerchant_id = \"demomerchant\"\n[port]\nlisten = \"127.0.0.1:0\"\n"+
		"[display]\nconsole = false\n[ecr]\n%s\n[upstream]\nbase = %q\n%s\n[upstream.auth]\nconsumer_key = \"demo-consumer\"\nconsumer_secret = \"demo-consumer-secret\"\n", ecr, base, more)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600))
	return dir
}

// runIn starts the program on a directory.
func runIn(t *testing.T, dir string) *terminalRun {
	t.Helper()
	x := &terminalRun{t: t, dir: dir, more: make(chan struct{}, 1), end: make(chan struct{})}
	x.cmd = exec.Command("posagent", "run", "--config", filepath.Join(dir, "config.toml"), "--state", filepath.Join(dir, "state"))
	out, err := x.cmd.StdoutPipe()
	require.NoError(t, err)
	talk, err := x.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, x.cmd.Start())
	var both sync.WaitGroup
	read := func(from io.Reader, take func([]byte)) {
		defer both.Done()
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			x.mu.Lock()
			take(buf[:n])
			x.mu.Unlock()
			select {
			case x.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}
	var half []byte
	both.Add(2)
	go read(out, func(p []byte) {
		half = append(half, p...)
		for {
			line, rest, whole := bytes.Cut(half, []byte("\n"))
			if !whole {
				return
			}
			x.out, half = append(x.out, string(line)), rest
		}
	})
	go read(talk, func(p []byte) { x.talk.Write(p) })
	go func() { both.Wait(); _ = x.cmd.Wait(); close(x.end) }()
	t.Cleanup(x.stop)
	return x
}

func (x *terminalRun) stop() {
	_ = x.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-x.end:
	case <-time.After(need.Limit()):
		_ = x.cmd.Process.Kill()
		<-x.end
	}
}

// next is the next line of the data stream.
func (x *terminalRun) next() string {
	x.t.Helper()
	late := time.After(need.Limit())
	for {
		x.mu.Lock()
		if len(x.out) > x.taken {
			defer x.mu.Unlock()
			x.taken++
			return x.out[x.taken-1]
		}
		x.mu.Unlock()
		select {
		case <-x.more:
		case <-x.end:
			x.t.Fatal("ended: ", x.said())
		case <-late:
			x.t.Fatalf("waited %s for a line: %s", need.Limit(), x.said())
		}
	}
}

// until is the next line of the data stream that has the pattern. A loaded machine may say before it that the backend has not answered
// yet, or not in time; no line before it says ready, unless the terminal was.
func (x *terminalRun) until(pattern string) string {
	x.t.Helper()
	for want := regexp.MustCompile(pattern); ; {
		line := x.next()
		if want.MatchString(line) {
			return line
		}
		require.Regexp(x.t, `^not ready: .*(has not answered yet|does not answer in time)|^ready .* offline: .* does not answer in time`, line, "waited for %s", pattern)
	}
}

func (x *terminalRun) said() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.out, "\n") + "\n" + x.talk.String()
}

// status runs `posagent status` and gives its first line, what it printed, and its exit code.
func statusOf(t *testing.T, dir string, args ...string) (first, all string, code int) {
	t.Helper()
	cmd := exec.Command("posagent", append([]string{"status", "--config", filepath.Join(dir, "config.toml"), "--state", filepath.Join(dir, "state")}, args...)...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &failed)
		code = failed.ExitCode()
	}
	first, _, _ = strings.Cut(string(out), "\n")
	return first, string(out), code
}

// port finds the local port in what the program said.
func (x *terminalRun) port() string {
	x.t.Helper()
	late := need.Deadline()
	for {
		for _, word := range strings.Fields(x.said()) {
			if at, ok := strings.CutPrefix(word, "port="); ok {
				return at
			}
		}
		require.True(x.t, time.Now().Before(late), "no port: %s", x.said())
		select {
		case <-x.more:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := (&http.Client{Timeout: need.Limit(), Transport: &http.Transport{DisableKeepAlives: true}}).Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// bank is a certificate authority with one server's certificate.
type bank struct {
	root   string // file
	pin    string
	server *tls.Config
}

func newBank(t *testing.T, name string, until time.Time) bank {
	t.Helper()
	ca := certs.New(t, name)
	leaf := ca.Leaf(t, func(c *x509.Certificate) { c.NotAfter = until })
	return bank{ca.File, leaf.Pin(), leaf.Config()}
}

// serve answers over TLS with the certificate, and gives the address.
func (b bank) serve(t *testing.T, h http.HandlerFunc) string { return certs.Serve(t, b.server, h) }

func plainServer(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func answer(status int, typ, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", typ)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func newCable(t *testing.T) *lines.Cable {
	t.Helper()
	c, err := lines.Plug(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(c.Pull)
	return c
}

// notReady is what every place must say of a fault.
type notReady struct {
	cause  string
	words  string // contained in it
	remedy string // likewise
}

// agree wants every place to say that dir's terminal is not ready, for one cause, with what to type. line is what run printed.
func (want notReady) agree(t *testing.T, x *terminalRun, line string) {
	t.Helper()
	text, not := strings.CutPrefix(line, "not ready: ")
	require.True(t, not, "%q %s", line, x.said())
	words, remedy, two := strings.Cut(text, ": ")
	require.True(t, two, line)
	require.Contains(t, words, want.words)
	require.Contains(t, remedy, want.remedy)

	first, all, code := statusOf(t, x.dir)
	require.Equal(t, "NOT READY: "+text, first)
	t.Log(first)
	require.Equal(t, 1, code)
	require.Greater(t, strings.Count(all, "\n"), 3)

	_, all, code = statusOf(t, x.dir, "--check")
	require.Equal(t, "NOT READY: "+text+"\n", all)
	require.Equal(t, 1, code)

	_, all, code = statusOf(t, x.dir, "--json")
	require.Equal(t, 1, code)
	var v struct {
		First    string
		Ready    bool
		NotReady struct{ Cause, Words, Remedy string }
	}
	require.NoError(t, json.Unmarshal([]byte(all), &v))
	require.Equal(t, first, v.First)
	require.False(t, v.Ready)
	require.Equal(t, want.cause, v.NotReady.Cause)
	require.Equal(t, text, v.NotReady.Words+": "+v.NotReady.Remedy)

	status, body := get(t, x.port()+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, text)
	require.Contains(t, x.said(), "level=WARN msg=\"not ready\" cause="+want.cause)
}

// TestField_U2U3EveryFaultHasItsOwnCause: with each fault of the way to the backend, and with each fault of a register line, the
// program says that it is not ready, why, and what to type: as it runs, in the status, and to a monitor.
func TestField_U2U3EveryFaultHasItsOwnCause(t *testing.T) {
	t.Parallel()
	good := newBank(t, "Good Root", time.Now().Add(time.Hour))
	old := newBank(t, "Good Root", time.Now().Add(-time.Hour))
	strange := newBank(t, "Shop Router CA", time.Now().Add(time.Hour))
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nobody reads
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	gone := "http://" + need.ClosedPort(t)
	proxy := plainServer(t, answer(http.StatusProxyAuthRequired, "text/html", "<h1>login</h1>"))
	roots := func(file string) string { return fmt.Sprintf("roots_file = %q", file) }
	for name, tc := range map[string]struct {
		base, more, ecr string
		want            notReady
	}{
		"credentials": {base: plainServer(t, answer(401, "application/json", `{"valid":false,"error":{"message":"no"}}`)),
			want: notReady{"credentials", "refuses the credentials, reply 401", "[upstream.auth] consumer_secret or consumer_key in "}},
		"no such name":   {base: "https://backend.invalid", want: notReady{"no_name", "the name backend.invalid does not exist", "getent hosts backend.invalid"}},
		"CA not trusted": {base: strange.serve(t, served), more: roots(good.root), want: notReady{"no_chain", `an authority that is not trusted, issuer "Shop Router CA"`, "[upstream] roots_file in "}},
		"expired":        {base: old.serve(t, served), more: roots(old.root), want: notReady{"expired", "is out of date or not valid yet, valid 20", "date -u"}},
		"pin":            {base: good.serve(t, served), more: roots(good.root) + fmt.Sprintf("\npins = [%q, %q]", old.pin, strange.pin), want: notReady{"wrong_pin", "none of the pinned keys", "[upstream] pins in "}},
		"407":            {base: "https://backend.invalid", more: fmt.Sprintf("proxy = %q", proxy), want: notReady{"proxy_login", "the proxy demands a login", "proxy_auth_file in "}},
		"login page":     {base: plainServer(t, answer(200, "text/html; charset=utf-8", "<h1>Welcome to the hotel</h1>")), want: notReady{"portal", "a network's login page answers in the place of 127.0.0.1:", "with a browser"}},
		"redirect":       {base: plainServer(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://192.0.2.1/login", 302) }), want: notReady{"portal", "a redirect", "with a browser"}},
		"404":            {base: plainServer(t, http.NotFound), want: notReady{"no_service", "has no such service, reply 404", "correct the path of [upstream] base in "}},
		"500":            {base: plainServer(t, answer(500, "text/plain", "oops")), want: notReady{"failing", "fails, reply 500", "call the backend's operator"}},
		"stall":          {base: "http://" + silent.Addr().String(), more: `timeout = "1s"`, want: notReady{"stall", "does not answer in time", "curl -sv "}},
		"refused":        {base: gone, want: notReady{"refused", "refuses the connection", "correct host and port of [upstream] base"}},
		"no method list": {base: plainServer(t, answer(200, "application/json", `"hello"`)), want: notReady{"no_list", "sends no usable method list", "correct [upstream] base or methods"}},
		"no method":      {base: plainServer(t, answer(200, "application/json", `[]`)), want: notReady{"no_methods", "knows no payment method", "correct bax_id and terminal_id"}},
		"schemes elsewhere refuse": {base: plainServer(t, served), more: fmt.Sprintf("schemes = %q", plainServer(t, answer(401, "application/json", `{}`))),
			want: notReady{"credentials", "refuses the credentials, reply 401", "[upstream.auth] consumer_secret or consumer_key in "}},
		"no fitting method": {base: plainServer(t, answer(200, "application/json", strings.ReplaceAll(methodList, `,"REVERSAL"`, ""))), want: notReady{"no_fitting_method", "none of the backend's payment methods can be sold here", "posagent methods --config "}},
		"serial line gone":  {base: plainServer(t, served), ecr: `serial = "/dev/ttyUSB93"`, want: notReady{"line_missing", "the register line /dev/ttyUSB93 is not there", "ls /dev/serial/by-id"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := runIn(t, terminalOn(t, tc.base, tc.more, tc.ecr))
			line := x.until("^not ready: .*(" + regexp.QuoteMeta(tc.want.words) + "|the network's name service does not answer)")
			if strings.Contains(line, "name service") && tc.want.cause == "no_name" { // this machine's is away
				tc.want = notReady{"name_service", "the network's name service does not answer, so backend.invalid is not found", "cat /etc/resolv.conf"}
			}
			tc.want.agree(t, x, line)
		})
	}
}

// TestField_U2SchemesElsewhere: schemes at an address of their own are asked for a transaction that does not exist; whatever they call it, they
// have answered.
func TestField_U2SchemesElsewhere(t *testing.T) {
	t.Parallel()
	for _, refusal := range []http.HandlerFunc{http.NotFound, answer(500, "text/plain", "what"), answer(400, "application/json", `{}`)} {
		x := runIn(t, terminalOn(t, plainServer(t, served), fmt.Sprintf("schemes = %q", plainServer(t, refusal)), ""))
		x.until(`^ready port=\S+ register=tcp:\S+$`)
		x.stop()
	}
}

// TestField_U2UnpluggedLine: a cable that is pulled from a ready terminal makes it not ready, and ready again when it is back.
func TestField_U2UnpluggedLine(t *testing.T) {
	t.Parallel()
	c := newCable(t)
	x := runIn(t, terminalOn(t, plainServer(t, served), "", fmt.Sprintf("serial = %q", c.Name)))
	line := x.until(`^ready port=http://127\.0\.0\.1:\d+ register=` + c.Name + `$`)
	first, _, code := statusOf(t, x.dir)
	require.Equal(t, "READY", first)
	require.Zero(t, code)
	status, body := get(t, x.port()+"/readyz")
	require.Equal(t, 200, status, body)

	c.Pull()
	notReady{"line_unplugged", "the register line " + c.Name + " was unplugged", "plug the cable in again"}.agree(t, x, x.until("^not ready: the register line "))

	again := newCable(t)
	require.NoError(t, os.Rename(again.Name, c.Name))
	require.Equal(t, line, x.until("^ready "))
	t.Cleanup(func() { _ = os.Remove(c.Name) })
	_, _, code = statusOf(t, x.dir)
	require.Zero(t, code)
}

// TestField_U2OfflineIsReadyOnceProven: a backend that goes away leaves a proven terminal ready, over a restart too, and says that it is
// offline; other credentials have to be proven first; what a person must mend makes it not ready; and all is well again by itself.
func TestField_U2OfflineIsReadyOnceProven(t *testing.T) {
	t.Parallel()
	var mode atomic.Int32 // 0 well, 1 away, 2 refuses
	base := plainServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch mode.Load() {
		case 0:
			served(w, r)
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			answer(403, "application/json", `{}`)(w, r)
		}
	})
	dir := terminalOn(t, base, "", "")
	x := runIn(t, dir)
	x.until(`^ready port=\S+ register=tcp:\S+$`)
	x.stop()

	mode.Store(1)
	x = runIn(t, dir)
	x.until(`^ready port=\S+ register=tcp:\S+ offline: the connection to 127\.0\.0\.1:\d+ breaks off: curl -sv `)
	first, all, code := statusOf(t, dir)
	require.Contains(t, first, "READY, offline: the connection to 127.0.0.1:")
	require.Zero(t, code)
	require.Contains(t, all, "20000001")
	_, all, _ = statusOf(t, dir, "--check", "--json")
	require.Contains(t, all, `"cause": "broken"`)

	mode.Store(2) // seen at the next question, which a terminal that is offline asks by itself
	notReady{"credentials", "refuses the credentials, reply 403", "[upstream.auth] consumer_secret or consumer_key in "}.agree(t, x, x.until("^not ready: .*refuses the credentials"))
	mode.Store(0)
	x.until(`^ready port=\S+ register=tcp:\S+$`)
	x.stop()

	mode.Store(1)
	path := filepath.Join(dir, "config.toml")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte("demo-consumer-secret"), []byte("another-secret"), 1), 0o600))
	x = runIn(t, dir)
	notReady{"broken", "breaks off", "curl -sv "}.agree(t, x, x.until("^not ready: .*breaks off"))
	mode.Store(0)
	x.until(`^ready `)
	x.stop()

	first, _, code = statusOf(t, dir)
	require.Equal(t, "NOT READY: the terminal does not run: posagent run --config "+path+" --state "+filepath.Join(dir, "state"), first)
	require.Equal(t, 4, code)
}

// TestField_U3EveryFaultHasARow: whatever the connection can suffer stands in the table.
func TestField_U3EveryFaultHasARow(t *testing.T) {
	for _, kind := range upstream.Kinds() {
		require.Contains(t, ready.Causes(), ready.Cause(kind))
	}
}
