package paylinks

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// scriptPath is where the page's script lives.
const scriptPath = PagePrefix + "card.js"

func speaks(r *http.Request) tongue {
	return tongueOf(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
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

// filled is what a page shows again of a form that was not good enough.
type filled struct {
	contact map[string]string
	faults  []fault
}

func (s *Links) action(v view, act string, l tongue) string {
	return PagePrefix + url.PathEscape(v.slip.Hash) + "/" + act + "?lang=" + l.code()
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
			pages.Hidden(form.Field, s.Forms.TokenShowing(formOf(v.slip.Hash, actAnswer), v.slip.asked)),
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
		add(s.goesOn(v, l)...)
	case Returned:
		add(pages.Result(l.say(wReturned)))
		add(s.goesOn(v, l)...)
	default:
		add(pages.Result(l.say(wExpired)))
	}
	add(choose(v, l))
	return out
}

// goesOn says of a subscription that was paid whether it goes on, and lets its customer end it: also where its first payment was given
// back, since it is charged again all the same.
func (s *Links) goesOn(v view, l tongue) []pages.Node {
	switch {
	case v.slip.mayStop:
		return []pages.Node{pages.Form(s.action(v, actStop, l), l.say(wStop), "no", form.Field, s.Forms.Token(formOf(v.slip.Hash, actStop)))}
	case v.options.Subscription && !v.slip.Subscribed:
		return []pages.Node{pages.Para("", l.say(wStopped))}
	}
	return nil
}

// files draws the list of a page's attachments.
func files(v view, l tongue) []pages.Node {
	var items []pages.Node
	for i, f := range v.options.Files {
		address := PagePrefix + url.PathEscape(v.slip.Hash) + "/file/" + strconv.Itoa(i)
		items = append(items, pages.E("li", nil, pages.E("a", []pages.Attr{pages.A("href", address), pages.A("download", f.Name)}, pages.T(f.Name))))
	}
	if items == nil {
		return nil
	}
	return []pages.Node{pages.Para("", l.say(wFiles)), pages.E("ul", nil, items...)}
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
		names := []string{l.say(wCard)}
		for _, brand := range cards {
			names = append(names, brandName(brand))
		}
		group(strings.Join(names, " "), []pages.Node{
			pages.Para("", l.say(wTestOnly)),
			pages.Input{Name: "number", Label: l.say(wCardNumber), Auto: "cc-number", Mode: "numeric", Max: 23, Fault: bad("number")}.Node(),
			pages.Input{Name: "expiry", Label: l.say(wExpiry), Auto: "cc-exp", Mode: "numeric", Max: pages.MaxExpiry, Fault: bad("expiry")}.Node(),
			pages.Input{Name: "code", Label: l.say(wCode), Type: "password", Auto: "cc-csc", Mode: "numeric", Max: 4, Fault: bad("code")}.Node(),
			button(byCard, label),
		})
	}
	if brand := o.wallet(); brand != "" {
		name := brandName(brand)
		group(l.say(wOther)+" "+name, []pages.Node{button(byWallet, label+" ("+name+")")})
	}
	return pages.E("form", []pages.Attr{pages.A("method", "post"), pages.A("action", s.action(v, actPay, l))}, kids...)
}

// brandName is a brand of the wire as its owner writes it.
func brandName(brand string) string {
	switch brand {
	case "twint":
		return "TWINT"
	case "paypal":
		return "PayPal"
	}
	if brand == "" {
		return ""
	}
	return strings.ToUpper(brand[:1]) + brand[1:]
}

// choose offers the page in the other languages.
func choose(v view, l tongue) pages.Node {
	var list []pages.Choice
	for i, code := range languages {
		list = append(list, pages.Choice{Code: code, Name: names[i], Address: PagePrefix + url.PathEscape(v.slip.Hash) + "?lang=" + code})
	}
	return pages.Languages(names[l], list)
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
