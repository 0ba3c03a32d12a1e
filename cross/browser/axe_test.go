package browser

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// axe-core by its version, and what its script has to be: it is code of others that runs here.
const (
	axeVersion = "4.14.1"
	axeSum     = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
)

// axe fetches axe-core's script with npm. It returns "" and says so where there is no npm, or none that reaches its registry.
func axe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	pack := exec.CommandContext(t.Context(), "npm", "pack", "axe-core@"+axeVersion, "--silent")
	pack.Dir = dir
	if out, err := pack.CombinedOutput(); err != nil {
		notRun(t, fmt.Sprintf("axe-core %s by npm: %v %s", axeVersion, err, strings.TrimSpace(string(out))), "npm")
		return ""
	}
	f, err := os.Open(filepath.Join(dir, "axe-core-"+axeVersion+".tgz"))
	require.NoError(t, err)
	defer f.Close()
	zip, err := gzip.NewReader(f)
	require.NoError(t, err)
	for files := tar.NewReader(zip); ; {
		head, err := files.Next()
		require.NoError(t, err, "package/axe.min.js is not in the package")
		if head.Name != "package/axe.min.js" {
			continue
		}
		text, err := io.ReadAll(files)
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		require.Equal(t, axeSum, hex.EncodeToString(sum[:]))
		return string(text)
	}
}

// notRun records what was left out for want of a Debian package; under REQUIRE_ALL=1 that fails the test.
func notRun(t *testing.T, why, debian string) {
	t.Helper()
	line := "not run: " + t.Name() + " needs " + why + " (install: apt-get install " + debian + ")"
	if os.Getenv("REQUIRE_ALL") == "1" {
		t.Fatal(line)
	}
	t.Log(line)
	if file := os.Getenv("NOT_RUN"); file != "" {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		require.NoError(t, err)
		_, err = fmt.Fprintln(f, line)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
}

// awaited lets a script's promise end first.
func awaited(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// serious is what axe-core finds on a page in which its script is.
const serious = `axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
	.map(v => v.impact + " " + v.id + ": " + v.nodes.map(n => n.html).join(" ")))`

// fair fails where axe-core finds something serious or critical on the page, in light and in dark.
func (p *tab) fair(script, page string) {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		var found []string
		var loaded bool
		p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.Evaluate(script+"\n;typeof axe === 'object'", &loaded),
			chromedp.Evaluate(serious, &found, awaited))
		require.True(p.t, loaded, page)
		require.Empty(p.t, found, "%s (%s)", page, scheme)
	}
	p.do(emulation.SetEmulatedMedia())
}

// Every page a customer meets, in each of its states: nothing serious that keeps anybody from reading or using it.
func TestField_B8AxeFindsNothingSerious(t *testing.T) {
	script := axe(t)
	if script == "" {
		return
	}
	b, p := startBackend(t, ""), newTab(t)
	at := func(page, url string, steps ...func()) {
		p.open(url)
		for _, do := range steps {
			do()
		}
		p.fair(script, page)
		p.screen("axe-" + page)
	}
	leave := func() { p.press("Cancel") }
	refused := func(by string) func() { // past the browser's own check, to ours
		return func() {
			p.settled(func() {
				p.do(chromedp.Evaluate(`(() => { const b = document.querySelector('button[value="`+by+`"]'); b.form.noValidate = true; b.click(); })()`, nil))
			})
		}
	}
	back := returning("http://127.0.0.1:9/thanks")
	at("checkout", b.checkout(back))
	at("checkout-wrong", b.checkout(back), refused("card"))
	at("checkout-de", b.checkout(back)+"?lang=de", func() { p.do(chromedp.Click("summary", chromedp.ByQuery)) })
	at("checkout-multipage", b.checkout(config(map[string]any{"pageType": "Multipage"})))
	at("checkout-challenge", b.checkout(nil), func() { p.card(asks); p.press(pay100) })
	at("checkout-paid", b.checkout(nil), func() { p.card(goodCard); p.press(pay100) })
	at("checkout-closed", b.checkout(back), leave)
	at("checkout-none", b.url+"/checkout/none")

	fields := map[string]string{"fields[email][mandatory]": "1", "fields[terms][mandatory]": "1", "fields[privacy_policy][mandatory]": "1", "fields[date_of_birth][mandatory]": "0", "vatRate": "7.7"}
	at("link", b.link(fields))
	at("link-wrong", b.link(fields), refused("card"))
	at("link-terms", b.link(fields)+"/terms")
	at("link-declined", b.link(nil), func() { p.press("Decline") })
	at("link-paid", b.link(nil), func() { p.card(goodCard); p.press("Pay") })

	shop := newPlatform(t, b)
	_, list := shop.build()
	for _, f := range list {
		at("field-"+strings.ToLower(f.ID), f.Src)
	}
	at("field-wrong", list[0].Src, func() {
		p.do(chromedp.SendKeys("input", "4111\t", chromedp.ByQuery))
		p.until(`!document.getElementById("fault").hidden && document.querySelector("input").getAttribute("aria-describedby") === "fault"`)
	})
	shop.config = map[string]any{"paymentService": "PAYPAL", "language": "ita"}
	shop.build()
	at("away", b.url+"/away/"+shop.last.Load().(string))
	shop.config = map[string]any{"paymentService": ""}
	_, list = shop.build()
	at("field-action", list[0].Src)
}
