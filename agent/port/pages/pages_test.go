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

	"posagent/agent/outbox"
	"posagent/agent/port/pages"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
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
			if f := v.Field(i); f.CanSet() { // nobody outside shows another
				n += plant(f)
			}
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

// forbidden is why a part is not shown.
var forbidden = wire.Errorf(wire.Forbidden, "test", "no")

// plain fails where a text of outside became a piece of the page.
func plain(t *testing.T, text string) {
	t.Helper()
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, "<b ")
	require.NotRegexp(t, regexp.MustCompile(`"'|'>`), strings.ReplaceAll(text, "default-src 'none'", ""))
}

// Whatever a sale, a method, a register line, an alert, an operation, a check, an event or the audit log carries stays a text.
func TestEverythingIsEscaped(t *testing.T) {
	var v pages.Terminal
	require.Greater(t, plant(reflect.ValueOf(&v).Elem()), 120, "texts that were planted")
	for _, part := range []error{nil, forbidden, errors.New(evil)} {
		v.NoStatus, v.NoDay, v.NoWaiting, v.NoMethods, v.NoChecks, v.NoAudit = part, part, part, part, part, part
		for _, outcome := range []ecr.Result{evil, ""} {
			v.Day.Newest[0].Result, v.Day.Newest[0].Quarantined, v.Day.Newest[0].UndoOwed = outcome, outcome != "", false
			v.Day.Newest[0].Settled, v.Day.Newest[0].Aside = false, string(outcome)
			for _, state := range []outbox.State{outbox.Pending, outbox.Held, outbox.Doubt, evil} {
				v.Acts.Ops[0].State, v.Acts.Said.Fault = state, pages.RefusedByIt
				text := whole(t, v.HTML())
				plain(t, text)
				if part == nil {
					require.GreaterOrEqual(t, strings.Count(text, "&lt;script&gt;planted()"), 40, text)
				}
			}
		}
	}
	v.Acts = nil
	plain(t, whole(t, v.HTML()))
	var d pages.Door
	plant(reflect.ValueOf(&d).Elem())
	d.Ready = false
	text := whole(t, d.HTML())
	plain(t, text)
	require.Contains(t, text, "&lt;script&gt;planted()")
	var e pages.Events
	plant(reflect.ValueOf(&e).Elem())
	text = whole(t, e.HTML())
	plain(t, text)
	require.GreaterOrEqual(t, strings.Count(text, "&lt;script&gt;planted()"), 4, text)
	for _, do := range []pages.Do{pages.DoHold, pages.DoRelease, pages.DoResolve, evil} {
		for _, sure := range []bool{false, true} {
			var a pages.Ask
			plant(reflect.ValueOf(&a).Elem())
			a.Do, a.Sure, a.Acts.Said.Fault = do, sure, pages.WantsReason
			text = whole(t, a.HTML())
			plain(t, text)
			require.GreaterOrEqual(t, strings.Count(text, "&lt;script&gt;planted()"), 5, text)
		}
	}
}

// full is a terminal with something in each part.
func full(lang string) pages.Terminal {
	now := time.Date(2026, 11, 23, 14, 0, 0, 0, time.Local)
	stale, fetched := int32(5), now.Add(-3*time.Hour)
	t := pages.Terminal{Lang: lang, Now: now, Base: "http://127.0.0.1:8480", User: "office", PIN: pages.Entry{State: pages.AsksPIN}}
	t.Status = view.NewStatus(view.Status{Terminal: "20000001", Version: "2026.11.23", Sandbox: true})
	t.Status.Report = ready.Not(ready.Trouble{Cause: ready.LinePulled, Where: "/dev/ttyUSB0"}, ready.Place{})
	t.Status.Live.Lines = []view.RegisterLine{{Name: "tcp", Open: true, LastContact: now.Add(-time.Minute), Received: 1234, Sent: 987, Repeated: 2, Unsent: 3, Bad: 4, Naks: 1, Noise: 17, WrongPasswords: 1, Turned: 2, Strange: 3}}
	t.Status.Alerts = []view.Alert{{Key: "k1", Kind: "payments.capture", Subject: "L1", State: "FAILED", Amount: 4200, Currency: "EUR", Reason: "not allowed", Short: "merchant", Remedy: "tell the client", At: now.Add(-26 * time.Hour)}}
	t.Status.Attention = []string{"disk full: sales are refused", "payments.capture L1, 42.00 EUR came to nothing (posagent ops ack k1)"}
	t.Day = view.Day{Totals: []view.Turnover{{Currency: "EUR", Payments: view.Figure{Count: 12, Sum: 130_000}, Refunds: view.Figure{Count: 1, Sum: 5000}, Net: 125_000}}, Newest: []view.Sale{
		{ID: "s1", Kind: ecr.Payment, Result: ecr.Approved, Amount: 1250, Currency: "EUR", Label: "Wallet One", Settled: true, Receipt: 7, Created: now.Add(-time.Minute)},
		{ID: "s2", Kind: ecr.Payment, Result: "", Amount: 700, Currency: "EUR", Label: "Wallet One", Phase: "awaiting_customer", Created: now},
		{ID: "s3", Kind: ecr.Reversal, Result: ecr.Declined, Amount: 100, Currency: "JPY", Method: "TWO", UndoOwed: true, Created: now.Add(-48 * time.Hour)},
	}}
	t.Waiting = []view.Waiting{{OpsCount: view.OpsCount{Kind: "payments.capture", State: "PENDING", Currency: "EUR", Count: 3, Sum: 123_456}, Oldest: now.Add(-50 * time.Hour)}}
	t.Methods = view.Methods{Fetched: &fetched, Methods: []methods.Definition{{Name: "ONE", Label: "Wallet One", Priority: 1, MeanDelay: 10, StaleTimeOut: &stale,
		TransactionTypes: []methods.TransactionType{"PAYMENT", "REFUND"}, Trigger: []methods.Trigger{"QR"}, DelayedAmount: 1}}}
	t.Methods.Times = []view.Times{view.TimesOf(t.Methods.Methods[0], methods.UnitMinutes)}
	t.Checks = view.Checks{At: now.Add(-time.Minute), Passed: 30, Made: 32, Found: []view.Check{
		{ID: "PA-SER-002", Failed: true, Title: "the serial device is there", Seen: "the register line /dev/ttyUSB0 was unplugged", Remedy: "plug the cable in again", Command: "ls /dev/serial/by-id"},
		{ID: "PA-SEC-004", Title: "there is no swap", Seen: "swap on /dev/sda2", Remedy: "switch it off", Command: "swapon --show"},
	}}
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
		"disk full: sales are refused", "2026-11-22 12:00 42.00 EUR payments.capture L1 FAILED The merchant is short of it. not allowed tell the client posagent ops ack k1",
		"Age of the list: 3 h ( 11:00:00 )", "Wallet One ONE 1 PAYMENT, REFUND QR answer after about 10 s, stale age 30 s, staleTimeOut 5 min, finalizeTimeOut 5 min amount may follow",
		"tcp open 13:59:00 1234 987 5 5 17 6", "Type: posagent doctor", "Checks that pass: 30 / 32 ( 13:59:00 )",
		"FAIL PA-SER-002 expected: the serial device is there seen: the register line /dev/ttyUSB0 was unplugged do: plug the cable in again type: ls /dev/serial/by-id",
		"WARN PA-SEC-004 expected: there is no swap seen: swap on /dev/sda2", "Log in With the terminal's PIN", "sale.begin register tcp 192.0.2.7 12.50 EUR s1", "Shown to office. posagent 2026.11.23",
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
	v.NoDay, v.NoAudit = forbidden, errors.New("disk")
	text := read(whole(t, v.HTML()))
	require.Contains(t, text, "This token's client may not see this; it needs may: sales")
	require.Contains(t, text, "This cannot be read now.")
	require.NotContains(t, text, "12.50 EUR")
	require.NotContains(t, text, "sale.begin")
}

// The door says whether a register may ask, and nothing else.
func TestDoor(t *testing.T) {
	text := read(whole(t, pages.Door{Lang: "en", Ready: true}.HTML()))
	require.Contains(t, text, "READY The register may ask for a sale.")
	require.NotContains(t, text, "NOT READY")
	page := whole(t, pages.Door{Lang: "de", Why: "no space left: free some", Fault: pages.WrongToken}.HTML())
	require.Contains(t, read(page), "NOT READY Die Kasse kann jetzt keinen Verkauf anfragen. no space left: free some")
	require.Contains(t, page, `<p class="alert" role="alert" id="fault">Das ist kein Token dieses Terminals.</p>`)
	require.Contains(t, page, `aria-describedby="fault"`)
	require.Contains(t, page, `type="password" name="token" autocomplete="off"`)
}

// Without a PIN there is no form for one; where one was set, each fault stands at its own field, and the wait is said.
func TestDoorOfThePIN(t *testing.T) {
	const form = `type="password" inputmode="numeric" name="pin" autocomplete="off"`
	for state, says := range map[pages.State]string{pages.NoPIN: "No PIN is set", pages.BrokenPIN: "The PIN that was set cannot be read"} {
		page := whole(t, pages.Door{Lang: "en", Ready: true, PIN: pages.Entry{State: state}, Flags: " --state /srv/<till>"}.HTML())
		require.NotContains(t, page, `name="pin"`)
		require.Contains(t, read(page), says)
		require.Contains(t, page, "posagent config pin --state /srv/&lt;till&gt;", "the journal of this terminal is meant")
	}
	asks := pages.Entry{State: pages.AsksPIN}
	page := whole(t, pages.Door{Lang: "en", Ready: true, PIN: asks}.HTML())
	require.Contains(t, page, form)
	require.NotContains(t, page, `role="alert"`)
	page = whole(t, pages.Door{Lang: "de", Ready: true, PIN: asks, Fault: pages.WrongPIN}.HTML())
	require.Contains(t, page, `<p class="alert" role="alert" id="pin-fault">Das ist nicht die PIN dieses Terminals.</p>`)
	require.Contains(t, page, `aria-invalid="true" aria-describedby="pin-fault"`)
	require.NotContains(t, page, `id="fault"`)
	page = whole(t, pages.Door{Lang: "en", Ready: true, PIN: pages.Entry{State: pages.AsksPIN, Wait: 4 * time.Minute}, Fault: pages.ManyPINs}.HTML())
	require.Contains(t, read(page), "Too many wrong PINs from here. This one was not looked at.")
	require.Contains(t, read(page), "The next PIN is looked at in 4 min.")
	require.Contains(t, page, `aria-describedby="pin-wait"`)
	for fault, id := range map[pages.Fault]string{pages.WrongToken: "fault", pages.Locked: "fault", pages.MayNone: "fault", pages.UncountedPIN: "pin-fault"} {
		require.Contains(t, whole(t, pages.Door{Lang: "en", PIN: asks, Fault: fault}.HTML()), `role="alert" id="`+id+`"`)
	}
	require.Contains(t, read(whole(t, pages.Over{Lang: "en"}.HTML())), "Your login has ended")
}

// acting is a terminal that a person has logged in to.
func acting(lang string) pages.Terminal {
	t := full(lang)
	t.User = ""
	ops := []view.Operation{
		{Key: "k1", Kind: "payments.capture", State: outbox.Pending, Says: "stored here, not sent yet", Next: "it is sent by itself", Amount: 1250, Currency: "EUR", Created: t.Now.Add(-5 * time.Minute)},
		{Key: "k2", Kind: "aapay.reversal", State: outbox.Held, Says: "held: the shop closes", Created: t.Now},
		{Key: "k3", Kind: "payments.create", State: outbox.Doubt, Says: "in doubt", Created: t.Now},
	}
	t.Acts = &pages.Acts{Path: "/person/W/", Form: "WORD", Ops: ops}
	return t
}

// A page of a person has the deeds that fit, each in a form of its own that carries the page's word; a page without a login has none.
func TestThePageActs(t *testing.T) {
	v := acting("en")
	page := whole(t, v.HTML())
	text := read(page)
	for _, want := range []string{
		"5 min ( 13:55:00 ) 12.50 EUR payments.capture PENDING stored here, not sent yet it is sent by itself Send now Hold…",
		"aapay.reversal HELD held: the shop closes Release… Decide…", "payments.create DOUBT in doubt Decide…", "Send everything now",
		"42.00 EUR payments.capture L1 FAILED The merchant is short of it. not allowed tell the client Acknowledge", "Shown to a person with the PIN. posagent 2026.11.23", "Log out",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "posagent ops ack")
	require.Equal(t, strings.Count(page, "<form "), strings.Count(page, `<form method="post" action="/person/W/"><input type="hidden" name="form" value="WORD">`), "each form carries the word")
	require.Equal(t, 4, strings.Count(page, "<form "), "acknowledge, send, send all, log out")
	require.Contains(t, page, `<input type="hidden" name="do" value="send"><input type="hidden" name="key" value="k1"><button type="submit" aria-describedby="op-1">Send now</button>`)
	for _, ids := range regexp.MustCompile(`aria-(?:describedby|labelledby)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.Equal(t, 1, strings.Count(page, ` id="`+ids[1]+`"`), ids[1])
	}
	require.Contains(t, page, `href="/person/W/?show=events"`)
	german := read(whole(t, acting("de").HTML()))
	for _, want := range []string{"Jetzt senden Zurückstellen…", "Freigeben… Entscheiden…", "Bestätigen", "Abmelden", "Alles jetzt senden"} {
		require.Contains(t, german, want)
	}

	v = full("en")
	page = whole(t, v.HTML())
	require.Equal(t, 2, strings.Count(page, "<form "), "the PIN, and the end of the visit")
	require.NotContains(t, page, `name="do"`)
	v = acting("en")
	v.Waiting, v.Acts.Ops = nil, nil
	require.NotContains(t, whole(t, v.HTML()), "Send everything now", "nothing waits")
	v = acting("en")
	v.Acts.Said = pages.Said{Do: pages.DoHold}
	require.Contains(t, whole(t, v.HTML()), `<p class="said" role="status" id="said">The operation is held until it is released.</p>`)
	v.Acts.Said = pages.Said{Do: pages.DoHold, Fault: pages.RefusedByIt, Why: "not possible in this state: HELD"}
	require.Contains(t, whole(t, v.HTML()), `role="alert" id="said">Nothing was done: <span lang="en">not possible in this state: HELD</span></p>`)
	for fault := pages.OldForm; fault <= pages.FailedByIt; fault++ {
		v.Acts.Said = pages.Said{Fault: fault}
		require.Regexp(t, `role="alert" id="said">[A-Z]`, whole(t, v.HTML()))
	}
	for _, do := range []pages.Do{pages.DoAck, pages.DoSend, pages.DoSendAll, pages.DoHold, pages.DoRelease, pages.DoResolve} {
		v.Acts.Said = pages.Said{Do: do}
		require.Regexp(t, `role="status" id="said">[A-Z]`, whole(t, v.HTML()))
	}
}

// Each deed that asks has its page; a decision asks for a choice and a proof, and is shown again before it is made.
func TestPagesThatAsk(t *testing.T) {
	at := time.Date(2026, 11, 23, 14, 0, 0, 0, time.Local)
	a := pages.Ask{Lang: "en", Now: at, Acts: pages.Acts{Path: "/person/W/", Form: "WORD"}, Op: view.OneOperation{
		Operation: view.Operation{Key: "k1", Kind: "payments.capture", State: outbox.Doubt, Says: "in doubt", Amount: 1250, Currency: "EUR", Created: at.Add(-time.Hour)},
		Timeline:  []view.Entry{{At: at.Add(-time.Hour), Text: "accepted"}, {At: at, Text: "in doubt"}},
	}}
	for do, want := range map[pages.Do][]string{
		pages.DoHold:    {"Hold an operation", "Why, for the next person", "Hold it"},
		pages.DoRelease: {"Release an operation", "sent to the backend", "Release it"},
		pages.DoResolve: {"Decide an operation", "Accepted: the books show it.", "Declined: the books do not show it", "Proof: where it was looked up", "Go on"},
	} {
		a.Do = do
		page := whole(t, a.HTML())
		for _, text := range append(want, "12.50 EUR payments.capture", "k1", "13:00:00 accepted", "Back to the terminal", "Cancel") {
			require.Contains(t, read(page), text, do)
		}
		require.Equal(t, 1, strings.Count(page, "<form "))
		require.Contains(t, page, `<form method="post" action="/person/W/"><input type="hidden" name="form" value="WORD"><input type="hidden" name="do" value="`+string(do)+`"><input type="hidden" name="key" value="k1">`)
		require.Equal(t, do != pages.DoRelease, strings.Contains(page, "<textarea "), do)
		require.Equal(t, do == pages.DoResolve, strings.Contains(page, `type="radio"`), do)
		require.NotContains(t, page, `name="sure"`)
	}
	a.Do, a.State, a.Reason, a.Acts.Said.Fault = pages.DoResolve, "FAILED", "portal", pages.WantsProof
	page := whole(t, a.HTML())
	require.Contains(t, page, `value="FAILED" required checked`)
	require.Contains(t, page, `aria-invalid="true" aria-describedby="said">portal</textarea>`)
	a.Sure, a.Acts.Said = true, pages.Said{}
	page = whole(t, a.HTML())
	require.NotContains(t, page, "<textarea")
	for _, field := range []string{`name="state" value="FAILED"`, `name="reason" value="portal"`, `name="sure" value="1"`} {
		require.Contains(t, page, field)
	}
	require.Contains(t, read(page), "This cannot be taken back. Declined: the books do not show it, and no attempt can still arrive.")
	require.Contains(t, read(page), "Yes, it is so")
	require.False(t, pages.Asks(pages.DoSend))
	require.True(t, pages.Asks(pages.DoResolve))
}

// The page of events loads itself again only at a pace that a person has chosen, and says which one that is.
func TestEventsPage(t *testing.T) {
	at := time.Date(2026, 11, 23, 14, 0, 0, 0, time.Local)
	e := pages.Events{Lang: "en", Now: at, Path: "/", List: []view.Happening{{At: at, Event: "operation.failed", Ref: "k1", Amount: 1250, Currency: "EUR", Reason: "not allowed"}}}
	page := whole(t, e.HTML())
	require.Contains(t, read(page), "This page does not load itself again.")
	require.Contains(t, read(page), "14:00:00 operation.failed 12.50 EUR not allowed k1")
	require.NotContains(t, read(page), "Stop", "there is nothing to stop")
	require.NotContains(t, page, "http-equiv")
	e.Pace, e.List = 15, nil
	page = whole(t, e.HTML())
	require.Contains(t, read(page), "This page loads itself again every 15 s.")
	require.Contains(t, page, `every=15" aria-current="true"`)
	require.Contains(t, page, `href="/?show=events&amp;every=0" aria-current="false">Stop</a>`)
	require.Contains(t, read(page), "Nothing has happened yet.")
	for text, want := range map[string]int{"5": 5, "15": 15, "60": 60, "0": 0, "": 0, "1": 0, "-5": 0, "5;url=x": 0} {
		require.Equal(t, want, pages.Pace(text), text)
	}
	h := header{}
	pages.Reload(h, 0)
	require.Empty(t, h)
	pages.Reload(h, 5)
	require.Equal(t, header{"Refresh": "5"}, h)
}

type header map[string]string

func (h header) Set(name, value string) { h[name] = value }

// The policy allows the page's own sheet and nothing from elsewhere.
func TestPolicy(t *testing.T) {
	require.Regexp(t, `^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$`, pages.Policy())
}

func TestLanguage(t *testing.T) {
	for accept, want := range map[string]string{"": "en", "de": "de", "de-CH,de;q=0.9,en;q=0.8": "de", "DE": "de", "en,de": "en", "fr": "en"} {
		require.Equal(t, want, pages.Language(accept), accept)
	}
}
