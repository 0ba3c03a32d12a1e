package gateway

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"

	"posagent/agent/outbox"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// PayPath is where the local port serves the pages of payments that the backend does not know yet.
const PayPath = "/pay/"

// PagesAt says at which address of the local port the pages are. Call it before anything is written; without it the answer to a
// stored payment names no page.
func (f *Front) PagesAt(base string) { f.pages = strings.TrimSuffix(base, "/") }

// payPage is the page of a payment that is stored; "" where the port is not known.
func (f *Front) payPage(local string) string {
	if f.pages == "" {
		return ""
	}
	return f.pages + PayPath + local
}

// pageState is what a payment's page has to say.
type pageState int

const (
	pageWaits pageState = iota // the backend has not answered yet, and nothing can have been paid
	pageUnder                  // it was sent, and needs no customer: it may have been paid
	pageLeads                  // on to the backend's own page
	pageMade                   // the backend needs no page
	pageEnded                  // the payment was never made
	pageLost                   // a person has to decide, or this journal does not have it and a lost one may have made it
)

// Pages serves them: GET PayPath and a local id, which cannot be guessed and is all that has to be shown. The page says that the
// shop is offline and asks again by itself; once the backend has answered it leads on to the backend's page.
func (f *Front) Pages() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		state, to, err := f.page(r.Context(), strings.TrimPrefix(r.URL.Path, PayPath))
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		switch {
		case wire.CodeOf(err) == wire.NotFound:
			http.NotFound(w, r)
			return
		case err != nil:
			f.o.Log.Error("payment page not served", "err", err)
			http.Error(w, "the terminal cannot read its journal now", http.StatusServiceUnavailable)
			return
		case state == pageLeads:
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		lang, words := "en", english
		if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "de") {
			lang, words = "de", german
		}
		again := ""
		if state == pageWaits || state == pageUnder {
			again = `<meta http-equiv="refresh" content="3">`
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		text := words[state]
		_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=%q><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">%s<title>%s</title></head>\n"+
			"<body><main><h1>%s</h1><p>%s</p></main></body></html>\n", lang, again, html.EscapeString(text.title), html.EscapeString(text.title), html.EscapeString(text.body))
	})
}

type pageText struct{ title, body string }

var (
	english = map[pageState]pageText{
		pageWaits: {"The shop is offline", "Nothing has been paid yet. This page leads on to the payment as soon as the connection is back."},
		pageUnder: {"The payment is under way", "The shop has not heard yet how it ended. Please do not pay again. This page shows it as soon as it is known."},
		pageMade:  {"The payment has arrived", "The payment has reached the bank. The shop shows how it ended."},
		pageEnded: {"The payment was not made", "Nothing was paid. Please ask the shop for a new payment."},
		pageLost:  {"The shop has to look", "The shop's terminal cannot say how this payment stands. Please ask the shop before you pay again."},
	}
	german = map[pageState]pageText{
		pageWaits: {"Das Geschäft ist offline", "Es wurde noch nichts bezahlt. Diese Seite führt zur Zahlung weiter, sobald die Verbindung wieder da ist."},
		pageUnder: {"Die Zahlung läuft", "Das Geschäft weiß noch nicht, wie sie ausgegangen ist. Bitte nicht noch einmal zahlen. Diese Seite zeigt es, sobald es bekannt ist."},
		pageMade:  {"Die Zahlung ist angekommen", "Die Zahlung hat die Bank erreicht. Das Geschäft zeigt, wie sie ausgegangen ist."},
		pageEnded: {"Die Zahlung ist nicht erfolgt", "Es wurde nichts bezahlt. Bitte lassen Sie sich im Geschäft eine neue Zahlung geben."},
		pageLost:  {"Das Geschäft muss nachsehen", "Das Terminal des Geschäfts kann nicht sagen, wie diese Zahlung steht. Bitte fragen Sie im Geschäft, bevor Sie noch einmal zahlen."},
	}
)

// page says how a payment stands, and where its page at the backend is. wire.NotFound where there is no such payment.
func (f *Front) page(ctx context.Context, local string) (state pageState, to string, err error) {
	none := wire.Errorf(wire.NotFound, "payments.page", "no such page")
	if key, ok := strings.CutPrefix(local, "L"); !ok || !wire.Key(key).Ours() || f.box == nil {
		return 0, "", none
	}
	var t thing
	var op outbox.Op
	var e end
	known := false
	err = f.o.DB.Read(ctx, func(r store.Reader) (err error) {
		t, known, err = f.readLocal(r, "payment", local)
		if err == nil && !known {
			err = f.lost(r, none.Op, "payment", "%s", none.Msg)
		}
		if err != nil {
			return err
		}
		op, e, err = f.madeBy(r, t)
		return err
	})
	switch {
	case wire.CodeOf(err) == wire.UnknownOutcome:
		return pageLost, "", nil
	case err != nil:
		return 0, "", err
	}
	if state = pageOf(seenOf(t), t.backend != "", op, e); state != pageMade || t.backend == "" {
		return state, "", nil
	}
	var made payments.Created
	if err := readAnswer(f.rows[KindPaymentCreate], answer{body: keptOf(op).Body}, &made); err != nil {
		return 0, "", err
	}
	if !wire.WebURL(made.PayPageURL) {
		return pageMade, "", nil
	}
	return pageLeads, made.PayPageURL, nil
}
