package payments

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/pages/words"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/payments"
	"posagent/schemes/wire/check"
	"posagent/store"
)

const place = "http://shop.example:8490"

// web is a customer's browser before the page.
type web struct {
	*bank
	roomtest.Browser
}

func newWeb(t *testing.T) web {
	b := newBank(t)
	return web{b, roomtest.Browser{TB: t, Handler: b.Pages(), Origin: place}}
}

// get reads a page by its payment's id, and what follows the id in the address.
func (b web) get(id string) string {
	b.t.Helper()
	return b.Browser.Page(PagePrefix + id)
}

// random is what a page has of ids and tokens, in which any digits may stand.
var random = regexp.MustCompile(`[0-9a-f]{32,}(\.[0-9]+)?`)

// form reads the first of the page's forms that does act: where it goes, and its token.
func (b web) form(id, act string) (path string, fields url.Values) {
	b.t.Helper()
	return b.Form(PagePrefix+id, act)
}

// byCard fills a card into the form of a page.
func (b web) byCard(id, number string) (string, url.Values) {
	b.t.Helper()
	return b.Form(PagePrefix+id, actPay, "by", byCard, "number", number, "expiry", "12/30", "code", "737")
}

// goes posts a form that is taken, and gives the address it leads to, which may be by a page that leads on.
func (b web) goes(path string, f url.Values) string {
	b.t.Helper()
	rec := b.Send(http.MethodPost, path, f)
	require.Equal(b.t, http.StatusSeeOther, rec.Code, rec.Body.String())
	return b.lead(rec.Header().Get("Location"))
}

func (b web) lead(to string) string {
	b.t.Helper()
	require.True(b.t, strings.HasPrefix(to, PagePrefix), to)
	return b.Follow(to)
}

func (b web) does(id, act, name, value string) string {
	b.t.Helper()
	path, f := b.Form(PagePrefix+id, act, name, value)
	return b.goes(path, f)
}

// foreign is a page without the one script of ours.
func foreign(body string) string {
	return strings.Replace(body, `<script src="/checkout/card.js" defer="defer"></script>`, "", 1)
}

const back = "https://shop.example/back"

func here(id string) string { return PagePrefix + id + "?lang=EN" }

// Everything a merchant may write is shown as text.
func TestPageSaysWhatTheMerchantSays(t *testing.T) {
	b := newWeb(t)
	const evil = `<script>alert(1)</script>"'&`
	b.Merchant = "Shop " + evil
	req := hosted("")
	req.CheckoutText, req.Description = "Text "+evil, "For "+evil
	req.Basket = []payments.BasketItem{{Title: "Tea " + evil, Quantity: 4, UnitPrice: 2500}}
	req.PayPageConfiguration = &payments.PayPageConfiguration{PaymentMethodActionInfoList: []payments.MethodAction{
		{PaymentMethod: "Visa", Name: "Blue " + evil, Action: "Allow"}, {PaymentMethod: wallet, Name: "Purse " + evil, Action: "Allow"}}}
	id := b.make(req)
	rec := b.Send(http.MethodGet, PagePrefix+id, nil)
	body := rec.Body.String()
	for _, raw := range []string{"<script", `"'&`, "&'"} {
		require.NotContains(t, foreign(body), raw)
	}
	const text = "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;"
	for _, want := range []string{
		`<html lang="en">`, "SANDBOX", "100.00 EUR", "Pay to Shop " + text, "Text " + text, "For " + text, "<li>4 × Tea " + text + ", 25.00 EUR = 100.00 EUR</li>",
		"<p>Blue " + text + "</p>", "Purse " + text, `autocomplete="cc-number"`, `required="required"`, "Only test cards",
	} {
		require.Contains(t, body, want)
	}
	csp := rec.Header().Get("Content-Security-Policy")
	require.Contains(t, csp, "default-src 'none'")
	require.Contains(t, csp, "form-action 'self';")
	require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))

	req.PayPageConfiguration = &payments.PayPageConfiguration{PageType: payments.CustomPage, TemplateName: "Template " + evil}
	body = b.get(b.make(req))
	require.Contains(t, body, "Template "+text)
	require.NotContains(t, body, "Tea", "a template says what it wants to say")
	require.NotContains(t, foreign(body), "<script")
	for _, id := range []string{"none", "A1", id + "x", "%3Cscript%3E"} {
		rec := b.Send(http.MethodGet, PagePrefix+id, nil)
		require.Equal(t, http.StatusNotFound, rec.Code)
		require.Contains(t, rec.Body.String(), "There is no such payment")
		require.NotContains(t, rec.Body.String(), "<script")
	}
}

// All languages of S0 2.4.3, each with every word, and a page in each that speaks no other.
func TestLanguages(t *testing.T) {
	b := newWeb(t)
	var codes []string
	seen := map[string]string{}
	for _, l := range words.All() {
		codes = append(codes, l[0])
		require.Len(t, l, 3+int(words.Count), l[0])
		for w := range words.Count {
			text := l.Say(w)
			require.NotEmpty(t, strings.TrimSpace(text))
			require.Equal(t, strings.TrimSpace(text), text)
			if len(text) > 25 { // a whole sentence: no two languages say it in the same words, but for the next of kin
				require.True(t, seen[text] == "" || l[0] == "NO" && seen[text] == "DK", "%s: %s", l[0], text)
				seen[text] = l[0]
			}
		}
		req := hosted("")
		req.PayPageConfiguration = &payments.PayPageConfiguration{Language: l[0]}
		id := b.make(req)
		body := b.get(id)
		require.Contains(t, body, `<html lang="`+l.Code()+`">`)
		for _, w := range []words.Word{words.PayTo, words.Number, words.Expiry, words.Code, words.Cancel, words.Invoice, words.Bank, words.Wallet, words.Test} {
			require.Contains(t, body, escaped(l.Say(w)))
		}
		path, f := b.byCard(id, "1")
		rec := b.Send(http.MethodPost, path, f)
		require.Contains(t, rec.Body.String(), escaped(l.Say(words.BadNumber)), "the answer to a form is in its language")
		require.Contains(t, b.get(id+"?lang="+l.Code()), `<html lang="`+l.Code()+`">`)
	}
	require.ElementsMatch(t, check.PageLanguages(), codes)
	id := b.make(hosted(""))
	for header, want := range map[string]string{
		"": "en", "ja": "en", "de-CH,fr;q=0.5": "de", "ja, no;q=0.9": "nb", "nb-NO": "nb", "sv": "sv", "DK": "da", "pt-BR": "pt", "*": "en", ";;,-,": "en",
		strings.Repeat("ja,", 100) + "de": "en",
	} {
		rec := b.Send(http.MethodGet, PagePrefix+id, nil, "Accept-Language", header)
		require.Contains(t, rec.Body.String(), `<html lang="`+want+`">`, header)
	}
	require.Contains(t, b.get(id+"?lang=%22%3E%3Cscript%3E"), `<html lang="en">`)
	require.NotContains(t, foreign(b.get(id+"?lang=%22%3E%3Cscript%3E")), "<script")
}

func escaped(s string) string { return strings.ReplaceAll(s, "'", "&#39;") }

// Who gives up finds the way back to the shop, where there is one; nobody is led there unasked.
func TestField_B8AWayBackAfterCancel(t *testing.T) {
	b := newWeb(t)
	id := b.make(hosted(""))
	b.does(id, actLeave, "x", "y")
	require.Contains(t, b.get(id), `<a href="`+back+`" rel="noreferrer">Back to the shop</a>`)
	require.Contains(t, b.get(id+"?lang=de"), ">Zurück zum Geschäft</a>")
	req := hosted("")
	req.RedirectURLs = nil
	id = b.make(req)
	b.does(id, actLeave, "x", "y")
	require.NotContains(t, b.get(id), "Back to the shop")
}

func TestField_B8AmountsByLanguageOnTheCardPage(t *testing.T) {
	b := newWeb(t)
	req := hosted("")
	req.Amount, req.Basket[0].UnitPrice = 1_234_560, 308_640
	id := b.make(req)
	for lang, want := range map[string][2]string{
		"en": {"12,345.60 EUR", "3,086.40 EUR"}, "de": {"12.345,60 EUR", "3.086,40 EUR"}, "fr": {"12\u00a0345,60 EUR", "3\u00a0086,40 EUR"}, "es": {"12.345,60 EUR", "3086,40 EUR"},
	} {
		body := b.get(id + "?lang=" + lang)
		require.Contains(t, body, `<p class="amount">`+want[0]+"</p>", lang)
		require.Contains(t, body, ", "+want[1]+" = "+want[0]+"</li>", lang)
		require.Contains(t, body, " "+want[0]+"</button>", lang)
		require.Contains(t, body, want[0]+"</title>", lang)
	}
}

// A telephone's number pad has no slash: the expiry is taken without one, and the page formats it where a script may run.
func TestField_B1ExpiryOnTheCardPage(t *testing.T) {
	for _, typed := range []string{"1230", "12/30", "12 30", "12 / 30", "122030"} {
		b := newWeb(t)
		id := b.make(hosted("Sale"))
		path, f := b.byCard(id, pan(t, "visa"))
		f.Set("expiry", typed)
		require.Equal(t, back, b.goes(path, f), typed)
		require.Contains(t, b.get(id), "Paid. Thank you.", typed)
	}
	b := newWeb(t)
	pattern := regexp.MustCompile(`name="expiry"[^>]* inputmode="numeric" pattern="([^"]*)"`).FindStringSubmatch(b.get(b.make(hosted(""))))
	require.NotNil(t, pattern)
	for _, typed := range []string{"1230", "12/30", "12 30", "12/2030", " 12 / 30"} { // what the browser itself lets through
		require.Regexp(t, "^(?:"+pattern[1]+")$", typed)
	}
	rec := b.Send(http.MethodGet, "/checkout/card.js", nil)
	require.Equal(t, "text/javascript; charset=utf-8", rec.Header().Get("Content-Type"))
	require.Contains(t, rec.Body.String(), "cc-exp")
}

// A field that is not good enough says so itself, and nothing of a card comes back.
func TestWhatTheCustomerMustMend(t *testing.T) {
	b := newWeb(t)
	id := b.make(hosted(payments.ProcessSale))
	before := len(b.Mail.Sent)
	for _, c := range []struct {
		what, field, value, want string
		more                     []string
	}{
		{"check digit", "number", "4111 1111 1111 1112", "This is not a card number.", nil},
		{"no number", "number", "", "This is not a card number.", nil},
		{"letters", "number", "<b>4111111111111111</b>", "This is not a card number.", nil},
		{"other digits", "number", "٤١١١١١١١١١١١١١١١", "This is not a card number.", nil},
		{"twenty digits", "number", "41111111111111111111", "This is not a card number.", nil},
		{"real card", "number", "4929000000006", "Only test cards work here.", nil},
		{"past", "expiry", "12/26", "Not a date in the future", nil},
		{"past, long", "expiry", "12/2026", "Not a date in the future", nil},
		{"thirteenth", "expiry", "13/30", "Not a date in the future", nil},
		{"no date", "expiry", "soon", "Not a date in the future", nil},
		{"short code", "code", "73", "Three or four digits.", nil},
		{"long code", "code", "73737", "Three or four digits.", nil},
		{"signed code", "code", "-73", "Three or four digits.", nil},
		{"two of them", "code", "", "Three or four digits.", []string{"expiry"}},
		{"all of them", "code", "x", "Three or four digits.", []string{"number", "expiry"}},
	} {
		path, f := b.byCard(id, "4111 1111 1111 1111")
		f.Set(c.field, c.value)
		first := c.field
		for i, name := range c.more {
			f.Set(name, "bad")
			if i == 0 {
				first = name
			}
		}
		rec := b.Send(http.MethodPost, path, f)
		body := rec.Body.String()
		require.Equal(t, http.StatusUnprocessableEntity, rec.Code, c.what)
		require.Contains(t, body, `<p id="`+c.field+`-fault" role="alert">`+c.want, c.what)
		require.Contains(t, body, `aria-describedby="`+c.field+`-fault"`, c.what)
		require.Equal(t, 1+len(c.more), strings.Count(body, `aria-invalid="true"`), c.what)
		require.Regexp(t, `name="`+first+`"[^>]* autofocus="autofocus"`, body, c.what)
		require.Equal(t, 1, strings.Count(body, "autofocus="), c.what)
		require.Contains(t, body, "Please check what is marked.")
		require.NotRegexp(t, `name="(number|expiry|code|iban)"[^>]* value="[^"]`, body, c.what)
		for _, secret := range []string{"4111", "4929", "٤١", "737", "<b>", "soon"} {
			require.NotContains(t, random.ReplaceAllString(body, ""), secret, c.what)
		}
	}
	path, f := b.form(id, actPay)
	f.Set("by", sepa)
	f.Set("iban", "DE89370400440532013001")
	rec := b.Send(http.MethodPost, path, f)
	require.Equal(t, http.StatusUnprocessableEntity, rec.Code)
	require.Contains(t, rec.Body.String(), `<p id="iban-fault" role="alert">This is not an IBAN.`)
	require.NotContains(t, rec.Body.String(), "DE893704")
	require.Equal(t, Fresh, b.state(id))
	require.Len(t, b.Mail.Sent, before, "nobody was told anything")
	f.Set("iban", "de89 3704 0044 0532 0130 00")
	require.Equal(t, back, b.goes(path, f), "a form that did nothing is not used up")
	require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(id))
	b.balanced(id)
}

// Numbers with spaces and hyphens, dates with four digits: as people and browsers write them.
func TestSpellings(t *testing.T) {
	b := newWeb(t)
	for number, expiry := range map[string]string{"4111-1111-1111-1111": "01/27", "5555 5555 5555 4444": "12/2030", "378282246310005": "12 / 30"} {
		path, f := b.byCard(b.make(hosted("")), number)
		f.Set("expiry", expiry)
		require.Equal(t, back, b.goes(path, f), number)
	}
}

// A Multipage asks how first; the others offer everything at once.
func TestPageTypes(t *testing.T) {
	b := newWeb(t)
	page := func(kind string, change func(*payments.CreateRequest)) string {
		req := hosted(payments.ProcessSale)
		req.PayPageConfiguration = &payments.PayPageConfiguration{PageType: kind}
		if change != nil {
			change(&req)
		}
		return b.make(req)
	}
	for _, kind := range []string{"", payments.Singlepage, payments.CustomPage} {
		body := b.get(page(kind, nil))
		require.Contains(t, body, `name="number"`)
		require.Contains(t, body, `name="iban"`)
		require.Contains(t, body, `value="`+invoice+`"`)
		require.NotContains(t, body, "Choose how to pay")
	}
	id := page(payments.Multipage, nil)
	for _, by := range []string{"", "&by=none", "&by=Visa", "&by=%22%3E"} {
		body := b.get(id + "?lang=EN" + by)
		require.Contains(t, body, "Choose how to pay")
		require.NotContains(t, body, `name="number"`)
		require.NotContains(t, body, `name="iban"`)
		require.Contains(t, body, `href="`+here(id)+`&amp;by=card"`)
		require.Contains(t, body, `href="`+here(id)+`&amp;by=`+sofort+`"`)
		require.NotContains(t, body, "none")
	}
	body := b.get(id + "?by=card")
	require.Contains(t, body, `name="number"`)
	require.NotContains(t, body, `name="iban"`)
	require.Contains(t, body, `href="`+here(id)+`">Back`)
	require.Contains(t, body, `href="`+PagePrefix+id+`?lang=DE&amp;by=card"`, "another language, the same page")
	require.Contains(t, b.get(id+"?by="+sepa), `name="iban"`)
	pay := roomtest.FormOf.FindStringSubmatch(body)
	f := url.Values{"token": {pay[2]}, "by": {byCard}, "number": {pan(t, "hard-decline")}, "expiry": {"12/30"}, "code": {"737"}}
	require.Equal(t, here(id)+"&by=card", b.goes(pay[1], f), "another card, not another method, comes next")
	require.Contains(t, b.get(id+"?by=card"), "The payment was declined.")

	only := page(payments.Multipage, func(r *payments.CreateRequest) {
		r.PaymentMethodDetails = &payments.PaymentMethodDetails{Type: payments.Sofort}
	})
	body = b.get(only)
	require.NotContains(t, body, "Choose how to pay", "there is nothing to choose")
	require.Contains(t, body, `value="`+sofort+`"`)
	none := b.get(page("", func(r *payments.CreateRequest) {
		r.Basket = nil
		for _, m := range payments.Methods() {
			r.PayPageConfiguration.PaymentMethodActionInfoList = append(r.PayPageConfiguration.PaymentMethodActionInfoList, payments.MethodAction{PaymentMethod: m, Action: "Reject"})
		}
	}))
	require.Contains(t, none, "not accepted here")
	require.NotContains(t, none, "Card number")
	require.Contains(t, none, "Cancel")
}

// The page offers what the merchant's list lets through and says beforehand what it costs, and afterwards what it cost.
func TestMethodsAndFees(t *testing.T) {
	b := newWeb(t)
	with := func(list ...payments.MethodAction) string {
		req := hosted(payments.ProcessSale)
		req.Basket = nil
		req.PayPageConfiguration = &payments.PayPageConfiguration{PaymentMethodActionInfoList: list}
		return b.make(req)
	}
	id := with(payments.MethodAction{PaymentMethod: "Visa", Fee: 250, Action: "Allow"}, payments.MethodAction{PaymentMethod: wallet, Fee: 100, Action: "Allow"})
	body := b.get(id)
	require.Contains(t, body, "<legend>Card</legend><p>Visa</p>")
	require.Contains(t, body, "<p>Fee: 2.50 EUR</p>")
	require.Contains(t, body, ">Pay 102.50 EUR<")
	require.Contains(t, body, "<p>Fee: 1.00 EUR</p>")
	require.Contains(t, body, ">Pay 101.00 EUR - PayPal: Wallet<")
	for _, no := range []string{"MasterCard", "JCB", "iban", sofort} {
		require.NotContains(t, body, no)
	}
	path, f := b.byCard(id, pan(t, "mastercard"))
	require.Equal(t, here(id), b.goes(path, f))
	require.Contains(t, b.get(id), "not accepted here")
	path, f = b.form(id, actPay)
	f.Set("by", sofort)
	b.goes(path, f)
	require.Contains(t, b.get(id), "not accepted here")
	require.Equal(t, Fresh, b.state(id))
	path, f = b.byCard(id, pan(t, "visa"))
	require.Equal(t, back, b.goes(path, f))
	require.Contains(t, b.get(id), "<p>Fee: 2.50 EUR</p>")
	b.balanced(id)

	debit, credit := payments.MethodAction{PaymentMethod: "Visa", CardType: "Debit", Fee: 100, Action: "Allow"}, payments.MethodAction{PaymentMethod: "Visa", Fee: 300, Action: "Allow"}
	id = with(debit, credit, payments.MethodAction{PaymentMethod: "JCB", Action: "Allow"})
	body = b.get(id)
	require.Contains(t, body, "<li>JCB: 0.00 EUR</li><li>Visa: 1.00 EUR - 3.00 EUR</li>", "a card's own fee is known when the card is")
	require.Contains(t, body, ">Pay 100.00 EUR + Fee<")
	path, f = b.byCard(id, pan(t, "challenge"))
	require.Equal(t, here(id), b.goes(path, f))
	body = b.get(id)
	require.Contains(t, body, "<p>Fee: 3.00 EUR</p>", "before the customer says yes")
	require.Contains(t, body, "400000******3184")
	require.Contains(t, body, "Your bank asks")
	require.Equal(t, back, b.does(id, actAnswer, "pass", "yes"))
	p, err := b.Read(t.Context(), id)
	require.NoError(t, err)
	require.EqualValues(t, 300, p.Summary.Fee)
	id = with(debit, credit)
	require.Contains(t, b.get(id), "<p>Fee: 1.00 EUR - 3.00 EUR</p>")
	path, f = b.byCard(id, pan(t, "visa-debit"))
	b.goes(path, f)
	require.Contains(t, b.get(id), "<p>Fee: 1.00 EUR</p>")
}

// What the page shows in each state, and where each act leads.
func TestStatesOfThePage(t *testing.T) {
	b := newWeb(t)
	fresh := func() string { return b.make(hosted(payments.ProcessSale)) }
	noForm := func(id, text string) {
		t.Helper()
		body := b.get(id)
		require.Contains(t, body, text)
		require.NotContains(t, body, "<form")
		require.Contains(t, body, `role="status"`)
	}
	id := fresh()
	path, f := b.byCard(id, pan(t, "visa"))
	require.Equal(t, back, b.goes(path, f))
	noForm(id, "Paid. Thank you.")
	require.Contains(t, b.get(id), `href="`+back+`" rel="noreferrer"`)

	id = fresh()
	require.Equal(t, here(id), b.does(id, actLeave, "x", "y"))
	noForm(id, "This payment is closed. Nothing was charged.")
	require.NotRegexp(t, roomtest.Leads, b.get(id+"?go=1"), "only who has paid is led on")

	id = fresh()
	path, f = b.byCard(id, pan(t, "visa"))
	b.Pass(25 * time.Minute)
	token := f.Get("token")
	b.Pass(6 * time.Minute)
	require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, f).Code, "the form is too old")
	require.Contains(t, b.Send(http.MethodPost, path, f).Body.String(), "This form is no longer valid.")
	require.NotEmpty(t, token)
	b.Pass(pageTime)
	noForm(id, "closed")

	id = fresh()
	path, f = b.byCard(id, pan(t, "challenge"))
	require.Equal(t, here(id), b.goes(path, f))
	require.Equal(t, here(id), b.does(id, actAnswer, "pass", "no"))
	require.Contains(t, b.get(id), "The bank could not confirm that it is you.")
	path, f = b.byCard(id, pan(t, "challenge-bad"))
	b.goes(path, f)
	require.Equal(t, here(id), b.does(id, actAnswer, "pass", "yes"))
	require.Contains(t, b.get(id), "The bank could not confirm that it is you.")
	path, f = b.byCard(id, pan(t, "challenge"))
	b.goes(path, f)
	require.Equal(t, here(id), b.does(id, actLeave, "x", "y"))
	noForm(id, "closed")
	require.Equal(t, [3]int32{}, b.sums(id))

	id = b.make(hosted(payments.ProcessAuthorize))
	path, f = b.byCard(id, pan(t, "visa"))
	b.goes(path, f)
	_, err := b.Cancel(t.Context(), "", id, payments.CancelRequest{})
	require.NoError(t, err)
	noForm(id, "closed")
	noForm(b.make(moto(t, "visa", payments.ProcessSale)), "Paid. Thank you.")
}

// After paying the customer goes where the merchant said when it created the payment, over https or on this machine only.
func TestReturn(t *testing.T) {
	b := newWeb(t)
	for to, want := range map[string]bool{
		"https://shop.example/thanks?a=b&c=<d>": true, "http://127.0.0.1:8080/x": true, "http://localhost/": true,
		"http://shop.example/": false, "javascript:alert(1)": false, "//evil.example/": false, "https://u:p@shop.example/": false, "": false,
	} {
		id := b.make(hosted(payments.ProcessSale))
		b.reroute(id, to) // older rows may hold what Create would refuse today
		require.NotRegexp(t, roomtest.Leads, b.get(id+"?lang=EN&go=1"), "not before it is paid")
		path, f := b.byCard(id, pan(t, "visa"))
		f.Set("returnUrl", "https://evil.example/")
		got := b.goes(path+"&returnUrl=https://evil.example/", f)
		if want {
			require.Equal(t, to, got)
			require.NotRegexp(t, roomtest.Leads, b.get(id), "who comes back is not sent away")
			continue
		}
		require.Equal(t, here(id), got, to)
		body := b.get(id + "?go=1")
		require.NotRegexp(t, roomtest.Leads, body)
		require.Contains(t, body, "Paid")
		require.NotContains(t, body, `rel="noreferrer"`, to)
	}
}

// A form that is not ours, or is about another payment or act, does nothing.
func TestOnlyOurOwnForms(t *testing.T) {
	b := newWeb(t)
	id, other := b.make(hosted(payments.ProcessSale)), b.make(hosted(payments.ProcessSale))
	path, f := b.byCard(id, pan(t, "visa"))
	for name, headers := range map[string][]string{
		"no origin": {"Origin", ""}, "null": {"Origin", "null"}, "other": {"Origin", "https://evil.example"}, "port": {"Origin", "http://shop.example"},
		"scheme": {"Origin", "https://shop.example:8490"}, "cross-site": {"Sec-Fetch-Site", "cross-site"}, "json": {"Content-Type", "application/json"},
	} {
		require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, f, headers...).Code, name)
	}
	for from, to := range map[string]string{id: other, "/pay?": "/leave?", "/pay": "/answer"} {
		require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, strings.Replace(path, from, to, 1), f).Code, to)
	}
	none := url.Values{"by": {byCard}, "number": f["number"], "expiry": f["expiry"], "code": f["code"]}
	rec := b.Send(http.MethodPost, path, none)
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.NotContains(t, rec.Body.String(), f.Get("number"))
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodPost, PagePrefix+"none/pay", f).Code)
	require.Equal(t, http.StatusMethodNotAllowed, b.Send(http.MethodGet, path, nil).Code)
	for _, p := range []string{id, other} {
		require.Equal(t, Fresh, b.state(p))
		require.Equal(t, [3]int32{}, b.sums(p))
	}
	require.Equal(t, back, b.goes(path, f), "none of that used the form up")
}

// However often a form is sent, at once or later, it acts once, and each time is answered as the first.
func TestAFormActsOnce(t *testing.T) {
	b := newWeb(t)
	id := b.make(hosted(payments.ProcessSale))
	path, f := b.byCard(id, pan(t, "visa"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for range 16 {
		wg.Go(func() {
			rec := b.Send(http.MethodPost, path, f)
			mu.Lock()
			defer mu.Unlock()
			got[b.lead(rec.Header().Get("Location"))]++
		})
	}
	wg.Wait()
	require.Equal(t, map[string]int{back: 16}, got)
	p, err := b.Read(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, p.Captures, 1)
	require.Equal(t, [3]int32{10_000, 10_000, 0}, b.sums(id))
	b.balanced(id)

	id = b.make(hosted(payments.ProcessSale))
	b.told()
	path, f = b.byCard(id, pan(t, "soft-decline")) // refused the first time, approved the second
	for range 3 {
		require.Equal(t, here(id), b.goes(path, f))
		require.Equal(t, Fresh, b.state(id))
	}
	require.Equal(t, []string{"created", "reservation.failed"}, b.told())

	// Sixteen tabs, each with a form of its own.
	type tab struct {
		path string
		form url.Values
	}
	var tabs []tab
	for range 16 {
		path, f := b.byCard(id, pan(t, "visa"))
		tabs = append(tabs, tab{path, f})
	}
	clear(got)
	for _, tab := range tabs {
		wg.Go(func() {
			rec := b.Send(http.MethodPost, tab.path, tab.form)
			mu.Lock()
			defer mu.Unlock()
			got[b.lead(rec.Header().Get("Location"))]++
		})
	}
	wg.Wait()
	require.Equal(t, map[string]int{back: 16}, got)
	p, err = b.Read(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, p.Captures, 1)
	b.balanced(id)
}

// Of what a customer fills in, only a masked number can be read in the files afterwards, and nothing in the log.
func TestThePageLeavesNothingToRead(t *testing.T) {
	b := newWeb(t)
	var log bytes.Buffer
	b.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	id := b.make(hosted(payments.ProcessSale))
	for _, number := range []string{"4111111111111112", "4929000000006", pan(t, "hard-decline"), pan(t, "amex")} {
		path, f := b.byCard(id, number)
		f.Set("code", "8642")
		b.Send(http.MethodPost, path, f)
	}
	other := b.make(hosted(payments.ProcessSale))
	path, f := b.form(other, actPay)
	f.Set("by", sepa)
	f.Set("iban", "DE89370400440532013000")
	require.Equal(t, back, b.goes(path, f))
	require.Equal(t, Charged, b.state(id))
	text := log.String() + b.Text()
	require.Contains(t, text, "378282*****0005")
	require.Contains(t, text, "DE****************3000")
	for _, secret := range []string{"4111111111111112", "4929000000006", pan(t, "hard-decline"), pan(t, "amex"), `"8642"`, "37040044", f.Get("token")} {
		require.False(t, strings.Contains(text, secret), secret)
	}
	require.False(t, slices.Contains(strings.Fields(text), "8642"))
}

// reroute changes where a stored payment's customer goes.
func (b web) reroute(id, to string) {
	b.t.Helper()
	require.NoError(b.t, b.DB.Write(b.t.Context(), func(tx store.Tx) error {
		p, err := find(tx, "test", id)
		require.NoError(b.t, err)
		p.Order.Return = to
		return save(tx, p)
	}))
}
