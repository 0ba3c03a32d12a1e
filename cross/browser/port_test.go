package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// terminal is a running `posagent run`.
type terminal struct {
	port, token string // of local clients
	line        string // host and port of the register line
	dir, file   string // state and configuration
	stop        func() // ends it at once
}

// startTerminal runs a terminal of the backend until the test ends. Its configuration has each even text of changes in place of the one
// before it.
func (b *backend) startTerminal(changes ...string) terminal {
	b.t.Helper()
	dir := b.t.TempDir()
	x := terminal{dir: filepath.Join(dir, "state"), file: filepath.Join(dir, "config.toml")}
	config := fmt.Sprintf(`[terminal]
bax_id = "10000001"
terminal_id = "20000001"
merchant_id = "demomerchant"
merchant_name = "Corner Shop"
[port]
listen = "127.0.0.1:0"
[upstream]
base = %q
[upstream.auth]
consumer_key = "demo-consumer"
consumer_secret = "demo-consumer-secret"
[ecr]
tcp = "127.0.0.1:0"
[display]
console = false
`, b.url)
	require.NoError(b.t, os.WriteFile(x.file, []byte(strings.NewReplacer(changes...).Replace(config)), 0o600))
	cmd := exec.Command(built.posagent, "run", "--config", x.file, "--state", x.dir)
	talk, err := os.Create(filepath.Join(dir, "talk"))
	require.NoError(b.t, err)
	defer talk.Close()
	cmd.Stderr = talk
	out, err := cmd.StdoutPipe()
	require.NoError(b.t, err)
	require.NoError(b.t, cmd.Start())
	x.stop = sync.OnceFunc(func() {
		require.NoError(b.t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
	})
	b.t.Cleanup(x.stop)
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready") && !strings.Contains(lines.Text(), "methods can be sold") { // by hand: once a page is there
	}
	said, err := os.ReadFile(talk.Name())
	require.NoError(b.t, err)
	for word := range strings.FieldsSeq(string(said)) { // "serving port=URL register=tcp:ADDRESS"
		if at, yes := strings.CutPrefix(word, "port="); yes {
			x.port = at
		}
		if at, yes := strings.CutPrefix(word, "register=tcp:"); yes {
			x.line = at
		}
	}
	require.NotEmpty(b.t, x.port, "%s\n%s", lines.Text(), said)
	require.NotEmpty(b.t, x.line, "%s\n%s", lines.Text(), said)
	data, err := os.ReadFile(filepath.Join(x.dir, "port.token"))
	require.NoError(b.t, err)
	x.token = strings.TrimSpace(string(data))
	return x
}

const stolenSale = `{"type":"Moto","amount":1250,"currencyCode":"EUR","processing":"Sale","cardDetails":{"pan":"4111111111111111","expiryYear":2030,"expiryMonth":12}}`

// attacks is what a page does that wants to read the port or make it pay: each gives what it got, "" = nothing. It knows even
// the token.
const attacks = `(async (port, token, sale) => {
	const got = {}, auth = {"Authorization": "Bearer " + token}, json = {...auth, "Content-Type": "application/json"};
	const patient = (p) => Promise.race([p, new Promise((yes) => setTimeout(() => yes(""), 3000))]);
	const read = (p) => patient(p.then((r) => r.text().then((t) => r.ok ? t : "")).catch(() => ""));
	for (const path of ["/", "/agent/v1/status", "/agent/v1/operations", "/openapi.json", "/metrics", "/livez", "/api/v1/payments/x"]) {
		got["read " + path] = await read(fetch(port + path));
		got["read with token " + path] = await read(fetch(port + path, {headers: auth}));
		got["read blindly " + path] = await read(fetch(port + path, {mode: "no-cors"}));
		got["image " + path] = await patient(new Promise((yes) => { const i = new Image(); i.onload = () => yes("loaded"); i.onerror = () => yes(""); i.src = port + path; }));
		got["script " + path] = await patient(new Promise((yes) => { const s = document.createElement("script"); s.onload = () => yes("loaded"); s.onerror = () => yes(""); s.src = port + path; document.body.append(s); }));
	}
	got["events"] = await patient(new Promise((yes) => { const e = new EventSource(port + "/agent/v1/events"); e.onopen = () => yes("open"); e.onerror = () => { e.close(); yes(""); }; }));
	got["socket"] = await patient(new Promise((yes) => { const w = new WebSocket(port.replace("http", "ws") + "/agent/v1/events"); w.onopen = () => yes("open"); w.onerror = () => yes(""); }));
	for (const path of ["/api/v1/payments", "/hooks/webhooks", "/v1.0/Invoice/?instance=demo", "/token", "/"]) {
		got["pay " + path] = await read(fetch(port + path, {method: "POST", headers: json, body: sale}));
		got["pay blindly " + path] = await read(fetch(port + path, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: sale}));
		navigator.sendBeacon(port + path, sale);
		const frame = document.createElement("iframe"); frame.name = "f" + path; document.body.append(frame);
		const form = document.createElement("form"); form.method = "POST"; form.enctype = "text/plain"; form.action = port + path; form.target = frame.name;
		const field = document.createElement("input"); field.name = sale; form.append(field); document.body.append(form);
		got["form " + path] = await patient(new Promise((yes) => { frame.onload = () => { try { yes(frame.contentDocument.body.innerText); } catch { yes(""); } }; form.submit(); }));
	}
	return got;
})`

// attack lets the page that is open in the tab try everything, and gives what it got.
func (p *tab) attack(port, token string) (got map[string]string) {
	p.t.Helper()
	args, err := json.Marshal([]string{port, token, stolenSale})
	require.NoError(p.t, err)
	p.do(chromedp.Evaluate(attacks+"(..."+string(args)+")", &got, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	require.Len(p.t, got, 7*5+2+5*3)
	return got
}

// program calls the port as local software does.
func program(t *testing.T, method, url, token, body string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// A page on another origin can neither read the local port nor make it pay, with its token even; nor can one whose name has been
// made to mean this machine.
func TestPortIsClosedToPages(t *testing.T) {
	b := startBackend(t, noWallet)
	x := b.startTerminal()
	port, token := x.port, x.token
	p := prize(t)
	for what, text := range p.attack(port, token) {
		require.Empty(t, text, what)
	}
	other := strings.Replace(port, "127.0.0.1", rebound, 1)
	p.open(other + "/agent/v1/status")
	p.says("this port answers to its own address only")
	for what, text := range p.attack(other, token) {
		if strings.HasPrefix(what, "form ") { // the page may read its own frame, which holds the refusal
			require.Contains(t, text, "this port answers to its own address only", what)
			continue
		}
		require.Empty(t, text, what)
	}
	for _, path := range []string{"/agent/v1/status", "/livez", "/openapi.json"} {
		p.open(port + path)
		p.says("this port is closed to web pages")
	}
	require.Empty(t, b.books(), "nothing was paid")
	require.Equal(t, http.StatusOK, program(t, http.MethodGet, port+"/agent/v1/status", token, ""))
	require.Equal(t, http.StatusCreated, program(t, http.MethodPost, port+"/api/v1/payments", token, stolenSale), "the same from a program is a sale")
	require.EqualValues(t, 1250, b.merchantNet())
}
