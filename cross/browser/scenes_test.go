package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// scenes are pages of the customer's screen, one for each scene and language, as the product's own test writes them.
type scenes struct {
	Pages []struct {
		Name, Language, HTML, Policy, Payload string
	}
	Grounds []struct { // of methods, and what is read on them
		Ground string `json:"ground"`
		Ink    string `json:"ink"`
	}

	url string // a server of them; its stream of scenes is silent
}

func writtenScenes(t *testing.T) (s scenes) {
	t.Helper()
	dir := t.TempDir()
	write := exec.Command("go", "test", "-count=1", "-run", "^TestPages$", "./agent/port/customerpage")
	write.Dir = filepath.Join("..", "..")
	write.Env = append(os.Environ(), "PAGES="+dir)
	out, err := write.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(filepath.Join(dir, "pages.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/display/events" {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		for _, p := range s.Pages {
			if r.URL.Path == "/"+p.Name+"/"+p.Language {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header().Set("Content-Security-Policy", p.Policy)
				fmt.Fprint(w, p.HTML)
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // first: a stream has no end of its own
	s.url = server.URL
	return s
}

// look finds what a customer could not see or tap: what leaves the window (many methods in a narrow one may go below it), what lies on something else, a text that leaves its
// place, a number in two lines, an amount that is not the largest text, a key that is too small for a finger.
const look = `(() => {
	const bad = [], all = [...document.querySelectorAll("#stage p, #stage h1, #stage li, #stage button, #stage svg")];
	const name = (e) => e.tagName + " " + e.textContent.slice(0, 40), size = (e) => parseFloat(getComputedStyle(e).fontSize);
	const wide = innerWidth, amount = document.querySelector("#stage .amount");
	if (document.documentElement.scrollWidth > wide) bad.push("moves sideways");
	if (document.documentElement.scrollHeight > innerHeight && (wide > 320 || !document.querySelector(".choice :nth-child(8)"))) bad.push("moves up and down");
	all.forEach((e, i) => {
		const r = e.getBoundingClientRect();
		if (r.left < 0 || r.right > wide + 1 || r.width < 1 || r.height < 1) bad.push("out of the window: " + name(e));
		for (const o of all.slice(0, i)) {
			const q = o.getBoundingClientRect();
			if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - 1 && q.top < r.bottom - 1) bad.push("one on the other: " + name(e) + " / " + name(o));
		}
		if (e.tagName === "svg") {
			if (Math.abs(r.width - r.height) > 1) bad.push("a code that is no square");
			return;
		}
		const text = document.createRange();
		text.selectNodeContents(e);
		for (const q of text.getClientRects()) if (q.left < r.left - 1 || q.right > r.right + 1) bad.push("leaves its place: " + name(e));
		if (e.tagName === "BUTTON" && (r.width < 44 || r.height < 44)) bad.push("too small to tap: " + name(e));
		if (amount && e !== amount && size(e) >= size(amount)) bad.push("larger than the amount: " + name(e));
	});
	if (amount) {
		const number = document.createRange(), text = amount.firstChild;
		number.setStart(text, 0);
		number.setEnd(text, text.data.indexOf(" "));
		if (number.getClientRects().length !== 1) bad.push("a number in two lines");
		if (size(amount) < 0.09 * Math.min(innerWidth, innerHeight)) bad.push("not read from a metre: " + size(amount));
	}
	return bad;
})()`

// hardToRead finds texts with a contrast below 4.5 where the page stands on any of the grounds.
const hardToRead = `((grounds) => {
	const bad = [], root = document.documentElement;
	const rgb = (s) => s.match(/[\d.]+/g).map(Number);
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const texts = [...document.querySelectorAll("#stage *")].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
	let seen = 0;
	for (const {ground, ink} of grounds) {
		root.style.background = ground;
		root.style.color = ink;
		for (const e of texts) {
			let back = [255, 255, 255];
			for (let on = e; on; on = on.parentElement) { const c = rgb(getComputedStyle(on).backgroundColor); if (c.length < 4 || c[3] > 0) { back = c; break; } }
			const [a, b] = [light(rgb(getComputedStyle(e).color).slice(0, 3)), light(back.slice(0, 3))].sort((x, y) => y - x);
			if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(e.textContent + " on " + ground);
			seen++;
		}
	}
	return seen ? bad : ["no text"];
})`

// Every scene stands whole in a narrow window and in a wide one, is read on any colour, and axe-core finds nothing serious. A picture
// of each is left.
func TestDisplayScenes(t *testing.T) {
	script := axe(t)
	s, p := writtenScenes(t), newTab(t)
	require.Len(t, s.Grounds, 58)
	grounds, err := json.Marshal(s.Grounds)
	require.NoError(t, err)
	seen := 0
	for _, one := range s.Pages {
		if !slices.Contains([]string{"de", "fi", "pl"}, one.Language) { // the longest words
			continue
		}
		p.open(s.url + "/" + one.Name + "/" + one.Language)
		for _, width := range []int64{320, 1280} {
			name := fmt.Sprintf("display-page-%s-%d-%s", one.Name, width, one.Language)
			p.do(chromedp.EmulateViewport(width, 800))
			var bad []string
			p.do(chromedp.Evaluate(look, &bad))
			require.Empty(t, bad, name)
			p.screen(name)
			if one.Language != "de" {
				continue
			}
			if script != "" {
				p.do(chromedp.Evaluate(script+"\n;"+serious, &bad, awaited))
				require.Empty(t, bad, name)
			}
			p.do(chromedp.Evaluate(hardToRead+"("+string(grounds)+")", &bad))
			require.Empty(t, bad, name)
			seen++
		}
	}
	require.Equal(t, 2*20, seen)
}

// What an independent decoder reads from pictures of the page is the payload, in every language.
func TestDisplayCodesAreRead(t *testing.T) {
	s, p, dir := writtenScenes(t), newTab(t), t.TempDir()
	var files, want []string
	for _, one := range s.Pages {
		if one.Payload == "" {
			continue
		}
		p.open(s.url + "/" + one.Name + "/" + one.Language)
		for _, width := range []int64{320, 1280} {
			p.do(chromedp.EmulateViewport(width, 800))
			files, want = append(files, p.picture(filepath.Join(dir, fmt.Sprint(len(files), ".png")))), append(want, one.Payload)
		}
	}
	require.Len(t, want, 4*10*2)
	if got, ran := scanned(t, files...); ran {
		require.Equal(t, want, got)
	}
}

// picture leaves a picture of the page in a file, and returns its path.
func (p *tab) picture(path string) string {
	p.t.Helper()
	var picture []byte
	p.do(page.BringToFront(), chromedp.FullScreenshot(&picture, 100))
	require.NoError(p.t, os.WriteFile(path, picture, 0o600))
	return path
}

// scanned is what zbarimg reads from pictures, in their order; false where it is not installed.
func scanned(t *testing.T, files ...string) (codes []string, ran bool) {
	t.Helper()
	if _, err := exec.LookPath("zbarimg"); err != nil {
		notRun(t, "zbarimg", "zbar-tools")
		return nil, false
	}
	out, err := exec.Command("zbarimg", append([]string{"-q", "--raw"}, files...)...).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), true
}
