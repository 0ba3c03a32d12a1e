package payments

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
	"posagent/schemes/backend/pages/words"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/money"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// The acts of the page's forms.
const (
	actPay    = "pay"
	actAnswer = "answer"
	actLeave  = "leave"
)

// byCard is what the card form's button says; every other method is said by its own name.
const byCard = "card"

// scriptPath is where the page's script lives.
const scriptPath = PagePrefix + "card.js"

// Pages serves the hosted payment page and its challenge. A POST must come from the page's own form.
//
//	GET  /checkout/{id}?lang=&by=&go=  the page; by chooses a method on a Multipage, go leads on to the shop once it is paid
//	POST /checkout/{id}/pay            by=card with number, expiry, code; or by=METHOD, with iban where it is needed
//	POST /checkout/{id}/answer         pass=yes|no: the challenge
//	POST /checkout/{id}/leave          the customer gives up
//	GET  /checkout/card.js             formats what the customer types
func (c *Cards) Pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PagePrefix+"{id}", c.page)
	mux.HandleFunc("GET "+scriptPath, pages.Script(pages.CardScript))
	for _, act := range []string{actPay, actAnswer, actLeave} {
		mux.HandleFunc("POST "+PagePrefix+"{id}/"+act, func(w http.ResponseWriter, r *http.Request) { c.submit(w, r, act) })
	}
	return mux
}

// speaks picks the language: the customer's choice, the merchant's, the browser's.
func speaks(r *http.Request, v view) words.Tongue {
	return words.Of(r.URL.Query().Get("lang"), v.Config.Language, r.Header.Get("Accept-Language"))
}

func (c *Cards) page(w http.ResponseWriter, r *http.Request) {
	v, err := c.look(r.Context(), r.PathValue("id"))
	l := speaks(r, v)
	if err != nil {
		c.sorry(w, l, "", err)
		return
	}
	p := c.draw(v, l, r.URL.Query().Get("by"), nil)
	if v.Next == nextDone && r.URL.Query().Has("go") {
		p.Next = v.Return
	}
	p.Send(w)
}

// faults are the words beside the fields that were not good enough, by field.
type faults map[string]words.Word

func (c *Cards) submit(w http.ResponseWriter, r *http.Request, act string) {
	id := r.PathValue("id")
	v, err := c.look(r.Context(), id)
	l := speaks(r, v)
	if err != nil {
		c.sorry(w, l, "", err)
		return
	}
	slip, err := c.Forms.Take(w, r, subject(id, act))
	if err != nil {
		c.sorry(w, l, id, err)
		return
	}
	var s step
	switch act {
	case actPay:
		g, wrong := c.readForm(r)
		if len(wrong) > 0 {
			p := c.draw(v, l, r.PostForm.Get("by"), wrong)
			p.Status = http.StatusUnprocessableEntity
			p.Send(w)
			return
		}
		s, err = c.pay(r.Context(), id, g, slip.Spend)
	case actAnswer:
		s, err = c.answer(r.Context(), id, slip.Shown, r.PostForm.Get("pass") == "yes", slip.Spend)
	default:
		s, err = c.leave(r.Context(), id, slip.Spend)
	}
	if wire.CodeOf(err) == wire.Forbidden { // this form was sent before, by a double click perhaps, or asked about another attempt: the page says how it stands
		v, err = c.look(r.Context(), id)
		s = step{Next: v.Next, Return: v.Return}
	}
	if err != nil {
		c.sorry(w, l, id, err)
		return
	}
	to := address(id, l, "")
	switch {
	case s.Next == nextDone && pages.Origin(s.Return) != "":
		to += "&go=1" // by a page of ours: browsers hold whatever redirects come there against the form's policy
	case s.Next == nextPay && v.offers(r.PostForm.Get("by")):
		to += "&by=" + url.QueryEscape(r.PostForm.Get("by"))
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// subject names what a form is about: one act of one payment.
func subject(id, act string) string { return "checkout/" + id + "/" + act }

func address(id string, l words.Tongue, act string) string {
	if act != "" {
		act = "/" + act
	}
	return PagePrefix + url.PathEscape(id) + act + "?lang=" + l[0]
}

// readForm reads what the customer filled in. The number and the code end in what it gives.
func (c *Cards) readForm(r *http.Request) (given, faults) {
	f, wrong := r.PostForm, faults{}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = ""
	}
	g := given{IP: host}
	if by := f.Get("by"); by != byCard {
		g.Method = by
		if by == sepa {
			iban := strings.ToUpper(strings.ReplaceAll(f.Get("iban"), " ", ""))
			if !payments.ValidIBAN(iban) {
				wrong["iban"] = words.BadIBAN
			}
			g.IBAN = wire.Secret(iban)
		}
		return g, wrong
	}
	card := payments.CardDetails{
		PAN:            wire.NewPAN(strings.NewReplacer(" ", "", "-", "").Replace(f.Get("number"))),
		ValidationCode: wire.Secret(f.Get("code")),
	}
	if !card.PAN.Valid() {
		wrong["number"] = words.BadNumber
	} else if _, known := scenario.CardOf(card.PAN.Reveal()); !known {
		wrong["number"] = words.Test
	}
	at, over, ok := pages.Expiry(f.Get("expiry"))
	if !ok || !c.Now().Before(over) {
		wrong["expiry"] = words.BadExpiry
	}
	card.ExpiryYear, card.ExpiryMonth = int32(at.Year()), int32(at.Month())
	if code := f.Get("code"); len(code) < 3 || len(code) > 4 || strings.Trim(code, "0123456789") != "" {
		wrong["code"] = words.BadCode
	}
	g.Card = &card
	return g, wrong
}

// said is the word for a refusal.
func said(reason string) words.Word {
	switch reason {
	case payments.AuthenticationFailed:
		return words.NotProven
	case payments.CardNotAccepted, payments.PaymentDetailsMissing:
		return words.NotAccepted
	}
	return words.Declined
}

// draw makes the page.
func (c *Cards) draw(v view, l words.Tongue, by string, wrong faults) pages.Page {
	cur, _ := money.Lookup(v.Currency)
	amount := money.FormatIn(l.Code(), money.Minor(v.Amount), cur)
	out := pages.Page{Title: v.Merchant + " - " + amount, Lang: l.Code()}
	add := func(nodes ...pages.Node) { out.Body = append(out.Body, nodes...) }
	add(pages.Heading(l.Say(words.PayTo)+" "+v.Merchant), pages.Para("amount", amount))
	if v.Next == nextChallenge || v.Next == nextDone {
		add(v.costs(l, v.Fee, 0)...)
	}
	if custom := v.Config.PageType == payments.CustomPage; custom && v.Config.TemplateName != "" {
		add(pages.Para("", v.Config.TemplateName))
	} else if !custom {
		add(c.order(v, l, cur)...)
	}
	switch v.Next {
	case nextPay:
		out.Script = scriptPath
		if v.Reason != "" && len(wrong) == 0 {
			add(pages.E("p", []pages.Attr{pages.A("role", "alert")}, pages.T(l.Say(said(v.Reason)))))
		}
		if len(wrong) > 0 {
			add(pages.E("p", []pages.Attr{pages.A("role", "alert")}, pages.T(l.Say(words.Check))))
		}
		add(c.ways(v, l, by, wrong)...)
		add(c.button(v, l, actLeave, words.Cancel))
	case nextChallenge:
		if v.Masked != "" {
			add(pages.Para("", v.Masked))
		}
		add(pages.Result(l.Say(words.Prove)), c.form(v, l, actAnswer,
			pages.Button(l.Say(words.Approve), "go", "pass", "yes"), pages.Button(l.Say(words.Refuse), "no", "pass", "no")), c.button(v, l, actLeave, words.Cancel))
	case nextDone:
		add(pages.Result(l.Say(words.Paid)))
		if pages.Origin(v.Return) != "" {
			add(pages.Onward(v.Return, l.Say(words.Continue)))
		}
	default:
		add(pages.Result(l.Say(words.Closed)))
		if pages.Origin(v.Return) != "" {
			add(pages.Onward(v.Return, l.Say(words.BackToShop)))
		}
	}
	add(choose(v, l, by))
	return out
}

// choose offers the page in the other languages.
func choose(v view, l words.Tongue, by string) pages.Node {
	var list []pages.Choice
	for _, t := range words.All() {
		to := address(v.ID, t, "")
		if v.offers(by) {
			to += "&by=" + url.QueryEscape(by)
		}
		list = append(list, pages.Choice{Code: t.Code(), Name: t.Name(), Address: to})
	}
	return pages.Languages(l.Name(), list)
}

// offers says that by names a way to pay among several pages of them.
func (v view) offers(by string) bool {
	return strings.EqualFold(v.Config.PageType, payments.Multipage) && slices.ContainsFunc(v.Methods, func(m choice) bool {
		return m.Method == by && !isCard(by) || by == byCard && isCard(m.Method)
	})
}

// costs says what a way to pay costs beside the amount: from least to most.
func (v view) costs(l words.Tongue, least, most int32) []pages.Node {
	if most = max(least, most); most <= 0 {
		return nil
	}
	return []pages.Node{pages.Para("", l.Say(words.Fee)+": "+v.between(l, least, most))}
}

// between writes an amount, or two where they differ.
func (v view) between(l words.Tongue, least, most int32) string {
	cur, _ := money.Lookup(v.Currency)
	text := money.FormatIn(l.Code(), money.Minor(least), cur)
	if most > least {
		text += " - " + money.FormatIn(l.Code(), money.Minor(most), cur)
	}
	return text
}

// press is what a button to pay says: everything it costs, as far as that is known before the card is.
func (v view) press(l words.Tongue, least, most int32) string {
	cur, _ := money.Lookup(v.Currency)
	text := l.Say(words.Pay) + " " + money.FormatIn(l.Code(), money.Minor(v.Amount)+money.Minor(least), cur)
	if most > least {
		text = l.Say(words.Pay) + " " + money.FormatIn(l.Code(), money.Minor(v.Amount), cur) + " + " + l.Say(words.Fee)
	}
	return text
}

// order is what the merchant says about the purchase.
func (c *Cards) order(v view, l words.Tongue, cur money.Currency) []pages.Node {
	var out []pages.Node
	for _, s := range []string{v.Checkout, v.Description, v.Number} {
		if s != "" {
			out = append(out, pages.Para("", s))
		}
	}
	var lines []pages.Node
	for _, b := range v.Basket {
		text := strconv.Itoa(int(b.Quantity)) + " × " + b.Title + ", " + money.FormatIn(l.Code(), money.Minor(b.UnitPrice), cur)
		if b.Quantity != 1 {
			text += " = " + money.FormatIn(l.Code(), money.Minor(int64(b.Quantity)*int64(b.UnitPrice)), cur)
		}
		lines = append(lines, pages.E("li", nil, pages.T(text)))
	}
	if lines != nil {
		out = append(out, pages.E("ul", nil, lines...))
	}
	return out
}

func (c *Cards) form(v view, l words.Tongue, act string, kids ...pages.Node) pages.Node {
	return pages.E("form", []pages.Attr{pages.A("method", "post"), pages.A("action", address(v.ID, l, act))},
		append([]pages.Node{pages.Hidden(form.Field, c.Forms.TokenShowing(subject(v.ID, act), v.Attempt))}, kids...)...)
}

func (c *Cards) button(v view, l words.Tongue, act string, label words.Word) pages.Node {
	return c.form(v, l, act, pages.Button(l.Say(label), "no", "", ""))
}

// isCard says that a method is one of the card schemes.
func isCard(method string) bool {
	return !slices.Contains([]string{sepa, sofort, wallet, invoice}, method)
}

// ways are the methods: all at once, or on a Multipage the choice first and then the one that was chosen.
func (c *Cards) ways(v view, l words.Tongue, by string, wrong faults) []pages.Node {
	var brands []string
	var others []choice
	var prices []pages.Node
	least, most, each := int32(0), int32(0), false // each brand has a price of its own
	for _, m := range v.Methods {
		if !isCard(m.Method) {
			others = append(others, m)
			continue
		}
		high := max(m.Fee, m.Most)
		if brands == nil {
			least, most = m.Fee, high
		}
		each = each || m.Fee != least || high != most
		least, most = min(least, m.Fee), max(most, high)
		brands = append(brands, m.label(l))
		prices = append(prices, pages.E("li", nil, pages.T(m.label(l)+": "+v.between(l, m.Fee, high))))
	}
	var out []pages.Node
	multi := strings.EqualFold(v.Config.PageType, payments.Multipage) && (brands != nil && others != nil || len(others) > 1)
	switch {
	case brands == nil && others == nil:
		return append(out, pages.Result(l.Say(words.NotAccepted)))
	case multi && !v.offers(by):
		out = append(out, pages.Para("", l.Say(words.Choose)))
		if brands != nil {
			out = append(out, pages.Link(address(v.ID, l, "")+"&by="+byCard, l.Say(words.Card)+": "+strings.Join(brands, ", ")))
		}
		for _, m := range others {
			out = append(out, pages.Link(address(v.ID, l, "")+"&by="+url.QueryEscape(m.Method), m.label(l)))
		}
		return out
	}
	field := func(i pages.Input) pages.Node {
		if w, bad := wrong[i.Name]; bad {
			i.Fault, i.First = l.Say(w), i.Name == first(wrong)
		}
		i.Required = true
		return i.Node()
	}
	if brands != nil && (!multi || by == byCard) {
		kids := []pages.Node{pages.Para("", strings.Join(brands, ", ")), pages.Para("", l.Say(words.Test))}
		if each {
			kids = append(kids, pages.Para("", l.Say(words.Fee)+":"), pages.E("ul", nil, prices...))
		} else {
			kids = append(kids, v.costs(l, least, most)...)
		}
		out = append(out, c.form(v, l, actPay, pages.Group(l.Say(words.Card), append(kids,
			field(pages.Input{Name: "number", Label: l.Say(words.Number), Auto: "cc-number", Mode: "numeric", Pattern: "[0-9 \\-]{13,23}", Max: 23}),
			field(pages.Input{Name: "expiry", Label: l.Say(words.Expiry), Auto: "cc-exp", Mode: "numeric", Pattern: pages.ExpiryPattern, Max: pages.MaxExpiry}),
			field(pages.Input{Name: "code", Label: l.Say(words.Code), Type: "password", Auto: "cc-csc", Mode: "numeric", Pattern: "[0-9]{3,4}", Max: 4}),
			pages.Button(v.press(l, least, most), "go", "by", byCard))...)))
	}
	for _, m := range others {
		if multi && by != m.Method {
			continue
		}
		kids := v.costs(l, m.Fee, 0)
		if m.Method == sepa {
			kids = append(kids, field(pages.Input{Name: "iban", Label: "IBAN", Max: 42}))
		}
		kids = append(kids, pages.Button(v.press(l, m.Fee, 0)+" - "+m.label(l), "go", "by", m.Method))
		out = append(out, c.form(v, l, actPay, pages.Group(m.label(l), kids...)))
	}
	if multi {
		out = append(out, pages.Link(address(v.ID, l, ""), l.Say(words.Back)))
	}
	return out
}

// first is the field the cursor goes to: the topmost that is wrong.
func first(wrong faults) string {
	for _, name := range []string{"number", "expiry", "code", "iban"} {
		if _, bad := wrong[name]; bad {
			return name
		}
	}
	return ""
}

// label names a method for people.
func (m choice) label(l words.Tongue) string {
	switch {
	case m.Name != "":
		return m.Name
	case m.Method == sepa:
		return "SEPA: " + l.Say(words.Bank)
	case m.Method == invoice:
		return l.Say(words.Invoice)
	case m.Method == wallet:
		return m.Method + ": " + l.Say(words.Wallet)
	case m.Method == "AmericanExpress":
		return "American Express"
	case m.Method == "DinersClubInternational":
		return "Diners Club"
	}
	return m.Method
}

// sorry says why there is no page. It never repeats what was asked.
func (c *Cards) sorry(w http.ResponseWriter, l words.Tongue, id string, err error) {
	e := wire.AsError(opPage, err)
	text := words.Trouble
	switch e.Code {
	case wire.NotFound:
		text = words.Gone
	case wire.Forbidden:
		text = words.Stale
	case wire.Invalid:
		text = words.Check
	default:
		c.Log.Error("payment page", "err", err)
	}
	body := []pages.Node{pages.Heading(c.Merchant), pages.Result(l.Say(text))}
	if id != "" && e.Code != wire.NotFound {
		body = append(body, pages.Link(address(id, l, ""), l.Say(words.Back)))
	}
	pages.Page{Status: e.Code.Status(), Title: c.Merchant, Lang: l.Code(), Body: body}.Send(w)
}
