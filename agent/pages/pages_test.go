package pages_test

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/pages"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/methods"
)

// evil is what a text from outside could carry. No text of the page has a word of it.
const evil = `"'><script>planted()</script>&amp;<b onclick=planted()>`

// plant writes evil into every text that v can carry, with one entry in every list.
func plant(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(evil)
		return 1
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return plant(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return plant(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		n = plant(key) + plant(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if t, ok := v.Addr().Interface().(*time.Time); ok {
			*t = time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
			return 0
		}
		for i := range v.NumField() {
			n += plant(v.Field(i))
		}
	}
	return n
}

// whole fails unless every element of the page is closed where it should be.
func whole(t *testing.T, page []byte) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(page)))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "input"}, xml.HTMLEntity
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return string(page)
		}
		require.NoError(t, err, string(page))
	}
}

// Whatever a sale, a method, a register line, an alert or the audit log carries stays a text.
func TestEverythingIsEscaped(t *testing.T) {
	var v pages.Terminal
	require.Greater(t, plant(reflect.ValueOf(&v).Elem()), 90, "texts that were planted")
	for _, part := range []pages.Part{pages.Shown, pages.Forbidden, pages.Broken} {
		v.NoStatus, v.NoDay, v.NoWaiting, v.NoMethods, v.NoAudit = part, part, part, part, part
		for _, outcome := range []ecr.Result{evil, ""} {
			v.Day.Newest[0].Result, v.Day.Newest[0].Quarantined, v.Day.Newest[0].UndoOwed = outcome, outcome != "", false
			v.Day.Newest[0].Settled, v.Day.Newest[0].Aside = false, string(outcome)
			text := whole(t, v.HTML())
			require.NotContains(t, text, "<script")
			require.NotContains(t, text, "<b ")
			require.NotRegexp(t, regexp.MustCompile(`"'|'>`), strings.ReplaceAll(text, "default-src 'none'", ""))
			if part == pages.Shown {
				require.GreaterOrEqual(t, strings.Count(text, "&lt;script&gt;planted()"), 30, text)
			}
		}
	}
	var d pages.Door
	plant(reflect.ValueOf(&d).Elem())
	d.Ready = false
	text := whole(t, d.HTML())
	require.NotContains(t, text, "<script")
	require.Contains(t, text, "&lt;script&gt;planted()")
}

// full is a terminal with something in each part.
func full(lang string) pages.Terminal {
	now := time.Date(2026, 11, 23, 14, 0, 0, 0, time.Local)
	stale, fetched := int32(5), now.Add(-3*time.Hour)
	t := pages.Terminal{Lang: lang, Now: now, Base: "http://127.0.0.1:8480", User: "office", Leave: "leave"}
	t.Status = view.NewStatus(view.Status{Terminal: "20000001", Version: "2026.11.23", Sandbox: true})
	t.Status.Report = ready.Not(ready.Trouble{Cause: ready.LinePulled, Where: "/dev/ttyUSB0"}, ready.Place{})
	t.Status.Live.Lines = []view.RegisterLine{{Name: "tcp", Open: true, LastContact: now.Add(-time.Minute), Received: 1234, Sent: 987, Repeated: 2, Unsent: 3, Bad: 4, Naks: 1, Noise: 17, WrongPasswords: 1, Turned: 2, Strange: 3}}
	t.Status.Alerts = []view.Alert{{Key: "k1", Kind: "payments.capture", Subject: "L1", State: "FAILED", Amount: 4200, Currency: "EUR", Reason: "not allowed", At: now.Add(-26 * time.Hour)}}
	t.Status.Attention = []string{"disk full: sales are refused", "payments.capture L1, 42.00 EUR came to nothing (posagent ops ack k1)"}
	t.Day = view.Day{Totals: []view.Turnover{{Currency: "EUR", Payments: view.Figure{Count: 12, Sum: 130_000}, Refunds: view.Figure{Count: 1, Sum: 5000}, Net: 125_000}}, Newest: []view.Sale{
		{ID: "s1", Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Label: "Wallet One", Settled: true, Receipt: 7, Created: now.Add(-time.Minute)},
		{ID: "s2", Kind: ecr.Payment, Result: "", Amount: 700, Currency: "EUR", Label: "Wallet One", Phase: "awaiting_customer", Created: now},
		{ID: "s3", Kind: ecr.Reversal, Result: ecr.Declined, Amount: 100, Currency: "JPY", Method: "TWO", UndoOwed: true, Created: now.Add(-48 * time.Hour)},
	}}
	t.Waiting = []view.Waiting{{OpsCount: view.OpsCount{Kind: "payments.capture", State: "PENDING", Currency: "EUR", Count: 3, Sum: 123_456}, Oldest: now.Add(-50 * time.Hour)}}
	t.Methods = view.Methods{Fetched: &fetched, Methods: []methods.Definition{{Name: "ONE", Label: "Wallet One", Priority: 1, MeanDelay: 10, StaleTimeOut: &stale,
		TransactionTypes: []methods.TransactionType{"PAYMENT", "REFUND"}, Trigger: []methods.Trigger{"QR"}, DelayedAmount: 1}}}
	t.Audit = []view.Deed{{At: now, Actor: "register", Name: "tcp", Address: "192.0.2.7", Deed: "sale.begin", Subject: "s1", Amount: 1250, Currency: "EUR"}, {At: now, Actor: "program", Deed: "start"}}
	return t
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	blanks = regexp.MustCompile(`\s+`)
)

// read is what a page says, without its tags.
func read(page string) string {
	_, body, _ := strings.Cut(page, "<body>")
	return blanks.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(body, " ")), " ")
}

// The page says what the views have, in the language that was asked for.
func TestThePageSaysIt(t *testing.T) {
	text := read(whole(t, full("en").HTML()))
	for _, want := range []string{
		"SANDBOX - no real money", "Terminal 20000001", "NOT READY", "the register line /dev/ttyUSB0 was unplugged: plug the cable in again",
		"1,250.00 EUR Payments: 12, refunds and reversals: 1 (-50.00 EUR)",
		"13:59:00 12.50 EUR approved payment Wallet One finished 7", "14:00:00 7.00 EUR running payment Wallet One awaiting customer",
		"2026-11-21 14:00 100 JPY declined reversal TWO being undone",
		"payments.capture 3 1,234.56 EUR 2 days ( 2026-11-21 12:00 ) PENDING Type: posagent ops list --open",
		"disk full: sales are refused", "2026-11-22 12:00 42.00 EUR payments.capture L1 FAILED not allowed posagent ops ack k1",
		"Age of the list: 3 h ( 11:00:00 )", "Wallet One ONE 1 PAYMENT, REFUND QR answer after about 10 s, stale after 5 amount may follow",
		"tcp open 13:59:00 1234 987 5 5 17 6", "Type: posagent doctor", "sale.begin register tcp 192.0.2.7 12.50 EUR s1", "Shown to office. posagent 2026.11.23",
		"curl http://127.0.0.1:8480/openapi.json", "/metrics", "/agent/v1/events",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "came to nothing (posagent ops ack", "an alert is said once")
	german := read(whole(t, full("de").HTML()))
	for _, want := range []string{"kein echtes Geld", "1.250,00 EUR Zahlungen: 12", "12,50 EUR genehmigt Zahlung", "2 Tage", "Befehl: posagent doctor"} {
		require.Contains(t, german, want)
	}
	require.Contains(t, string(full("de").HTML()), `<html lang="de">`)
}

// A part that a client may not see, and one that cannot be read, say so in its place, and show nothing.
func TestPartsThatAreNotShown(t *testing.T) {
	v := full("en")
	v.NoDay, v.NoAudit = pages.Forbidden, pages.Broken
	text := read(whole(t, v.HTML()))
	require.Contains(t, text, "This token's client may not see this; it needs may: sales")
	require.Contains(t, text, "This cannot be read now.")
	require.NotContains(t, text, "12.50 EUR")
	require.NotContains(t, text, "sale.begin")
}

// The door says whether a register may ask, and nothing else.
func TestDoor(t *testing.T) {
	text := read(whole(t, pages.Door{Lang: "en", Ready: true, Field: "token"}.HTML()))
	require.Contains(t, text, "READY The register may ask for a sale.")
	require.NotContains(t, text, "NOT READY")
	page := whole(t, pages.Door{Lang: "de", Why: "no space left: free some", Fault: pages.WrongToken, Field: "token"}.HTML())
	require.Contains(t, read(page), "NOT READY Die Kasse kann jetzt keinen Verkauf anfragen. no space left: free some")
	require.Contains(t, page, `<p class="alert" role="alert" id="fault">Das ist kein Token dieses Terminals.</p>`)
	require.Contains(t, page, `aria-describedby="fault"`)
	require.Contains(t, page, `type="password" name="token" autocomplete="off"`)
}

// The policy allows the page's own sheet and nothing from elsewhere.
func TestPolicy(t *testing.T) {
	require.Regexp(t, `^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$`, pages.Policy())
}

func TestLanguage(t *testing.T) {
	for accept, want := range map[string]string{"": "en", "de": "de", "de-CH,de;q=0.9,en;q=0.8": "de", "DE": "de", "en,de": "en", "fr": "en"} {
		require.Equal(t, want, pages.Language(accept), accept)
	}
}
