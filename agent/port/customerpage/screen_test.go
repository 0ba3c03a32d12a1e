package customerpage_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/port/customerpage"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad/entry"
	"posagent/device/qr"
)

var word = regexp.MustCompile(`name="form" value="([A-Z2-7]{26})"`)

// rig is a page with keys, and what was tapped.
type rig struct {
	*customerpage.Screen
	taps []entry.Key
	sale string
	turn uint64
	now  time.Time
}

func start(keys bool) *rig {
	x := &rig{now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	o := customerpage.Options{Now: func() time.Time { return x.now }}
	if keys {
		o.Tap = func(sale string, turn uint64, k entry.Key) { x.sale, x.turn, x.taps = sale, turn, append(x.taps, k) }
	}
	x.Screen = customerpage.New(o)
	return x
}

func (x *rig) get() *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	x.ServeHTTP(w, httptest.NewRequest("GET", "/display", nil))
	return w
}

func (x *rig) post(body string) int {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/display", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	x.ServeHTTP(w, r)
	return w.Code
}

// form is the word of the page that is shown.
func (x *rig) form(t *testing.T) string {
	found := word.FindStringSubmatch(x.get().Body.String())
	require.Len(t, found, 2)
	return found[1]
}

func (x *rig) tap(form, key string) int {
	return x.post(url.Values{"form": {form}, "key": {key}}.Encode())
}

var of = scene.Origin{Sale: "sale-id-canary", Turn: 7, Pages: 1}

func TestEveryScene(t *testing.T) {
	code, err := qr.New("https://pay.example/1", qr.Options{})
	require.NoError(t, err)
	for _, kind := range scene.Kinds() {
		x := start(true)
		v := display.View{Kind: kind, Title: `<b>Swish</b>`, Amount: "12.50 EUR", Sandbox: true, Language: "de", Background: "#5a78ff", Options: []string{"One", "", "Three"},
			Entry: scene.Entry{Label: "Nummer", Typed: "4711", Max: 9, Masked: true}, Code: code, Until: x.now.Add(27 * time.Second), Of: of}
		require.NoError(t, x.Show(v))
		w := x.get()
		body := w.Body.String()
		for _, s := range []string{"12.50 EUR", "&lt;b&gt;Swish", "SANDBOX - kein echtes Geld", `lang="de"`, "html{background:#5a78ff;color:#000000}"} {
			require.Contains(t, body, s, kind)
		}
		for _, s := range []string{"<b>Swish", "sale-id-canary", "4711"} {
			require.NotContains(t, body, s, kind)
		}
		require.Equal(t, kind == scene.Code || kind == scene.Message, strings.Contains(body, code.Path()), kind)
		want := map[scene.Kind]int{scene.Choice: 3, scene.Prompt: 13, scene.Code: 1, scene.Message: 1, scene.Waiting: 1, scene.Moment: 1}[kind]
		require.Equal(t, want, strings.Count(body, "<button"), kind)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'sha256-")
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
	}
}

func TestACodeLeavesInTime(t *testing.T) {
	x := start(false)
	code, err := qr.New("https://pay.example/1", qr.Options{})
	require.NoError(t, err)
	require.NoError(t, x.Show(display.View{Kind: scene.Code, Code: code, Until: x.now.Add(time.Second), Of: of}))
	require.Contains(t, x.get().Body.String(), code.Path())
	require.NotContains(t, x.get().Body.String(), "<button", "no keys where they are off")
	x.now = x.now.Add(time.Second)
	require.NotContains(t, x.get().Body.String(), code.Path())
	require.Equal(t, http.StatusMethodNotAllowed, x.post("form=x&key=cancel"))
}

func TestATapCountsOnce(t *testing.T) {
	x := start(true)
	choice := display.View{Kind: scene.Choice, Options: []string{"One", "Two"}, Of: of}
	require.NoError(t, x.Show(choice))
	old := x.form(t)
	require.NoError(t, x.Show(choice))
	require.Equal(t, http.StatusSeeOther, x.tap(old, "1"), "the scene has moved on")
	require.Equal(t, http.StatusSeeOther, x.tap("", "1"))
	require.Empty(t, x.taps)
	form := x.form(t)
	for _, key := range []string{"3", "confirm", "up"} { // the scene does not show them
		require.Equal(t, http.StatusSeeOther, x.tap(form, key))
	}
	require.Empty(t, x.taps)
	require.Equal(t, http.StatusSeeOther, x.tap(form, "2"))
	require.Equal(t, http.StatusSeeOther, x.tap(form, "2"))
	require.Equal(t, []entry.Key{entry.Digit(2)}, x.taps, "tapped twice")
	require.Equal(t, "sale-id-canary", x.sale)
	require.EqualValues(t, 7, x.turn)

	form = x.form(t)
	require.Equal(t, http.StatusRequestEntityTooLarge, x.post("form="+form+"&key=1&x="+strings.Repeat("x", 1024)))
	for _, body := range []string{"", "form=" + form, "form=" + form + "&key=gap", "form=" + form + "&key=1&key=2", "%"} {
		require.Equal(t, http.StatusBadRequest, x.post(body), body)
	}
	require.NoError(t, x.Show(display.View{Kind: scene.Paid, Of: of}))
	require.Equal(t, http.StatusSeeOther, x.tap(form, "cancel"))
	require.NoError(t, x.Show(choice))
	form = x.form(t)
	require.NoError(t, x.End())
	require.Equal(t, http.StatusSeeOther, x.tap(form, "1"))
	require.Len(t, x.taps, 1)
}

func TestTheStreamFollows(t *testing.T) {
	x := start(true)
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { x.Follow(w, r, ended) }))
	defer server.Close()
	require.False(t, x.Watched())
	resp, err := http.Get(server.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	read := func(want string) {
		for {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			if strings.HasPrefix(line, "data: ") {
				require.Contains(t, line, want)
				return
			}
		}
	}
	read("posagent")
	require.True(t, x.Watched())
	require.NoError(t, x.Show(display.View{Kind: scene.Paid, Amount: "1.00 EUR"}))
	read("1.00 EUR")
	require.NoError(t, x.End())
	read("Not ready")
	close(ended)
	for err == nil {
		_, err = lines.ReadString('\n')
	}
}
