package links

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// PagePrefix is where the link pages live; the hash follows.
const PagePrefix = "/pay/"

// scriptPath is where the page's script lives.
const scriptPath = PagePrefix + "card.js"

// What a link's customer accepts stands at these pages of the link.
const (
	termsPage   = "terms"
	privacyPage = "privacy"
)

const jsonType = "application/json"

// Pages serves the link pages. A POST with an Authorization header that authorized accepts is a program's and is
// answered in JSON; any other POST must come from the page's own form.
//
//	GET  /pay/{hash}?lang=      the page
//	GET  /pay/card.js           formats what the customer types
//	GET  /pay/{hash}/file/{n}   an attachment
//	GET  /pay/{hash}/terms      what the customer accepts; /pay/{hash}/privacy the same
//	GET  /pay/{hash}/qr.png     the link as a QR code
//	POST /pay/{hash}/pay        the form: contact fields, and a card or the wallet's button
//	POST /pay/{hash}/decline    the customer gives up this attempt
//	POST /pay/{hash}/stop       the customer ends the subscription
//	POST /pay/{hash}/answer     pass=yes|no: the cardholder answers the bank (3-D Secure)
//	POST /pay/{ref}/{act}       the same with bearer: ref is a hash, an id or a referenceId; answers a Slip
func (s *Links) Pages(authorized func(*http.Request) bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PagePrefix+"{ref}", s.page)
	mux.HandleFunc("GET "+scriptPath, pages.Script(pages.CardScript))
	mux.HandleFunc("GET "+PagePrefix+"{ref}/file/{n}", s.download)
	mux.HandleFunc("GET "+PagePrefix+"{ref}/"+termsPage, s.say(wTermsLink, wTermsText))
	mux.HandleFunc("GET "+PagePrefix+"{ref}/"+privacyPage, s.say(wPrivacyLink, wPrivacyText))
	if s.qr != nil {
		mux.HandleFunc("GET "+PagePrefix+"{ref}/qr.png", s.code)
	}
	for _, act := range []string{actPay, actDecline, actStop, actAnswer} {
		mux.HandleFunc("POST "+PagePrefix+"{ref}/"+act, func(w http.ResponseWriter, r *http.Request) {
			if act != actAnswer && r.Header.Get("Authorization") != "" {
				s.program(w, r, act, authorized(r))
				return
			}
			s.submit(w, r, act)
		})
	}
	return mux
}

func (s *Links) program(w http.ResponseWriter, r *http.Request, act string, authorized bool) {
	var out Slip
	var err error
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Referer") != "":
		err = wire.Errorf(wire.Forbidden, opPay, "not for browsers")
	case !authorized:
		err = wire.Errorf(wire.Unauthorized, opPay, "credentials missing or wrong")
	default:
		out, err = s.play(r.Context(), r.PathValue("ref"), act, attempt{Lang: languages[0]}, nil)
	}
	if err != nil {
		wire.WriteFault(w, s.Log, jsonType, wire.AsError(opPay, err))
		return
	}
	wire.Reply(w, s.Log, opPay, http.StatusOK, jsonType, out)
}

// filled is what a page shows again of a form that was not good enough.
type filled struct {
	contact map[string]string
	faults  []fault
}

func (s *Links) page(w http.ResponseWriter, r *http.Request) {
	l := speaks(r)
	v, err := s.view(r.Context(), r.PathValue("ref"))
	if err != nil {
		s.sorry(w, l, "", err)
		return
	}
	p := s.render(v, l, filled{})
	switch end := r.URL.Query().Get("go"); {
	case end == goPaid && (v.slip.State == Paid || v.slip.State == Held):
		p.Next = v.options.Success
	case end == goFailed && v.slip.State == Turned:
		p.Next = v.options.Failed
	}
	p.Send(w)
}

// What the address of a page ends in that leads on to the shop. A redirect in answer to the form would not do: browsers hold
// whatever redirects come behind it against the form's policy.
const (
	goPaid   = "paid"
	goFailed = "failed"
)

// code sends a link as a QR code.
func (s *Links) code(w http.ResponseWriter, r *http.Request) {
	p, err := s.Show(r.Context(), r.PathValue("ref"))
	var png []byte
	if err == nil {
		png, err = s.qr(s.Public + PagePrefix + p.Hash)
	}
	if err != nil {
		s.sorry(w, speaks(r), "", err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(png)))
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(png) // the reader may be gone; the error has no receiver
}

func speaks(r *http.Request) tongue {
	return tongueOf(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
}

// submit takes a form of ours about this link.
func (s *Links) submit(w http.ResponseWriter, r *http.Request, act string) {
	l, hash := speaks(r), r.PathValue("ref")
	fail := func(err error) { s.sorry(w, l, hash, err) }
	slip, err := s.Forms.Take(w, r, formOf(hash, act))
	if err != nil {
		fail(err)
		return
	}
	v, err := s.view(r.Context(), hash)
	if err != nil {
		fail(err)
		return
	}
	a := attempt{Lang: l.code(), Pass: r.PostForm.Get("pass") == "yes"}
	if act == actPay {
		by := r.PostForm.Get("by")
		if by == byCard && v.options.cards() == nil || by == byWallet && v.options.wallet() == "" || by != byCard && by != byWallet {
			fail(wire.Errorf(wire.Forbidden, opPay, "no such button"))
			return
		}
		contact, faults := answers(r, v.options.shown(), l)
		if by == byCard {
			c, wrong := s.readCard(r, l)
			a.Brand, a.Card, a.Bank = c.brand, c.masked, c.do
			faults = append(faults, wrong...)
		}
		if len(faults) > 0 {
			p := s.render(v, l, filled{contact, faults})
			p.Status = http.StatusUnprocessableEntity
			p.Send(w)
			return
		}
		if len(contact) > 0 {
			if a.Contact, err = json.Marshal(contact); err != nil {
				fail(err)
				return
			}
		}
	}
	out, err := s.play(r.Context(), hash, act, a, slip.Spend)
	if wire.CodeOf(err) == wire.Forbidden { // this very form was sent before, by a double click perhaps: the page says what came of it
		err = nil
	}
	if err != nil {
		fail(err)
		return
	}
	to := PagePrefix + url.PathEscape(hash) + "?lang=" + l.code()
	switch {
	case !out.acted: // another customer paid meanwhile: the page says so
	case out.State == Paid || out.State == Held:
		to += "&go=" + goPaid
	case out.State == Turned:
		to += "&go=" + goFailed
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// formOf names what a form is about: one act of one link.
func formOf(hash, act string) string { return "pay/" + hash + "/" + act }

// amountText writes hundredths as people of a language do.
func amountText(l tongue, hundredths int64, currency string) string {
	if cur, ok := money.Lookup(currency); ok {
		return money.FormatIn(l.code(), minorOf(hundredths, currency), cur)
	}
	return strconv.FormatInt(hundredths, 10)
}

// render draws a link.
func (s *Links) render(v view, l tongue, again filled) pages.Page {
	o, amount := v.options, amountText(l, v.slip.Amount, v.slip.Currency)
	out := pages.Page{Title: o.Title + " - " + amount, Lang: l.code(), Body: []pages.Node{pages.Heading(o.Title)}}
	add := func(nodes ...pages.Node) { out.Body = append(out.Body, nodes...) }
	for _, line := range strings.Split(o.Description, "\n") {
		if strings.TrimSpace(line) != "" {
			add(pages.Para("", line))
		}
	}
	add(pages.Para("", o.Purpose), pages.Para("", l.say(wPayTo)+" "+s.Merchant), pages.Para("amount", amount))
	if o.VAT != "" {
		add(pages.Para("", l.say(wVAT)+" "+o.VAT+" %"))
	}
	if o.Subscription {
		add(pages.Para("", l.say(wSubscription)+" "+o.Interval))
	}
	add(files(v, l)...)
	switch {
	case o.Reservation:
		add(pages.Para("", l.say(wReserve)))
	case o.PreAuthorization:
		add(pages.Para("", l.say(wAuthorize)))
	}
	switch v.slip.State {
	case Open, Turned:
		out.Script = scriptPath
		if v.slip.State == Turned && len(again.faults) == 0 {
			add(pages.Result(l.say(wDeclined)))
		}
		add(s.payForm(v, l, amount, again), pages.Form(s.action(v, actDecline, l), l.say(wDecline), "no", form.Field, s.Forms.Token(formOf(v.slip.Hash, actDecline))))
	case Asked:
		add(pages.Para("", v.slip.card), pages.Result(l.say(wProve)), pages.E("form",
			[]pages.Attr{pages.A("method", "post"), pages.A("action", s.action(v, actAnswer, l))},
			pages.Hidden(form.Field, s.Forms.Token(formOf(v.slip.Hash, actAnswer))),
			pages.Button(l.say(wApprove), "go", "pass", "yes"), pages.Button(l.say(wRefuse), "no", "pass", "no")))
	case Processing:
		out.Refresh = 2
		add(pages.Result(l.say(wProcessing)))
	case Paid, Held:
		text := wPaid
		if v.slip.State == Held {
			text = wHeld
		}
		add(pages.Result(l.say(text)))
		if pages.Origin(o.Success) != "" {
			add(pages.Onward(o.Success, l.say(wContinue)))
		}
		if o.Subscription && !v.slip.Subscribed {
			add(pages.Para("", l.say(wStopped)))
		}
		if v.slip.mayStop {
			add(pages.Form(s.action(v, actStop, l), l.say(wStop), "no", form.Field, s.Forms.Token(formOf(v.slip.Hash, actStop))))
		}
	case Returned:
		add(pages.Result(l.say(wReturned)))
	default:
		add(pages.Result(l.say(wExpired)))
	}
	add(choose(v, l))
	return out
}

// choose offers the page in the other languages.
func choose(v view, l tongue) pages.Node {
	var list []pages.Choice
	for i, code := range languages {
		list = append(list, pages.Choice{Code: code, Name: names[i], Address: PagePrefix + url.PathEscape(v.slip.Hash) + "?lang=" + code})
	}
	return pages.Languages(names[l], list)
}

// say serves what a link's customer accepts: the terms, or the privacy policy. The sandbox has none of a shop's.
func (s *Links) say(heading, text word) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l := speaks(r)
		v, err := s.view(r.Context(), r.PathValue("ref"))
		if err != nil {
			s.sorry(w, l, "", err)
			return
		}
		pages.Page{Title: l.say(heading) + " - " + s.Merchant, Lang: l.code(), Body: []pages.Node{
			pages.Heading(l.say(heading)), pages.Para("", s.Merchant), pages.Para("", l.say(text)),
			pages.Link(PagePrefix+url.PathEscape(v.slip.Hash)+"?lang="+l.code(), l.say(wAgain)),
		}}.Send(w)
	}
}

func (s *Links) action(v view, act string, l tongue) string {
	return PagePrefix + url.PathEscape(v.slip.Hash) + "/" + act + "?lang=" + l.code()
}

// The ways to pay, as the buttons say them.
const (
	byCard   = "card"
	byWallet = "wallet"
)

// payForm draws the contact fields and the ways to pay.
func (s *Links) payForm(v view, l tongue, amount string, again filled) pages.Node {
	o := v.options
	kids := []pages.Node{pages.Hidden(form.Field, s.Forms.Token(formOf(v.slip.Hash, actPay)))}
	if len(again.faults) > 0 {
		items := []pages.Node{}
		for _, f := range again.faults {
			items = append(items, pages.E("li", nil, pages.T(f.text)))
		}
		kids = append(kids, pages.E("div", []pages.Attr{pages.A("role", "alert")},
			pages.E("p", nil, pages.T(l.say(wCheck))), pages.E("ul", nil, items...)))
	}
	group := func(title string, nodes []pages.Node) {
		kids = append(kids, pages.E("fieldset", nil, append([]pages.Node{pages.E("legend", nil, pages.T(title))}, nodes...)...))
	}
	button := func(by, label string) pages.Node {
		return pages.E("button", []pages.Attr{pages.A("type", "submit"), pages.A("class", "go"), pages.A("name", "by"), pages.A("value", by)}, pages.T(label))
	}
	if len(o.shown()) > 0 {
		group(l.say(wContact), inputs(o.shown(), l, PagePrefix+url.PathEscape(v.slip.Hash), again.contact, again.faults))
	}
	label := l.say(wPay) + " " + amount
	if o.ButtonText != "" {
		label = o.ButtonText
	}
	if cards := o.cards(); cards != nil {
		bad := func(name string) string { return why(again.faults, name) }
		group(strings.Join(append([]string{l.say(wCard)}, cards...), " "), []pages.Node{
			pages.Para("", l.say(wTestOnly)),
			pages.Input{Name: "number", Label: l.say(wCardNumber), Auto: "cc-number", Mode: "numeric", Max: 23, Fault: bad("number")}.Node(),
			pages.Input{Name: "expiry", Label: l.say(wExpiry), Auto: "cc-exp", Mode: "numeric", Max: pages.MaxExpiry, Fault: bad("expiry")}.Node(),
			pages.Input{Name: "code", Label: l.say(wCode), Type: "password", Auto: "cc-csc", Mode: "numeric", Max: 4, Fault: bad("code")}.Node(),
			button(byCard, label),
		})
	}
	if brand := o.wallet(); brand != "" {
		group(l.say(wOther)+" "+brand, []pages.Node{button(byWallet, label+" ("+brand+")")})
	}
	return pages.E("form", []pages.Attr{pages.A("method", "post"), pages.A("action", s.action(v, actPay, l))}, kids...)
}

// sorry says why there is no page. It never repeats what was asked.
func (s *Links) sorry(w http.ResponseWriter, l tongue, hash string, err error) {
	e := wire.AsError(opPay, err)
	text, known := map[wire.Code]word{wire.NotFound: wGone, wire.Conflict: wLate, wire.Forbidden: wStale}[e.Code]
	if !known {
		s.Log.Error("link page", "err", err)
		text = wTrouble
	}
	body := []pages.Node{pages.Heading(s.Merchant), pages.Result(l.say(text))}
	if hash != "" && e.Code != wire.NotFound {
		body = append(body, pages.E("p", nil, pages.E("a", []pages.Attr{pages.A("href", PagePrefix+url.PathEscape(hash)+"?lang="+l.code())}, pages.T(l.say(wAgain)))))
	}
	pages.Page{Status: e.Code.Status(), Title: s.Merchant, Lang: l.code(), Body: body}.Send(w)
}
