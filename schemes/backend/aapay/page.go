package aapay

import (
	"net/http"
	"net/url"
	"strconv"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// PagePrefix is where the wallet pages live; the ppref follows.
const PagePrefix = "/wallet/"

// Pages serves the wallet pages. A POST with an Authorization header that authorized accepts is a program's and is
// answered in JSON; any other POST must come from the page's own form.
//
//	GET  /wallet/{ppref}           the page
//	POST /wallet/{ppref}/pay       the form's button; 303 back to the page
//	POST /wallet/{ppref}/decline   the same
//	POST /wallet/{ref}/pay         with bearer: ref is a ppref, transactionId or terminalReference; answers a Purse
//	POST /wallet/{ref}/decline     the same
func (w *Wallets) Pages(authorized func(*http.Request) (*http.Request, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PagePrefix+"{ref}", w.page)
	for _, act := range []Act{ActPay, ActDecline} {
		mux.HandleFunc("POST "+PagePrefix+"{ref}/"+string(act), func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				by, err := authorized(r)
				w.program(rw, by, act, err)
				return
			}
			w.submit(rw, r, act)
		})
	}
	return mux
}

const jsonType = "application/json"

func (w *Wallets) program(rw http.ResponseWriter, r *http.Request, act Act, refused error) {
	fail := func(err error) { wire.WriteFault(rw, w.Log, jsonType, wire.AsError(opWallet, err)) }
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
		fail(wire.Errorf(wire.Forbidden, opWallet, "not for browsers"))
		return
	case refused != nil:
		fail(refused)
		return
	}
	p, err := w.act(r.Context(), r.PathValue("ref"), act, nil, byPPRef, byID, byTerminal)
	if err != nil {
		fail(err)
		return
	}
	wire.Reply(rw, w.Log, opWallet, http.StatusOK, jsonType, p)
}

func (w *Wallets) page(rw http.ResponseWriter, r *http.Request) {
	p, err := w.Show(r.Context(), r.PathValue("ref"))
	if err != nil {
		w.sorry(rw, err)
		return
	}
	w.render(p).Send(rw)
}

// render draws a purse.
func (w *Wallets) render(p Purse) pages.Page {
	amount := strconv.FormatInt(p.Amount, 10)
	if cur, ok := money.Lookup(p.Currency); ok {
		if minor, err := money.FromHundredths(p.Amount, cur); err == nil {
			amount = money.FormatIn("en", minor, cur)
		}
	}
	label := p.Method
	if provider, ok := w.seed.find(p.Method); ok {
		label = provider.Label
	}
	out := pages.Page{Title: label + " - " + amount, Body: []pages.Node{
		pages.Heading(label),
		pages.Para("", "Pay to "+p.Merchant),
		pages.Para("amount", amount),
	}}
	switch p.Look {
	case Open:
		here := PagePrefix + url.PathEscape(p.Ref) + "/"
		out.Body = append(out.Body,
			pages.Form(here+string(ActPay), "Pay "+amount, "go", form.Field, w.Forms.Token(formOf(p.Ref))),
			pages.Form(here+string(ActDecline), "Decline", "no", form.Field, w.Forms.Token(formOf(p.Ref))))
	case Processing:
		out.Refresh = 2
		out.Body = append(out.Body, pages.Result("Your payment is being processed."))
	case Paid:
		out.Body = append(out.Body, pages.Result("Paid. Thank you."))
	case Undone:
		out.Body = append(out.Body, pages.Result("The payment was reversed. You have your money back."))
	case Declined:
		out.Body = append(out.Body, pages.Result("Declined. Nothing was paid."))
	default:
		out.Body = append(out.Body, pages.Result("This payment has expired. Nothing was paid."))
	}
	return out
}

func (w *Wallets) sorry(rw http.ResponseWriter, err error) {
	e := wire.AsError(opWallet, err)
	text := map[wire.Code]string{
		wire.NotFound:  "There is no such payment.",
		wire.Conflict:  "This payment can no longer be changed.",
		wire.Forbidden: "This form is not valid any more. Open the payment again.",
	}[e.Code]
	if text == "" {
		w.Log.Error("wallet page", "err", err)
		text = "Something went wrong. Please try again."
	}
	pages.Page{Status: e.Code.Status(), Title: "Wallet", Body: []pages.Node{
		pages.Heading("Wallet"), pages.Result(text),
	}}.Send(rw)
}

// submit takes a form of ours about this payment.
func (w *Wallets) submit(rw http.ResponseWriter, r *http.Request, act Act) {
	ref := r.PathValue("ref")
	slip, err := w.Forms.Take(rw, r, formOf(ref))
	if err == nil {
		_, err = w.act(r.Context(), ref, act, slip.Spend, byPPRef)
	}
	if err != nil {
		w.sorry(rw, err)
		return
	}
	http.Redirect(rw, r, PagePrefix+url.PathEscape(ref), http.StatusSeeOther)
}

// formOf names what a payment's forms are about.
func formOf(ref string) string { return "wallet/" + ref }
