package hosted

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/backend/room/roomtest"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

func (w *world) browser() roomtest.Browser {
	return roomtest.Browser{TB: w.t, Handler: w.Pages(), Origin: public}
}

// get opens a page.
func (w *world) get(path string) *httptest.ResponseRecorder {
	return w.browser().Send(http.MethodGet, path, nil)
}

// send posts a form as the page's own script does; header names and values alternate.
func (w *world) send(path string, fields url.Values, header ...string) *httptest.ResponseRecorder {
	return w.browser().Send(http.MethodPost, path, fields, header...)
}

var tokenIn = regexp.MustCompile(`(?:data-token|name="token"[^>]*value)="([^"]*)"`)

func (w *world) ticket(path string) string {
	w.t.Helper()
	rec := w.get(path)
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body.String())
	m := tokenIn.FindStringSubmatch(rec.Body.String())
	require.Len(w.t, m, 2, rec.Body.String())
	return html.UnescapeString(m[1])
}

// put fills a field in by its page and gives what the frame would tell.
func (w *world) put(sid, id, value string) (m message) {
	w.t.Helper()
	path := FieldPrefix + sid + "/" + id
	rec := w.send(path, url.Values{"token": {w.ticket(path)}, "value": {value}})
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body.String())
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &m))
	return m
}

// A field may be framed by the merchant's pages only, and is told to talk to them alone; no other page may be framed at all.
func TestWhoMayFrameAField(t *testing.T) {
	w := newWorld(t)
	req := request()
	req.MerchantURL = "https://Shop.example:8443/checkout?a=1"
	id := w.built(req)
	rec := w.get(FieldPrefix + id + "/CARD_NUMBER")
	csp := rec.Header().Get("Content-Security-Policy")
	require.True(t, strings.HasSuffix(csp, "frame-ancestors https://shop.example:8443"), csp)
	require.Contains(t, csp, "default-src 'none'; script-src 'self'; connect-src 'self';")
	require.Empty(t, rec.Header().Get("X-Frame-Options"))
	require.Contains(t, rec.Body.String(), `data-to="https://shop.example:8443"`)
	require.NotContains(t, rec.Body.String(), "<script>", "no script of the page's own")
	for _, path := range []string{AwayPrefix + id, FieldPrefix + "nothing/CARD_NUMBER", FieldPrefix + id + "/OTHER"} {
		rec := w.get(path)
		require.Contains(t, rec.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		require.Equal(t, "DENY", rec.Header().Get("X-Frame-Options"))
	}
	// What the frame tells goes to that origin; the browser's tests see it, and here it stands that there is no other way out.
	require.Equal(t, 1, strings.Count(fieldScript, "postMessage("))
	require.Contains(t, fieldScript, "parent.postMessage(m, to)")
	require.Contains(t, fieldScript, "to = box.dataset.to;")
	for _, path := range []string{ScriptPath, fieldScriptPath} {
		require.Contains(t, w.get(path).Header().Get("Content-Type"), "text/javascript")
	}
	require.Equal(t, http.StatusOK, w.get(FieldPrefix+"methods/VISA.svg").Code)
	require.Equal(t, http.StatusNotFound, w.get(FieldPrefix+"methods/%3Cscript%3E.svg").Code)
}

// What stands in a field comes from its own page only, with a token that is spent.
func TestOnlyTheFieldsOwnPageFillsIt(t *testing.T) {
	w := newWorld(t)
	id := w.built(request())
	path := FieldPrefix + id + "/CARD_NUMBER"
	number := pan(t, "visa").Reveal()
	good := func() url.Values { return url.Values{"token": {w.ticket(path)}, "value": {number}} }
	for name, header := range map[string][]string{
		"the shop":   {"Origin", "https://shop.example"},
		"nobody":     {"Origin", "null"},
		"cross-site": {"Sec-Fetch-Site", "cross-site"},
	} {
		rec := w.send(path, good(), header...)
		require.Equal(t, http.StatusForbidden, rec.Code, name)
		require.NotContains(t, rec.Body.String(), number)
	}
	require.Equal(t, http.StatusForbidden, w.send(path, url.Values{"value": {number}}).Code)
	other := good()
	require.Equal(t, http.StatusForbidden, w.send(FieldPrefix+id+"/SECURITY_CODE", other).Code, "made for another field")
	require.Equal(t, http.StatusOK, w.send(path, other).Code)
	require.Equal(t, http.StatusForbidden, w.send(path, other).Code, "spent")
}

// Each field judges itself; the last good one makes the session ready, and one that turns bad takes that back. Nothing repeats
// what stands in it.
func TestFields(t *testing.T) {
	w := newWorld(t)
	id := w.built(request())
	for _, c := range []struct{ id, value, code string }{
		{cardNumber, "4111 1111 1111 1112", hfInvalid}, {cardNumber, "4929000000006000", hfInvalid}, {cardNumber, "5105105105105100", hfBrand},
		{expiryDate, "13/30", hfInvalid}, {expiryDate, "10/26", hfPast}, {securityCode, "12", hfInvalid}, {securityCode, "12a", hfInvalid},
		{holderName, " ", hfInvalid}, {holderName, "4111111111111111", hfInvalid}, {holderEmail, "nobody", hfInvalid}, {"OTHER", "x", hfTrouble},
	} {
		if c.id == "OTHER" {
			require.Equal(t, http.StatusNotFound, w.get(FieldPrefix+id+"/OTHER").Code)
			continue
		}
		m := w.put(id, c.id, c.value)
		require.Equal(t, eventError, m.Event, c.value)
		require.Equal(t, c.code, m.ErrorCode, c.value)
		if text := strings.TrimSpace(c.value); text != "" {
			require.NotContains(t, raw(t, m), `"`+text+`"`)
		}
	}
	good := [][2]string{
		{cardNumber, "4111 1111-1111 1111"}, {expiryDate, "11 / 26"}, {securityCode, "737"}, {holderName, "Anna Rossi"}, {holderEmail, "anna@shop.example"},
	}
	for i, f := range good {
		m := w.put(id, f[0], f[1])
		require.Equal(t, eventSuccess, m.Event, f[0])
		require.NotEmpty(t, m.Token)
		m.Token = "" // random digits: three of them may be the code's
		require.NotContains(t, raw(t, m), f[1])
		require.Equal(t, i == len(good)-1, m.Then != nil)
		if m.Then != nil {
			require.Equal(t, eventChange, m.Then.Event)
			require.Equal(t, hosted.Ready, m.Then.State)
		}
	}
	require.Equal(t, hosted.CardCollection, w.put(id, securityCode, "1").Then.State)
	_, err := w.Finalize(t.Context(), "", id, "")
	refused(t, hosted.SessionNotReady, err)
	require.Equal(t, hosted.Ready, w.put(id, securityCode, "737").Then.State)
	path := FieldPrefix + id + "/CARD_NUMBER"
	rec := w.send(path, url.Values{"token": {w.ticket(path)}, "value": {"4111111111111111"}, "confirm": {"1"}})
	require.Contains(t, rec.Body.String(), `"then":{"event":"BUILD_FLOW_STATE_CHANGE","id":"confirmData","state":"READY_FOR_PAYMENT"`)
	s, err := w.Finalize(t.Context(), "", id, "")
	require.NoError(t, err)
	require.JSONEq(t, `{"cardHolderName":"Anna Rossi","cardHolderEmail":"anna@shop.example"}`, string(s.Operation.CustomerInfo))
	w.clean("4111111111111111", "4111 1111", "737\"", "Anna Rossi")

	require.Contains(t, w.get(path).Body.String(), `data-over="HF0003"`)
	id = w.built(request())
	path = FieldPrefix + id + "/CARD_NUMBER"
	token := w.ticket(path)
	w.Pass(5 * time.Minute)
	rec = w.send(path, url.Values{"token": {token}, "value": {"4111111111111111"}})
	require.Contains(t, rec.Body.String(), `"errorCode":"HF0003"`)
	rec = w.send(FieldPrefix+w.built(request())+"/CARD_NUMBER", url.Values{"token": {token}})
	require.Equal(t, http.StatusForbidden, rec.Code, "another session's")
}

// The hosted fields speak the session's language, and so does what they say is wrong.
func TestField_B2HostedFieldsFollowTheLanguage(t *testing.T) {
	for language, want := range map[string][4]string{
		"": {"en", "Card number", "This is not a card number.", "Pay with PAYPAL"}, "eng": {"en", "Card number", "This is not a card number.", "Pay with PAYPAL"},
		"ITA": {"it", "Numero della carta", "Non è un numero di carta.", "Paga con PAYPAL"}, "ger": {"de", "Kartennummer", "Das ist keine Kartennummer.", "Bezahlen mit PAYPAL"},
		"deu": {"de", "Kartennummer", "Das ist keine Kartennummer.", "Bezahlen mit PAYPAL"}, "fre": {"fr", "Numéro de carte", "Ce n'est pas un numéro de carte.", "Payer avec PAYPAL"},
		"nob": {"nb", "Kortnummer", "Dette er ikke et kortnummer.", "Betal med PAYPAL"}, "swe": {"sv", "Kortnummer", "Detta är inget kortnummer.", "Betala med PAYPAL"},
		"pol": {"pl", "Numer karty", "To nie jest numer karty.", "Zapłać z PAYPAL"}, "rus": {"ru", "Номер карты", "Это не номер карты.", "Оплатить через PAYPAL"},
		"spa": {"es", "Número de tarjeta", "Esto no es un número de tarjeta.", "Pagar con PAYPAL"}, "por": {"pt", "Número do cartão", "Isto não é um número de cartão.", "Pagar com PAYPAL"},
		"dan": {"da", "Kortnummer", "Det er ikke et kortnummer.", "Betal med PAYPAL"}, "dut": {"nl", "Kaartnummer", "Dit is geen kaartnummer.", "Betalen met PAYPAL"},
		"est": {"et", "Kaardi number", "See ei ole kaardi number.", "Maksa: PAYPAL"}, "fin": {"fi", "Kortin numero", "Tämä ei ole kortin numero.", "Maksa: PAYPAL"},
		"lav": {"lv", "Kartes numurs", "Tas nav kartes numurs.", "Maksāt ar PAYPAL"}, "lit": {"lt", "Kortelės numeris", "Tai ne kortelės numeris.", "Mokėti su PAYPAL"},
		"jpn": {"en", "Card number", "This is not a card number.", "Pay with PAYPAL"}, // a language, but none of the sixteen
	} {
		w := newWorld(t)
		req := request()
		req.PaymentSession.Language = language
		id := w.built(req)
		body := w.get(FieldPrefix + id + "/CARD_NUMBER").Body.String()
		require.Contains(t, body, `<html lang="`+want[0]+`">`, language)
		require.Contains(t, body, ">"+html.EscapeString(want[1])+"<", language)
		require.Equal(t, want[2], w.put(id, cardNumber, "4111").ErrorMessage, language)
		req.PaymentSession.PaymentService, req.Order.OrderID = "", "choice"
		require.Contains(t, w.get(FieldPrefix+w.built(req)+"/PAYPAL").Body.String(), ">"+html.EscapeString(want[3])+"<", language)
	}
	w := newWorld(t)
	for _, language := range []string{"en", "it", "deutsch", "xxx", "e\ng"} {
		req := request()
		req.PaymentSession.Language = language
		_, err := w.Build(t.Context(), "", req)
		require.Equal(t, hosted.BadParameter, wire.ReasonOf(err), language)
		require.ErrorContains(t, err, "paymentSession.language")
		req = request()
		req.Order.TransactionSummary = []hosted.Summary{{Language: language}}
		_, err = w.Build(t.Context(), "", req)
		require.ErrorContains(t, err, "order.transactionSummary[].language", language)
	}
	for country, ok := range map[string]bool{"ITA": true, "DEU": true, "": true, "IT": false, "ita": false, "ZZZ": false, "ITALY": false} {
		req := request()
		req.Order.OrderID = "country"
		req.Order.CustomerInfo = json.RawMessage(`{"billingAddress":{"country":"` + country + `"},"shippingAddress":{"country":"ITA"}}`)
		_, err := w.Build(t.Context(), "", req)
		if ok {
			require.NoError(t, err, country)
			continue
		}
		require.Equal(t, hosted.BadParameter, wire.ReasonOf(err), country)
		require.ErrorContains(t, err, "order.customerInfo.billingAddress.country")
	}
}

// A telephone's number pad has no slash.
func TestField_B1ExpiryInTheHostedField(t *testing.T) {
	w := newWorld(t)
	id := w.built(request())
	for _, typed := range []string{"1130", "11/30", "11 30", "11 / 2030"} {
		require.Equal(t, eventSuccess, w.put(id, expiryDate, typed).Event, typed)
	}
	require.Equal(t, hfPast, w.put(id, expiryDate, "1026").ErrorCode)
	require.Contains(t, w.get(FieldPrefix+"field.js").Body.String(), "formatExpiry(input)")
}

// The choice of a method, and the confirmation of what is not filled in.
func TestActions(t *testing.T) {
	w := newWorld(t)
	req := request()
	req.PaymentSession.PaymentService = ""
	id := w.built(req)
	m := w.put(id, payWithCard, "")
	require.Equal(t, hosted.CardCollection, m.State)
	require.Len(t, m.FieldSet.Fields, 5)
	require.NotContains(t, raw(t, m), "securityToken")
	require.Equal(t, eventError, w.put(id, payWithCard, "").Event, "once")
	path := FieldPrefix + id + "/CARD_NUMBER"
	rec := w.send(path, url.Values{"token": {w.ticket(path)}, "value": {"4111111111111111"}, "confirm": {"1"}})
	require.Contains(t, rec.Body.String(), `"event":"CONFIRM_ERROR"`)
	require.Contains(t, rec.Body.String(), `{"id":"CARD_NUMBER","valid":true},{"id":"EXPIRATION_DATE","valid":false}`)
	id = w.built(req)
	m = w.put(id, "PAYPAL", "")
	require.Equal(t, hosted.Redirected, m.State)
	require.Equal(t, public+AwayPrefix+id, m.URL)
	require.Equal(t, m.URL, m.Data.URL)
}

func TestAwayPage(t *testing.T) {
	for lang, word := range map[string]string{"eng": "Yes, it is me", "ITA": "Sì, sono io", "ger": "Ja, ich bin es", "jpn": "Yes, it is me"} {
		w := newWorld(t)
		req := request()
		req.PaymentSession.Language = lang
		id, _, err := w.finalized(req, "challenge")
		require.NoError(t, err)
		path := AwayPrefix + id
		body := w.get(path).Body.String()
		amount := "50,00 EUR"
		if word == "Yes, it is me" {
			amount = "50.00 EUR"
		}
		for _, text := range []string{"SANDBOX", html.EscapeString(word), amount, "**** 3184", "Corner Shop"} {
			require.Contains(t, body, text)
		}
		form := url.Values{"token": {w.ticket(path)}, "say": {sayYes}}
		require.Equal(t, http.StatusForbidden, w.send(path, form, "Origin", "https://shop.example").Code)
		rec := w.send(path, form)
		require.Equal(t, http.StatusSeeOther, rec.Code)
		require.Equal(t, http.StatusSeeOther, w.send(path, form).Code, "pressed twice")
		body = w.get(rec.Header().Get("Location")).Body.String()
		require.Contains(t, body, `content="0;url=https://shop.example/result"`)
		require.Regexp(t, `<p role="status">(Paid. Thank you.|Pagato. Grazie.|Bezahlt. Vielen Dank.)</p>`, body)
		require.EqualValues(t, 5000, w.accounts()["merchant"])
	}
	w := newWorld(t)
	require.Equal(t, http.StatusNotFound, w.get(AwayPrefix+"nothing").Code)
	id, _, err := w.finalized(request(), "challenge")
	require.NoError(t, err)
	w.send(AwayPrefix+id, url.Values{"token": {w.ticket(AwayPrefix + id)}, "say": {sayCancel}})
	require.Contains(t, w.get(AwayPrefix+id+"?go=1").Body.String(), `content="0;url=https://shop.example/cancel"`)
	require.Empty(t, w.accounts())
}

// Two tabs before the bank's question, of one session or of two sessions of one order over different amounts, and every order of
// presses of their buttons: where money is taken it is the amount that the pressed page showed, and once. Nothing is taken by
// a no or by giving up.
func TestField2_S9_TwoTabsAway(t *testing.T) {
	presses := roomtest.Presses(t, 2, 3)
	says := []string{sayYes, sayNo, sayCancel, ""} // "" = the customer looks at the page again
	for name, two := range map[string]bool{"one session": false, "two sessions of one order": true} {
		t.Run(name, func(t *testing.T) {
			w, paid, orders := newWorld(t), 0, 0
			tried := roomtest.Orders(presses, 2*len(says), func(order []int) int {
				req := request()
				orders++
				req.Order.OrderID = fmt.Sprint("order", orders)
				before := int64(w.accounts()["merchant"])
				away := func(amount hosted.Text) string {
					id := w.built(req)
					require.NoError(t, w.Fill(t.Context(), id, pan(t, "challenge"), 2031, 6))
					_, err := w.Finalize(t.Context(), wire.NewKey(), id, amount)
					require.NoError(t, err)
					return id
				}
				ids := [2]string{away("")}
				if ids[1] = ids[0]; two {
					ids[1] = away("3000")
				}
				amounts := map[string]int64{"50.00 EUR": 5000, "30.00 EUR": 3000}
				var tabs [2]roomtest.Tab
				for i := range tabs {
					tabs[i] = roomtest.Tab{Browser: w.browser(), At: AwayPrefix + ids[i]}
					tabs[i].Look()
				}
				old, was := [2]bool{}, int64(0)
				defer func() {
					if was > 0 {
						paid++
					}
				}()
				for n, press := range order {
					which, say := press/len(says), says[press%len(says)]
					tab := &tabs[which]
					shown := tab.Body
					switch {
					case say != "" && !tab.Press("", "say", say), say == "" && !old[which]:
						return n
					case say == "":
						tab.Look()
						old[which] = false
					default:
						old[which], old[1-which] = false, true
					}
					taken := int64(w.accounts()["merchant"]) - before
					if taken == was {
						continue
					}
					require.Equal(t, sayYes, say, "%v took money", order)
					require.Zero(t, was, "%v: twice", order)
					for text, amount := range amounts {
						require.Equal(t, amount == taken, strings.Contains(shown, text), "%v: %d was taken", order, taken)
					}
					was = taken
				}
				return presses
			})
			require.Positive(t, paid)
			t.Logf("%d orders of up to %d presses, %d paid: each what was shown", tried, presses, paid)
		})
	}
}
