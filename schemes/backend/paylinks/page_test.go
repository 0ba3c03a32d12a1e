package paylinks_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	links "posagent/schemes/backend/paylinks"
	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

const auth = "Bearer good"

// web is a browser before the link pages.
type web struct {
	*world
	roomtest.Browser
}

func newWeb(t *testing.T) web {
	w := newWorld(t)
	pages := w.Pages(func(r *http.Request) (*http.Request, error) {
		if r.Header.Get("Authorization") != auth {
			return r, wire.Errorf(wire.Unauthorized, "", "credentials missing or wrong")
		}
		return r, nil
	})
	return web{w, roomtest.Browser{TB: t, Handler: pages, Origin: public}}
}

// form reads one of the page's forms: where it goes, and its token.
func (b web) form(hash, act string) (path string, fields url.Values) {
	b.t.Helper()
	return b.Form("/pay/"+hash, act)
}

// byCard fills a card into the form of a page.
func (b web) byCard(hash, pan string) (string, url.Values) {
	b.t.Helper()
	return b.Form("/pay/"+hash, "pay", "by", "card", "number", pan, "expiry", "12/30", "code", "123")
}

const visa = "4111 1111 1111 1111"

func TestPageSaysWhatTheLinkSays(t *testing.T) {
	b := newWeb(t)
	const evil = `<script>alert(1)</script>"'&`
	l := b.link(1250, func(r *paylinks.CreateRequest) {
		r.Title, r.Description, r.Purpose, r.VatRate, r.ButtonText = "Order "+evil, "Two\nlines"+evil, "For "+evil, "7.7", "Buy "+evil
		r.Fields = map[string]paylinks.Contact{
			"email": {Mandatory: true, DefaultValue: evil}, "forename": {}, "terms": {Mandatory: true},
			"custom_field_1": {Names: &paylinks.Names{De: "Tisch" + evil, En: "Table" + evil, Fr: "Table", It: "Tavolo"}},
		}
	})
	rec := b.Send(http.MethodGet, "/pay/"+*l.Hash, nil)
	body := rec.Body.String()
	require.NotContains(t, strings.Replace(body, `<script src="/pay/card.js" defer="defer"></script>`, "", 1), "<script")
	for _, want := range []string{
		`<html lang="en">`, "SANDBOX", "12.50 EUR", "Demo Shop", "including VAT 7.7 %", "E-mail (required)", `name="contact_email"`, `type="email"`,
		`required="required"`, "Table&lt;script", "Buy &lt;script", `type="checkbox"`, "Card number", "<fieldset>", "<legend>",
	} {
		require.Contains(t, body, want)
	}
	require.NotContains(t, body, "contact_phone", "only what was asked for")
	csp := rec.Header().Get("Content-Security-Policy")
	require.Contains(t, csp, "default-src 'none'")
	require.Contains(t, csp, "form-action 'self';")
	require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))
	for lang, want := range map[string]string{"de": "Tisch&lt;script", "fr": "Payer à Demo Shop", "it": "Tavolo"} {
		body := b.Page("/pay/" + *l.Hash + "?lang=" + lang)
		require.Contains(t, body, want)
		require.Contains(t, body, `<html lang="`+lang+`">`)
	}
	hidden := b.link(1250, func(r *paylinks.CreateRequest) {
		r.HideFields, r.PM, r.Reservation = true, []string{"swish"}, true
		r.Fields = map[string]paylinks.Contact{"email": {Mandatory: true}}
	})
	body = b.Page("/pay/" + *hidden.Hash)
	require.NotContains(t, body, "contact_")
	require.NotContains(t, body, "Card number")
	require.Contains(t, body, "Pay by Swish", "as its owner writes it")
	require.Contains(t, body, "reserved and charged later")
	for _, path := range []string{"/pay/none", "/pay/" + l.ReferenceID, "/pay/" + strings.ToUpper(*l.Hash) + "x"} {
		rec := b.Send(http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, rec.Code)
		require.Contains(t, rec.Body.String(), "There is no such link")
	}
}

// The link page speaks four languages by its menu, writes amounts in each, and what it asks to accept can be read.
func TestField_B8LanguagesAmountsAndTermsOfALink(t *testing.T) {
	b := newWeb(t)
	l := b.link(123_456, func(r *paylinks.CreateRequest) {
		r.Fields = map[string]paylinks.Contact{"terms": {Mandatory: true}, "privacy_policy": {Mandatory: true}, "email": {Mandatory: true}}
	})
	at := "/pay/" + *l.Hash
	for lang, want := range map[string][4]string{
		"en": {"1,234.56 EUR", "English", "Terms and conditions", "Privacy policy"},
		"de": {"1.234,56 EUR", "Deutsch", "Allgemeine Geschäftsbedingungen", "Datenschutzerklärung"},
		"fr": {"1\u00a0234,56 EUR", "Français", "Conditions générales", "Politique de confidentialité"},
		"it": {"1.234,56 EUR", "Italiano", "Condizioni generali", "Informativa sulla privacy"},
	} {
		body := b.Page(at + "?lang=" + lang)
		require.Contains(t, body, `<p class="amount">`+want[0]+"</p>", lang)
		require.Contains(t, body, "<summary>"+want[1]+" / Language</summary>", lang)
		for i, page := range []string{"terms", "privacy"} {
			require.Contains(t, body, `<a href="`+at+"/"+page+"?lang="+lang+`" target="_blank" rel="noopener">`+want[2+i]+"</a>", lang)
			said := b.Page(at + "/" + page + "?lang=" + lang)
			require.Contains(t, said, "<h1>"+want[2+i]+"</h1>", lang)
			require.Contains(t, said, `href="`+at+"?lang="+lang+`"`, "the way back")
		}
		for code, name := range map[string]string{"en": "English", "de": "Deutsch", "fr": "Français", "it": "Italiano"} {
			require.Contains(t, body, `<a href="`+at+"?lang="+code+`" lang="`+code+`" hreflang="`+code+`">`+name+"</a>", lang)
		}
	}
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodGet, "/pay/none/terms", nil).Code)

	// What is wrong is said beside its field.
	path, f := b.byCard(*l.Hash, visa)
	f.Set("expiry", "13/30")
	body := b.Send(http.MethodPost, path, f).Body.String()
	for name, text := range map[string]string{"expiry": "Expiry (MM/YY) is not valid", "contact_email": "E-mail is missing", "contact_terms": "I accept the terms and conditions: required"} {
		require.Contains(t, body, `aria-describedby="`+name+`-fault"`)
		require.Contains(t, body, `<p id="`+name+`-fault" role="alert">`+text+"</p>")
	}
	require.NotContains(t, body, `aria-invalid=""`)
}

// A telephone's number pad has no slash.
func TestField_B1ExpiryOnTheLinkPage(t *testing.T) {
	for _, typed := range []string{"1230", "12/30", "12 30", "12/2030"} {
		b := newWeb(t)
		l := b.link(1250, nil)
		path, f := b.byCard(*l.Hash, visa)
		f.Set("expiry", typed)
		require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code, typed)
		require.Contains(t, b.Page("/pay/"+*l.Hash), "This link has been paid", typed)
	}
	b := newWeb(t)
	require.Regexp(t, `name="expiry"[^>]* inputmode="numeric"`, b.Page("/pay/"+*b.link(1250, nil).Hash))
	require.Equal(t, "text/javascript; charset=utf-8", b.Send(http.MethodGet, "/pay/card.js", nil).Header().Get("Content-Type"))
}

func TestPayByCard(t *testing.T) {
	for name, row := range map[string]struct {
		pan  string
		txn  paylinks.Status
		text string
	}{
		"approved":   {visa, "confirmed", "This link has been paid"},
		"mastercard": {"5555-5555-5555-4444", "confirmed", "This link has been paid"},
		"declined":   {"4000000000000002", "declined", "Declined. Nothing was paid."},
		"no funds":   {"4000000000009995", "declined", "Declined. Nothing was paid."},
		"failed":     {"4000000000001026", "error", "Declined. Nothing was paid."},
	} {
		t.Run(name, func(t *testing.T) {
			b := newWeb(t)
			l := b.link(1250, nil)
			path, f := b.byCard(*l.Hash, row.pan)
			rec := b.Send(http.MethodPost, path, f)
			require.Equal(t, http.StatusSeeOther, rec.Code, rec.Body.String())
			require.True(t, strings.HasPrefix(rec.Header().Get("Location"), "/pay/"+*l.Hash+"?lang=en&go="))
			require.Contains(t, b.Page("/pay/"+*l.Hash), row.text)
			list := b.txns(l.ID)
			require.Len(t, list, 1)
			require.Equal(t, row.txn, list[0].Status)
			require.Equal(t, map[bool]int64{true: 1250}[row.txn == "confirmed"], int64(b.net()))
			digits := strings.NewReplacer(" ", "", "-", "").Replace(row.pan)
			for _, m := range b.Mail.Sent {
				require.NotContains(t, string(m.Body), digits)
				require.Contains(t, string(m.Body), digits[:6]+"******"+digits[12:])
			}
		})
	}
}

// A bank that asks its cardholder gets no money from anybody before the answer, and none without it.
func TestChallenge(t *testing.T) {
	const asks, bad = "4000002760003184", "4000008400001629"
	b := newWeb(t)
	start := func(pan string) (*paylinks.Created, string, url.Values) {
		l := b.link(1250, nil)
		path, f := b.byCard(*l.Hash, pan)
		require.Equal(t, "/pay/"+*l.Hash+"?lang=en", b.Send(http.MethodPost, path, f).Header().Get("Location"), "no way on yet")
		page := b.Page("/pay/" + *l.Hash)
		require.Contains(t, page, "is it you who pays?")
		require.Contains(t, page, pan[:6]+"******"+pan[12:])
		require.NotContains(t, page, "Card number", "one attempt at a time")
		path, f = b.form(*l.Hash, "answer")
		return &l, path, f
	}
	for name, row := range map[string]struct {
		pan, pass string
		txn       paylinks.Status
	}{"yes": {asks, "yes", "confirmed"}, "no": {asks, "no", "declined"}, "nothing": {asks, "", "declined"}, "bad": {bad, "yes", "declined"}} {
		l, path, f := start(row.pan)
		before := b.net()
		f.Set("pass", row.pass)
		require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, url.Values{"pass": {"yes"}}, "Authorization", auth).Code, "no program answers for a cardholder")
		require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, f, "Origin", "https://evil.example").Code, name)
		for range 2 { // the second is the double click
			require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code, name)
		}
		list := b.txns(l.ID)
		require.Len(t, list, 1, name)
		require.Equal(t, row.txn, list[0].Status, name)
		require.Equal(t, map[bool]int64{true: 1250}[row.txn == "confirmed"], int64(b.net()-before), name)
	}
	l, path, f := start(asks)
	before := b.net()
	b.Pass(10*time.Minute + time.Second)
	f.Set("pass", "yes")
	require.Equal(t, http.StatusConflict, b.Send(http.MethodPost, path, f).Code, "too late")
	require.Equal(t, paylinks.Status("declined"), b.txns(l.ID)[0].Status)
	require.Equal(t, before, b.net())
	require.Contains(t, b.Page("/pay/"+*l.Hash), "Card number", "he may try again")
}

// The first attempt by a card that is softly declined is refused, the next one is approved.
func TestSoftDecline(t *testing.T) {
	b := newWeb(t)
	l := b.link(1250, nil)
	for _, want := range []paylinks.Status{"declined", "confirmed"} {
		path, f := b.byCard(*l.Hash, "4000000000001018")
		require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
		list := b.txns(l.ID)
		require.Equal(t, want, list[len(list)-1].Status)
	}
}

func TestWhatTheCustomerMustMend(t *testing.T) {
	b := newWeb(t)
	l := b.link(1250, func(r *paylinks.CreateRequest) {
		r.Fields = map[string]paylinks.Contact{
			"email": {Mandatory: true}, "forename": {}, "date_of_birth": {}, "phone": {}, "terms": {Mandatory: true}, "privacy_policy": {},
		}
	})
	good := map[string]string{"contact_email": "a@b.example", "contact_terms": "1"}
	for name, row := range map[string]struct {
		change map[string]string
		want   string
	}{
		"no mail":   {map[string]string{"contact_email": " "}, "E-mail is missing"},
		"bad mail":  {map[string]string{"contact_email": "a@b@c"}, "E-mail is not valid"},
		"no terms":  {map[string]string{"contact_terms": ""}, "I accept the terms and conditions: required"},
		"bad birth": {map[string]string{"contact_date_of_birth": "2026-02-30"}, "Date of birth is not valid"},
		"bad phone": {map[string]string{"contact_phone": "x'; DROP TABLE links_link;--"}, "Phone is not valid"},
		"control":   {map[string]string{"contact_forename": "a\r\nb"}, "First name is not valid"},
		"long":      {map[string]string{"contact_forename": strings.Repeat("x", 201)}, "First name is not valid"},
		"card number behind another number (TestField2_A4)": {map[string]string{"contact_forename": "2026 4111 1111 1111 1111"}, "First name is not valid"},
		"card number elsewhere":                             {map[string]string{"contact_forename": "4111 1111-1111 1111"}, "First name is not valid"},
		"no test card":                                      {map[string]string{"number": "4111111111111112"}, "Card number is not a test card"},
		"real card":                                         {map[string]string{"number": "4929000000006"}, "Card number is not a test card"},
		"no card":                                           {map[string]string{"number": ""}, "Card number is not a test card"},
		"expired card":                                      {map[string]string{"expiry": "10/26"}, "Expiry (MM/YY) is not valid"},
		"thirteenth":                                        {map[string]string{"expiry": "13/30"}, "Expiry (MM/YY) is not valid"},
		"code too short":                                    {map[string]string{"code": "12"}, "Security code is not valid"},
		"code of words":                                     {map[string]string{"code": "abc"}, "Security code is not valid"},
	} {
		path, f := b.byCard(*l.Hash, visa)
		for k, v := range good {
			f.Set(k, v)
		}
		for k, v := range row.change {
			f.Set(k, v)
		}
		rec := b.Send(http.MethodPost, path, f)
		body := rec.Body.String()
		require.Equal(t, http.StatusUnprocessableEntity, rec.Code, name)
		require.Contains(t, body, row.want, name)
		require.Contains(t, body, `role="alert"`, name)
		require.Contains(t, body, `aria-invalid="true"`, name)
		for _, secret := range []string{"4111 1111", "41111111", "4929000000006", `value="123"`} {
			require.NotContains(t, body, secret, name)
		}
		if row.change["contact_email"] == "" {
			require.Contains(t, body, `value="a@b.example"`, "what was good stands there again")
		}
		require.Empty(t, b.txns(l.ID), name)
	}
	path, f := b.byCard(*l.Hash, visa)
	for k, v := range good {
		f.Set(k, v)
	}
	f.Set("contact_forename", " Ada ")
	f.Set("contact_surname", "not asked for")
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
	txn := b.txns(l.ID)[0]
	require.Equal(t, "a@b.example", txn.Contact.Email)
	require.Equal(t, "Ada", txn.Contact.FirstName)
	require.Empty(t, txn.Contact.LastName)
	require.Equal(t, "visa", txn.Payment.Brand)
}

func TestCustomFieldsReachTheTransaction(t *testing.T) {
	b := newWeb(t)
	l := b.link(1250, func(r *paylinks.CreateRequest) {
		r.Fields = map[string]paylinks.Contact{"custom_field_3": {Mandatory: true, Names: &paylinks.Names{En: "Table"}}}
	})
	path, f := b.form(*l.Hash, "pay")
	f.Set("by", "wallet")
	f.Set("contact_custom_field_3", "12")
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
	require.Equal(t, paylinks.CustomFields{"3": {Name: "Table", Value: "12"}}, b.txns(l.ID)[0].Invoice.CustomFields)
}

// A form that names a button its page does not have pays nothing, and its token stays good.
func TestOnlyTheButtonsOfThePage(t *testing.T) {
	b := newWeb(t)
	cards := b.link(1250, func(r *paylinks.CreateRequest) { r.PM = []string{"visa"} })
	wallet := b.link(1250, func(r *paylinks.CreateRequest) { r.PM = []string{"twint"} })
	for _, row := range []struct {
		link paylinks.Created
		by   string
		want int
	}{
		{cards, "wallet", http.StatusForbidden}, {cards, "", http.StatusForbidden}, {cards, "Card", http.StatusForbidden}, {cards, "card", http.StatusSeeOther},
		{wallet, "card", http.StatusForbidden}, {wallet, "wallet", http.StatusSeeOther},
	} {
		path, f := b.byCard(*row.link.Hash, visa)
		f.Set("by", row.by)
		require.Equal(t, row.want, b.Send(http.MethodPost, path, f).Code, row.by)
		require.Equal(t, row.want == http.StatusSeeOther, len(b.txns(row.link.ID)) == 1, row.by)
	}
}

// A customer is sent on only after his own payment, and only to the address the link was made with.
func TestRedirects(t *testing.T) {
	b := newWeb(t)
	to := func(success, failed string) paylinks.Created {
		return b.link(1250, func(r *paylinks.CreateRequest) { r.SuccessRedirectURL, r.FailedRedirectURL = success, failed })
	}
	pay := func(l paylinks.Created, pan, query string) string {
		path, f := b.byCard(*l.Hash, pan)
		rec := b.Send(http.MethodPost, path+query, f)
		require.Equal(t, http.StatusSeeOther, rec.Code)
		to := rec.Header().Get("Location")
		require.True(t, strings.HasPrefix(to, "/pay/"+*l.Hash+"?lang=en&go="), to)
		if at := b.Follow(to); at != to {
			return at
		}
		return "here"
	}
	const thanks, sorry, decline = "https://shop.example/thanks?a=b", "http://127.0.0.1:8080/sorry", "4000000000000002"
	l := to(thanks, sorry)
	path, late := b.byCard(*l.Hash, visa)
	require.Equal(t, sorry, pay(l, decline, "&successRedirectUrl=https://evil.example"))
	require.Equal(t, thanks, pay(l, visa, "&redirect=https://evil.example"))
	rec := b.Send(http.MethodPost, path, late)
	require.Equal(t, "/pay/"+*l.Hash+"?lang=en", rec.Header().Get("Location"), "somebody else has paid")
	require.Contains(t, b.Page("/pay/"+*l.Hash), `href="`+strings.ReplaceAll(thanks, "&", "&amp;")+`"`)
	const plain = "http://shop.example/" // where anybody on the way could read and change what comes next
	for i, name := range []string{"successRedirectUrl", "failedRedirectUrl"} {
		req := paylinks.CreateRequest{Title: "t", Description: "d", ReferenceID: "r", Purpose: "p", Amount: 1250, Currency: "EUR"}
		*[]*string{&req.SuccessRedirectURL, &req.FailedRedirectURL}[i] = plain
		_, err := b.Links.Create(t.Context(), "", req)
		require.ErrorContains(t, err, name)
	}
	l = to("", "")
	require.Equal(t, "here", pay(l, decline, ""))
	require.Equal(t, "here", pay(l, visa, ""))
	for _, end := range []string{"", "?go=paid", "?go=failed"} {
		open := to(thanks, sorry)
		require.NotRegexp(t, roomtest.Leads, b.Page("/pay/"+*open.Hash+end), "not before it is paid")
	}
	require.NotContains(t, b.Page("/pay/"+*l.Hash), plain)
}

func TestStatesOfThePage(t *testing.T) {
	b := newWeb(t)
	open := b.link(1250, func(r *paylinks.CreateRequest) { r.ExpirationDate = "2026-11-21" })
	path, f := b.byCard(*open.Hash, visa)
	b.Pass(12 * time.Hour)
	f.Set("token", f.Get("token"))
	require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, f).Code, "the form is too old")
	body := b.Page("/pay/" + *open.Hash)
	require.Contains(t, body, "This link has expired. Nothing was paid.")
	require.NotContains(t, body, "<form")
	paid, txn := b.paid(1250, nil)
	require.NotContains(t, b.Page("/pay/"+*paid.Hash), "<form")
	_, err := b.Transactions().Refund(t.Context(), "", txn.ID, paylinks.RefundRequest{})
	require.NoError(t, err)
	require.Contains(t, b.Page("/pay/"+*paid.Hash), "The money went back to you.")
	slow := b.link(90006, nil)
	path, f = b.byCard(*slow.Hash, visa)
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
	require.Contains(t, b.Page("/pay/"+*slow.Hash), `<meta http-equiv="refresh" content="2">`)
	b.Pass(20 * time.Second)
	require.Contains(t, b.Page("/pay/"+*slow.Hash), "This link has been paid")
	held, _ := b.paid(1250, reserve)
	require.Contains(t, b.Page("/pay/"+*held.Hash), "The amount will be charged later")
	gone := b.link(1250, nil)
	path, f = b.byCard(*gone.Hash, visa)
	_, err = b.Delete(t.Context(), "", gone.ID)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodPost, path, f).Code)
	sub, _ := b.paid(1250, func(r *paylinks.CreateRequest) { r.SubscriptionState, r.SubscriptionInterval = true, "P1M" })
	path, f = b.form(*sub.Hash, "stop")
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
	require.Contains(t, b.Page("/pay/"+*sub.Hash), "The subscription has ended.")
}

// A form that is not ours, was sent before, or is about another link or act, pays nothing.
func TestOnlyOurOwnForms(t *testing.T) {
	b := newWeb(t)
	l, other := b.link(1250, nil), b.link(1250, nil)
	path, f := b.byCard(*l.Hash, visa)
	for name, headers := range map[string][]string{
		"no origin": {"Origin", ""}, "null": {"Origin", "null"}, "other": {"Origin", "https://evil.example"}, "port": {"Origin", "http://shop.example:1"},
		"cross-site": {"Sec-Fetch-Site", "cross-site"}, "json": {"Content-Type", "application/json"},
	} {
		require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, f, headers...).Code, name)
	}
	require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, strings.Replace(path, *l.Hash, *other.Hash, 1), f).Code)
	require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, strings.Replace(path, "/pay?", "/decline?", 1), f).Code)
	require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path, url.Values{"by": {"wallet"}}).Code)
	require.Equal(t, http.StatusMethodNotAllowed, b.Send(http.MethodGet, path, nil).Code)
	require.Zero(t, b.net())

	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 16 {
		wg.Go(func() {
			rec := b.Send(http.MethodPost, path, f)
			mu.Lock()
			codes[rec.Code]++
			mu.Unlock()
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{http.StatusSeeOther: 16}, codes, "each is shown what came of it")
	require.EqualValues(t, 1250, b.net())
	require.Len(t, b.txns(l.ID), 1)
	path, f = b.form(*other.Hash, "decline")
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, f).Code)
	b.is(other.ID, "waiting", "declined", "")
}

func TestProgramsAct(t *testing.T) {
	b := newWeb(t)
	l := b.link(1250, func(r *paylinks.CreateRequest) { r.ReferenceID = "a b/c" })
	path := "/pay/" + url.PathEscape(l.ReferenceID) + "/"
	require.Equal(t, http.StatusUnauthorized, b.Send(http.MethodPost, path+"pay", nil, "Authorization", "Bearer bad").Code)
	require.Equal(t, http.StatusForbidden, b.Send(http.MethodPost, path+"pay", nil, "Authorization", auth, "Origin", public).Code)
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodPost, "/pay/none/pay", nil, "Authorization", auth).Code)
	rec := b.Send(http.MethodPost, path+"decline", nil, "Authorization", auth)
	require.Contains(t, rec.Body.String(), `"state":"declined"`)
	rec = b.Send(http.MethodPost, path+"pay", nil, "Authorization", auth)
	require.Equal(t, http.StatusOK, rec.Code)
	require.Contains(t, rec.Body.String(), `"state":"paid"`)
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	rec = b.Send(http.MethodPost, path+"decline", nil, "Authorization", auth)
	require.Equal(t, http.StatusConflict, rec.Code)
	require.Equal(t, links.Paid, func() links.Look { s, _ := b.Show(t.Context(), *l.Hash); return s.State }())
}

// Attachments come back as they were sent, as something to keep and never to show; a deleted link takes them along.
func TestAttachments(t *testing.T) {
	b := newWeb(t)
	big := make([]byte, 300<<10)
	for i := range big {
		big[i] = byte(i / 7)
	}
	contents := [][]byte{[]byte("<script>alert(1)</script>"), big, {}}
	l := b.link(1250, func(r *paylinks.CreateRequest) {
		for i, c := range contents {
			r.Attachments = append(r.Attachments, paylinks.Attachment{
				Name: []string{"../a \"b\".html", "big.bin", "empty"}[i], ContentType: "text/html", Size: int64(len(c)),
				Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c)), nil },
			})
		}
	})
	body := b.Page("/pay/" + *l.Hash)
	require.Contains(t, body, "../a &#34;b&#34;.html")
	b.Restart()
	b.Handler = b.Pages(func(r *http.Request) (*http.Request, error) { return r, wire.Errorf(wire.Unauthorized, "", "none") })
	for i, want := range contents {
		path := "/pay/" + *l.Hash + "/file/" + strconv.Itoa(i)
		require.Contains(t, body, `href="`+path+`"`)
		rec := b.Send(http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, rec.Code)
		require.True(t, bytes.Equal(want, rec.Body.Bytes()), i)
		require.Equal(t, "application/octet-stream", rec.Header().Get("Content-Type"))
		require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
		require.True(t, strings.HasPrefix(rec.Header().Get("Content-Disposition"), "attachment;"))
	}
	require.Equal(t, `attachment; filename*=UTF-8''..%2Fa%20%22b%22.html`, b.Send(http.MethodGet, "/pay/"+*l.Hash+"/file/0", nil).Header().Get("Content-Disposition"))
	for _, n := range []string{"3", "-1", "x", "99999999999999999999"} {
		require.Equal(t, http.StatusNotFound, b.Send(http.MethodGet, "/pay/"+*l.Hash+"/file/"+n, nil).Code, n)
	}
	pieces := func() (n int64) {
		require.NoError(t, b.DB.Read(t.Context(), func(r store.Reader) error {
			return r.QueryRow(`SELECT COUNT(*) FROM links_file`).Scan(&n)
		}))
		return n
	}
	require.EqualValues(t, 1+3, pieces())
	_, err := b.Delete(t.Context(), "", l.ID)
	require.NoError(t, err)
	require.Zero(t, pieces())
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodGet, "/pay/"+*l.Hash+"/file/0", nil).Code)

	short := b.request(1250)
	short.Attachments = []paylinks.Attachment{{Name: "x", Size: 10, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("nine byte")), nil }}}
	_, err = b.Create(t.Context(), "", short)
	refused(t, err, wire.Invalid, "")
}

func TestQRCode(t *testing.T) {
	b := newWeb(t)
	l := b.link(1250, nil)
	path := "/pay/" + *l.Hash + "/qr.png"
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodGet, path, nil).Code, "nobody draws")
	b.opt.QR = func(text string) ([]byte, error) { return []byte("code of " + text), nil }
	b.Restart()
	b.Handler = b.Pages(nil)
	rec := b.Send(http.MethodGet, path, nil)
	require.Equal(t, "code of "+*l.Link.Link, rec.Body.String())
	require.Equal(t, "image/png", rec.Header().Get("Content-Type"))
	require.Equal(t, http.StatusNotFound, b.Send(http.MethodGet, "/pay/none/qr.png", nil).Code)
}

// Of a card only brand and masked number are kept, of a person nothing that can be read in the file; the log says neither.
func TestNothingToReadAfterwards(t *testing.T) {
	b := newWeb(t)
	var log bytes.Buffer
	b.opt.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.Restart()
	b.Handler = b.Pages(nil)
	l := b.link(1250, func(r *paylinks.CreateRequest) {
		r.Fields = map[string]paylinks.Contact{"email": {Mandatory: true, DefaultValue: "default@person.example"}, "surname": {}}
	})
	for _, pan := range []string{"4111111111111112", "4000000000000002", visa} {
		path, f := b.byCard(*l.Hash, pan)
		f.Set("contact_email", "ada@person.example")
		f.Set("contact_surname", "Lovelace-Person")
		b.Send(http.MethodPost, path, f)
	}
	require.EqualValues(t, 1250, b.net())
	text := log.String() + b.Text()
	require.Contains(t, text, "transaction moved")
	require.Contains(t, text, "411111******1111")
	for _, secret := range []string{"4111111111111111", "4111 1111", "4111111111111112", "4000000000000002", "person.example", "Lovelace", "sign-me"} {
		require.NotContains(t, text, secret)
	}
}

// The answer to the bank's question counts for the attempt that the page showed, not for the next customer's. A link's
// other forms ask about what never changes: its amount, and the one payment that a subscription has.
func TestField2_S9_AnswerOfAnotherAttempt(t *testing.T) {
	const asks = "4000002760003184"
	b := newWeb(t)
	l := b.link(1250, nil)
	ask := func() (string, url.Values) {
		path, f := b.byCard(*l.Hash, asks)
		b.Send(http.MethodPost, path, f)
		path, f = b.form(*l.Hash, "answer")
		f.Set("pass", "yes")
		return path, f
	}
	path, first := ask()
	b.Pass(10*time.Minute + time.Second) // the first customer went away
	_, second := ask()
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, first).Code, "the page says how it stands")
	require.Zero(t, b.net(), "the second customer was asked, and has not answered")
	require.Equal(t, http.StatusSeeOther, b.Send(http.MethodPost, path, second).Code)
	require.EqualValues(t, 1250, b.net())
}

// Two tabs of one link's page, and every order of presses of their buttons, each as the tab shows it, and of ten minutes that
// pass: where money is taken it is the amount that the pressed page showed, of the card that it asked about, and once.
// Nothing is taken by a no, by declining, by looking or by waiting. The kind: cards that the bank asks about and that it does
// not, and the wallet's button.
func TestField2_S9_TwoTabsOfOneLink(t *testing.T) {
	presses := roomtest.Presses(t, 3, 4)
	card := func(number string) []string {
		return []string{"by", "card", "number", number, "expiry", "12/30", "code", "123"}
	}
	buttons := []struct {
		act    string // "" = the customer looks at the page again
		fields []string
		takes  bool // it may
	}{
		{"pay", card("4000002760003184"), false}, {"pay", card("4000008400001629"), false}, {"pay", card(visa), true}, {"pay", []string{"by", "wallet"}, true},
		{"answer", []string{"pass", "yes"}, true}, {"answer", []string{"pass", "no"}, false}, {"decline", nil, false}, {"", nil, false},
	}
	b := newWeb(t)
	paid := 0
	tried := roomtest.Orders(presses, 2*len(buttons)+1, func(order []int) int {
		l := b.link(1250, nil)
		var tabs [2]roomtest.Tab
		for i := range tabs {
			tabs[i] = roomtest.Tab{Browser: b.Browser, At: "/pay/" + *l.Hash}
			tabs[i].Look()
		}
		old, was := [2]bool{}, int64(0)
		defer func() {
			if was > 0 {
				paid++
			}
		}()
		for n, press := range order {
			may, shown, act := false, "", ""
			if press == 2*len(buttons) {
				b.Pass(10*time.Minute + time.Second)
				old = [2]bool{true, true}
			} else {
				which, button := press/len(buttons), buttons[press%len(buttons)]
				tab := &tabs[which]
				may, shown, act = button.takes, tab.Body, button.act
				switch {
				case act != "" && !tab.Press(act, button.fields...), act == "" && !old[which]:
					return n
				case act == "":
					tab.Look()
					old[which] = false
				default:
					old[which], old[1-which] = false, true
				}
			}
			taken, masked := b.taken(l.ID)
			if taken == was {
				continue
			}
			require.True(t, may, "%v: %s took money", order, act)
			require.Zero(t, was, "%v: twice", order)
			require.EqualValues(t, 1250, taken, order)
			require.Contains(t, shown, "12.50 EUR", order)
			if act == "answer" {
				require.Contains(t, shown, masked, "%v: another card than was shown", order)
			}
			was = taken
		}
		return presses
	})
	require.EqualValues(t, paid*1250, b.net())
	require.Positive(t, paid)
	t.Logf("%d orders of up to %d presses, %d paid: each what was shown", tried, presses, paid)
}

// taken is what was taken by a link's payments, and the card of the last one.
func (b web) taken(link int64) (hundredths int64, card string) {
	b.t.Helper()
	require.NoError(b.t, b.DB.Read(b.t.Context(), func(r store.Reader) error {
		return r.QueryRow("SELECT COALESCE(SUM(hundredths), 0), COALESCE(MAX(card), '') FROM links_txn WHERE link = ? AND status = 'confirmed'", link).Scan(&hundredths, &card)
	}))
	return hundredths, card
}
