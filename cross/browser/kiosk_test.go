package browser

import (
	"encoding/json"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// kiosk is the small server of a kiosk: its page is shown to the customer, and it alone knows the
// terminal's port and token. Its orders are sold under a key of their own each.
type kiosk struct {
	t *testing.T
	x terminal
}

var kioskPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><title>Kiosk</title>
{{if eq .State "running"}}<meta http-equiv="refresh" content="1">{{end}}
<main><h1>Coffee, 12.50 EUR</h1>
{{if not .State}}<form method="post" action="/order/4711"><button>Buy</button></form>
{{else if .Outcome}}<p role="status">{{.Outcome}}, receipt {{.Receipt}}</p>
{{else}}<p role="status">{{or .StepText "One moment"}}</p>{{with .QR}}<img alt="Code to pay with" src="/picture?at={{.PNG}}">{{end}}{{end}}
</main></html>`))

// ServeHTTP is the whole server: POST begins the order's sale or finds it, GET shows it.
func (k *kiosk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sale struct {
		State, Outcome, StepText string
		Receipt                  int
		QR                       *struct{ PNG string }
	}
	key, order := strings.CutPrefix(r.URL.Path, "/order/")
	switch {
	case r.URL.Path == "/picture":
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(k.ask("GET", r.URL.Query().Get("at"), "", "")) // a browser that has left sees no picture
		return
	case order && r.Method == http.MethodPost:
		k.ask("POST", "/agent/v1/sales", key, `{"amount":1250,"reference":"`+key+`"}`)
		http.Redirect(w, r, r.URL.Path, http.StatusSeeOther)
		return
	case order:
		if err := json.Unmarshal(k.ask("GET", "/agent/v1/sales?key="+key, "", ""), &sale); err != nil {
			k.t.Error(err)
		}
	case r.URL.Path != "/":
		http.NotFound(w, r)
		return
	}
	if err := kioskPage.Execute(w, sale); err != nil {
		k.t.Error(err)
	}
}

// ask asks the terminal's port.
func (k *kiosk) ask(method, path, key, body string) []byte {
	req, err := http.NewRequestWithContext(k.t.Context(), method, k.x.port+path, strings.NewReader(body))
	if err != nil {
		k.t.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+k.x.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		k.t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode > http.StatusAccepted && !strings.HasSuffix(path, ".png") { // a code is shown for a while
		k.t.Error(method, path, resp.StatusCode, string(data), err)
	}
	return data
}

// A kiosk sells in a browser through its own small server: the customer sees the code on the kiosk's
// page, pays, and sees the outcome there. A button that is pressed twice sells once.
func TestAKioskSells(t *testing.T) {
	b := startBackend(t, noWallet)
	x := b.startTerminal()
	server := httptest.NewServer(&kiosk{t: t, x: x})
	t.Cleanup(server.Close)
	p := newTab(t)
	p.open(server.URL)
	p.do(chromedp.Evaluate(`fetch("/order/4711", {method: "POST"}).then((r) => r.status)`, nil, awaited)) // somebody was impatient
	p.press("Buy")
	p.until(`document.querySelector("img") && document.querySelector("img").naturalWidth > 100`)
	p.screen("kiosk")
	x.paid(t, b.url)
	p.says("approved, receipt 1")
	require.EqualValues(t, 1250, b.merchantNet())
	require.Len(t, b.books(), 1)
}
