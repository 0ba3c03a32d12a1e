package browser

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// till is a cash register on the terminal's line, byte by byte.
type till struct {
	t    *testing.T
	conn net.Conn
}

func (x terminal) till(t *testing.T) *till {
	t.Helper()
	conn, err := net.Dial("tcp", x.line)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &till{t: t, conn: conn}
}

func (r *till) send(text string) {
	r.t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(r.t, err)
	_, err = r.conn.Write(data)
	require.NoError(r.t, err)
}

// expect reads one message; all of ours are shorter than 255 bytes.
func (r *till) expect(begins string) {
	r.t.Helper()
	require.NoError(r.t, r.conn.SetReadDeadline(time.Now().Add(patience())))
	head := make([]byte, 3)
	_, err := io.ReadFull(r.conn, head)
	require.NoError(r.t, err, "instead of %s", begins)
	data := make([]byte, head[2])
	_, err = io.ReadFull(r.conn, data)
	require.NoError(r.t, err)
	got := strings.ToUpper(hex.EncodeToString(append(head, data...)))
	want, wantData, _ := strings.Cut(begins, " .. ") // the length between is not compared
	require.True(r.t, strings.HasPrefix(got, strings.ReplaceAll(want, " ", "")), "got %s, want %s", got, begins)
	require.True(r.t, strings.HasPrefix(got[6:], strings.ReplaceAll(wantData, " ", "")), "got %s, want %s", got, begins)
}

// paid is what the wallet does: it pays the newest sale.
func (x terminal) paid(t *testing.T, backend string) {
	t.Helper()
	var list struct {
		Sales []struct{ Reference string }
	}
	data, err := exec.Command(built.posagent, "sale", "list", "--json", "--config", x.file, "--state", x.dir).Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &list))
	require.NotEmpty(t, list.Sales)
	deadline := time.Now().Add(patience())
	for {
		out, err := exec.Command(built.posagent, "wallet", "pay", list.Sales[0].Reference, "--backend", backend).CombinedOutput()
		if err == nil {
			return
		}
		require.True(t, time.Now().Before(deadline), "%s", out) // the backend may not have it yet
	}
}

// speak lets the page that is open write to an address as a page can; it ends when the browser has given each of them up.
const speak = `(async (line, bodies) => {
	const settled = (p) => Promise.race([p.catch(() => {}), new Promise((yes) => setTimeout(yes, 10000))]);
	for (const body of bodies) {
		const blob = new Blob([Uint8Array.from(body)]);
		await settled(fetch("http://" + line + "/", {method: "POST", mode: "no-cors", body: blob}));
		await settled(fetch("https://" + line + "/", {method: "POST", mode: "no-cors", body: blob}));
		await settled(new Promise((yes) => { const w = new WebSocket("ws://" + line + "/"); w.onopen = () => w.send(blob); w.onerror = yes; w.onclose = yes; }));
		navigator.sendBeacon("http://" + line + "/", blob);
		await settled(fetch("http://" + line + "/", {method: "GET", mode: "no-cors"}));
	}
	return true;
})`

func (p *tab) speaks(line string, bodies ...[]byte) {
	p.t.Helper()
	var plain [][]int
	for _, body := range bodies {
		var one []int
		for _, b := range body {
			one = append(one, int(b))
		}
		plain = append(plain, one)
	}
	args, err := json.Marshal([]any{line, plain})
	require.NoError(p.t, err)
	var done bool
	p.do(chromedp.Evaluate(speak+"(..."+string(args)+")", &done, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	require.True(p.t, done)
}

// behindHeader is a message of a register behind a run of 04, seven times: a reader that has lost its place in the header finds
// it again in the run, and one of the seven begins where it then looks. The run is longer than a message of letters may be, and
// short, because the browser gives up at the first answer that is not HTTP.
func behindHeader(message string) (bodies [][]byte) {
	data, err := hex.DecodeString(strings.ReplaceAll(message, " ", ""))
	if err != nil {
		panic(err)
	}
	for shift := range 7 {
		bodies = append(bodies, append([]byte(strings.Repeat("\x04", 140+shift)), data...))
	}
	return bodies
}

// prize is a page of a stranger.
func prize(t *testing.T) *tab {
	t.Helper()
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>prize</title><body>You have won.</body>")
	}))
	t.Cleanup(evil.Close)
	p := newTab(t)
	p.open(evil.URL)
	p.says("You have won.")
	return p
}

// A page that writes to the register's line reverses no sale and aborts none.
func TestField_L1AWebPageMovesNoMoney(t *testing.T) {
	b := startBackend(t, noWallet)
	x := b.startTerminal()
	p := prize(t)
	r := x.till(t)
	r.send("06 00 06 12 34 56 00 09 78") // a register that prints nothing
	r.expect("80 00 00")
	r.expect("06 0F")
	r.send("80 00 00")
	r.send("06 01 07 04 00 00 00 00 12 50")
	r.expect("80 00 00")
	x.paid(t, b.url)
	r.expect("04 0F .. 27 00")
	r.send("80 00 00")
	r.expect("06 0F")
	r.send("80 00 00")
	require.EqualValues(t, 1250, b.merchantNet())

	p.speaks(x.line, behindHeader("06 30 06 00 00 00 87 00 01")...)
	r.send("05 01 05 00 00 00 03 02")
	r.expect("80 00 00")
	r.expect("06 0F 01 00") // ready: nothing runs
	r.send("80 00 00")
	require.EqualValues(t, 1250, b.merchantNet(), "the sale stands")

	r.send("06 01 07 04 00 00 00 00 20 00")
	r.expect("80 00 00")
	p.speaks(x.line, behindHeader("06 B0 00")...)
	x.paid(t, b.url)
	r.expect("04 0F .. 27 00")
	r.send("80 00 00")
	r.expect("06 0F")
	require.EqualValues(t, 3250, b.merchantNet(), "the second sale was not aborted")
}

// The line ends a browser's connection for its first byte, and answers nothing.
func TestField_L1ABrowserIsNeverAnswered(t *testing.T) {
	b := startBackend(t, noWallet)
	x := b.startTerminal()
	p := prize(t)
	relay, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = relay.Close() })
	type end struct {
		first  byte
		answer string
		err    error
	}
	ends := make(chan end, 1000)
	go func() {
		for {
			conn, err := relay.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var one [1]byte
				if _, err := conn.Read(one[:]); err != nil {
					return // a browser opens connections that it does not use
				}
				line, err := net.Dial("tcp", x.line)
				if err != nil {
					ends <- end{err: err}
					return
				}
				defer line.Close()
				_ = line.SetDeadline(time.Now().Add(patience()))
				_, err = line.Write([]byte{one[0], 0, 0}) // a whole message, were there such a class
				answer, readErr := io.ReadAll(line)
				if err == nil {
					err = readErr
				}
				ends <- end{one[0], string(answer), err}
			}()
		}
	}()
	p.speaks(relay.Addr().String(), []byte{0x06, 0xB0, 0x00})
	_ = relay.Close()
	seen := map[byte]bool{}
	for len(ends) > 0 {
		e := <-ends
		require.NoError(t, e.err, "byte %02X: still open after %s", e.first, patience())
		require.Empty(t, e.answer)
		seen[e.first] = true
	}
	require.True(t, seen['P'], "POST")
	require.True(t, seen['G'], "GET and the WebSocket upgrade")
	require.True(t, seen[0x16], "TLS")
}
