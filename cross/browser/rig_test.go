package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long a step in a page may take: two minutes on an idle machine, and as often more as processes stand in line for a
// processor. cross/need belongs to another module.
func patience() time.Duration {
	var line float64
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(text), &line)
	}
	return time.Duration(float64(2*time.Minute) * (1 + line/float64(runtime.NumCPU())))
}

// rebound is a name of an attacker's that has come to mean this machine.
const rebound = "rebind.example"

// built is the binary under test and the browser's allocator, made once by TestMain.
var built struct {
	posagent string
	browser  context.Context
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if _, err := exec.LookPath("chromium"); err != nil {
		fmt.Println("needs chromium (install: apt-get install chromium)")
		return 1
	}
	dir, err := os.MkdirTemp("", "posagent-browser-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	if programs := os.Getenv("PROGRAMS"); programs != "" { // a run's, as cross/program has them
		built.posagent = filepath.Join(programs, "posagent")
	} else {
		built.posagent = filepath.Join(dir, "posagent")
		build := exec.Command("go", "build", "-o", built.posagent, "./cmd/posagent")
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Printf("%s%v\n", out, err)
			return 1
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.WindowSize(480, 900), chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.WSURLReadTimeout(patience()), chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"),
		chromedp.Flag("disable-features", "site-per-process,Translate,BlinkGenPropertyTrees,BackForwardCache")) // a page that was left keeps no stream open
	alloc, endAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	defer endAlloc()
	browser, end := chromedp.NewContext(alloc)
	defer end()
	if err := chromedp.Run(browser); err != nil {
		fmt.Println("chromium does not start:", err)
		return 1
	}
	built.browser = browser
	return m.Run()
}

// backend is a running `posagent backend`.
type backend struct {
	t    *testing.T
	url  string
	dir  string
	file string // its configuration
	end  func() // ends it
}

// startBackend runs the backend until the test ends; config is the text of its configuration file.
func startBackend(t *testing.T, config string) *backend {
	t.Helper()
	dir := t.TempDir()
	b := &backend{t: t, dir: filepath.Join(dir, "state"), file: filepath.Join(dir, "config.toml")}
	require.NoError(t, os.WriteFile(b.file, []byte(config), 0o600))
	b.listen("127.0.0.1:0")
	return b
}

// listen runs the backend at an address.
func (b *backend) listen(address string) {
	b.t.Helper()
	cmd := exec.Command(built.posagent, "backend", "--listen", address, "--config", b.file, "--state", b.dir)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	require.NoError(b.t, err)
	require.NoError(b.t, cmd.Start())
	b.end = sync.OnceFunc(func() {
		require.NoError(b.t, cmd.Process.Kill()) // a polite end waits for the connections that a browser opens in advance
		_ = cmd.Wait()                           // killed
	})
	b.t.Cleanup(b.end)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b.t, err, talk.String())
	_, url, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	require.True(b.t, ok, line)
	b.url = url
}

// call sends one JSON request with the static bearer and reads the JSON answer into reply.
func (b *backend) call(method, path string, body, reply any, status ...int) {
	b.t.Helper()
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		require.NoError(b.t, err)
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, in)
	require.NoError(b.t, err)
	req.Header.Set("Authorization", "Bearer posagent-demo-bearer")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	require.Contains(b.t, status, resp.StatusCode, "%s %s: %s", method, path, data)
	if reply != nil {
		require.NoError(b.t, json.Unmarshal(data, reply), "%s", data)
	}
}

// entry is a transaction of `posagent backend books`.
type entry struct {
	Service   string `json:"service"`
	ID        string `json:"id"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
	Amount    int64  `json:"amount"`
	State     string `json:"state"`
	Postings  []struct {
		Account string `json:"account"`
		Amount  int64  `json:"amount"`
	} `json:"postings"`
}

// books reads the backend's books with the command line.
func (b *backend) books() (out []entry) {
	b.t.Helper()
	data, err := exec.Command(built.posagent, "backend", "books", "--state", b.dir, "--json").Output()
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(data, &out))
	for _, e := range out {
		var sum int64
		for _, p := range e.Postings {
			sum += p.Amount
		}
		require.Zero(b.t, sum, "postings of %s %s", e.Service, e.ID)
	}
	return out
}

// merchantNet is what the merchant has by all postings.
func (b *backend) merchantNet() (net int64) {
	b.t.Helper()
	for _, e := range b.books() {
		for _, p := range e.Postings {
			if p.Account == "merchant" {
				net += p.Amount
			}
		}
	}
	return net
}

// tab is one tab of the browser. The backend's pages set no cookies, so tabs share nothing but the visits to a terminal's page.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(built.browser)
	t.Cleanup(end)
	require.NoError(t, chromedp.Run(ctx)) // the first run opens the tab, and its context is the tab's life
	return &tab{t: t, ctx: ctx}
}

// do performs steps in the tab, or ends the test with what the page says.
func (p *tab) do(steps ...chromedp.Action) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience())
	defer cancel()
	if err := chromedp.Run(ctx, steps...); err != nil {
		p.t.Fatalf("%v\npage %s:\n%s", err, p.location(), p.text())
	}
}

func (p *tab) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url), chromedp.WaitReady("body"))
}

// press clicks the button whose label begins with label, and waits for the page that follows.
func (p *tab) press(label string) {
	p.t.Helper()
	button := fmt.Sprintf(`//button[starts-with(normalize-space(.), %q)]`, label)
	p.do(chromedp.WaitVisible(button, chromedp.BySearch))
	p.settled(func() { p.do(chromedp.Click(button, chromedp.BySearch)) })
}

// settled does something that leads to another document, and waits until that has loaded.
func (p *tab) settled(act func()) {
	p.t.Helper()
	p.do(chromedp.Evaluate(`window.beforeThis = true`, nil))
	act()
	p.until(`!window.beforeThis && document.readyState === "complete"`)
}

// says waits until the page contains the text.
func (p *tab) says(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.body && document.body.innerText.includes(%q)`, text))
}

// until waits for a condition that may meet a page on its way out.
func (p *tab) until(condition string) {
	p.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience()); time.Now().Before(deadline); <-tick.C {
		var met bool
		p.ask(chromedp.Evaluate(`!!(`+condition+`)`, &met))
		if met {
			return
		}
	}
	p.t.Fatalf("not in %s: %s\npage %s:\n%s", patience(), condition, p.location(), p.text())
}

// text is what the page shows, "" when it does not answer.
func (p *tab) text() (s string) {
	p.ask(chromedp.Evaluate(`document.body ? document.body.innerText : ""`, &s))
	return s
}

// location is the address of the page, "" when it does not answer.
func (p *tab) location() (s string) {
	p.ask(chromedp.Location(&s))
	return s
}

func (p *tab) ask(step chromedp.Action) {
	ctx, cancel := context.WithTimeout(p.ctx, patience()/24)
	defer cancel()
	_ = chromedp.Run(ctx, step) // the zero value says that there was no answer
}

// screen keeps a picture of the page under SCREENS, where that is set.
func (p *tab) screen(name string) {
	p.t.Helper()
	dir := os.Getenv("SCREENS")
	if dir == "" {
		return
	}
	var picture []byte
	p.do(chromedp.FullScreenshot(&picture, 100))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644))
}
