package cards

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/form"
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

// Page serves the hosted payment page and its challenge. A POST must come from the page's own form.
//
//	GET  /checkout/{id}?lang=&by=   the page; by chooses a method on a Multipage
//	POST /checkout/{id}/pay         by=card with number, expiry, code; or by=METHOD, with iban where it is needed
//	POST /checkout/{id}/answer      pass=yes|no: the challenge
//	POST /checkout/{id}/leave       the customer gives up
func (c *Cards) Page() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+PagePrefix+"{id}", c.page)
	for _, act := range []string{actPay, actAnswer, actLeave} {
		mux.HandleFunc("POST "+PagePrefix+"{id}/"+act, func(w http.ResponseWriter, r *http.Request) { c.submit(w, r, act) })
	}
	return mux
}

// speaks picks the language: the customer's choice, the merchant's, the browser's.
func speaks(r *http.Request, v view) tongue {
	return tongueOf(r.URL.Query().Get("lang"), v.Config.Language, r.Header.Get("Accept-Language"))
}

func (c *Cards) page(w http.ResponseWriter, r *http.Request) {
	v, err := c.look(r.Context(), r.PathValue("id"))
	l := speaks(r, v)
	if err != nil {
		c.sorry(w, l, "", err)
		return
	}
	c.draw(v, l, r.URL.Query().Get("by"), nil).Send(w)
}

// faults are the words beside the fields that were not good enough, by field.
type faults map[string]word

func (c *Cards) submit(w http.ResponseWriter, r *http.Request, act string) {
	id := r.PathValue("id")
	v, err := c.look(r.Context(), id)
	l := speaks(r, v)
	if err != nil {
		c.sorry(w, l, "", err)
		return
	}
	slip, err := c.forms.Take(w, r, subject(id, act))
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
		s, err = c.answer(r.Context(), id, r.PostForm.Get("pass") == "yes", slip.Spend)
	default:
		s, err = c.leave(r.Context(), id, slip.Spend)
	}
	if err != nil {
		c.sorry(w, l, id, err)
		return
	}
	to := address(id, l, "")
	if s.Next == nextDone && pages.Origin(s.Return) != "" {
		to = s.Return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// subject names what a form is about: one act of one payment.
func subject(id, act string) string { return "checkout/" + id + "/" + act }

func address(id string, l tongue, act string) string {
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
				wrong["iban"] = wBadIBAN
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
		wrong["number"] = wBadNumber
	} else if _, known := scenario.CardOf(card.PAN.Reveal()); !known {
		wrong["number"] = wTest
	}
	at, err := time.Parse("01/06", strings.ReplaceAll(f.Get("expiry"), " ", ""))
	if err != nil || !c.now().UTC().Before(at.AddDate(0, 1, 0)) {
		wrong["expiry"] = wBadExpiry
	}
	card.ExpiryYear, card.ExpiryMonth = int32(at.Year()), int32(at.Month())
	if code := f.Get("code"); len(code) < 3 || len(code) > 4 || strings.Trim(code, "0123456789") != "" {
		wrong["code"] = wBadCode
	}
	g.Card = &card
	return g, wrong
}

// said is the word for a refusal.
func said(reason string) word {
	switch reason {
	case payments.AuthenticationFailed:
		return wNotProven
	case payments.CardNotAccepted, payments.PaymentDetailsMissing:
		return wNotAccepted
	}
	return wDeclined
}

// draw makes the page.
func (c *Cards) draw(v view, l tongue, by string, wrong faults) pages.Page {
	cur, _ := money.Lookup(v.Currency)
	amount := money.Format(money.Minor(v.Amount), cur)
	out := pages.Page{Title: v.Merchant + " - " + amount, Lang: l.code(), LeadsTo: pages.Origin(v.Return)}
	add := func(nodes ...pages.Node) { out.Body = append(out.Body, nodes...) }
	add(pages.Heading(l.say(wPayTo)+" "+v.Merchant), pages.Para("amount", amount))
	if custom := v.Config.PageType == "Custom"; custom && v.Config.TemplateName != "" {
		add(pages.Para("", v.Config.TemplateName))
	} else if !custom {
		add(c.order(v, cur)...)
	}
	switch v.Next {
	case nextPay:
		if v.Reason != "" && len(wrong) == 0 {
			add(pages.E("p", []pages.Attr{pages.A("role", "alert")}, pages.T(l.say(said(v.Reason)))))
		}
		if len(wrong) > 0 {
			add(pages.E("p", []pages.Attr{pages.A("role", "alert")}, pages.T(l.say(wCheck))))
		}
		add(c.ways(v, l, amount, cur, by, wrong)...)
		add(c.button(v, l, actLeave, wCancel))
	case nextChallenge:
		if v.Masked != "" {
			add(pages.Para("", v.Masked))
		}
		add(pages.Result(l.say(wProve)), c.form(v, l, actAnswer,
			pages.Button(l.say(wApprove), "go", "pass", "yes"), pages.Button(l.say(wRefuse), "no", "pass", "no")), c.button(v, l, actLeave, wCancel))
	case nextDone:
		add(pages.Result(l.say(wPaid)))
		if out.LeadsTo != "" {
			add(pages.E("p", nil, pages.E("a", []pages.Attr{pages.A("href", v.Return), pages.A("rel", "noreferrer")}, pages.T(l.say(wContinue)))))
		}
	default:
		add(pages.Result(l.say(wClosed)))
	}
	return out
}

// order is what the merchant says about the purchase.
func (c *Cards) order(v view, cur money.Currency) []pages.Node {
	var out []pages.Node
	for _, s := range []string{v.Checkout, v.Description, v.Number} {
		if s != "" {
			out = append(out, pages.Para("", s))
		}
	}
	var lines []pages.Node
	for _, b := range v.Basket {
		lines = append(lines, pages.E("li", nil, pages.T(strconv.Itoa(int(b.Quantity))+" × "+b.Title+", "+money.Format(money.Minor(b.UnitPrice), cur))))
	}
	if lines != nil {
		out = append(out, pages.E("ul", nil, lines...))
	}
	return out
}

func (c *Cards) form(v view, l tongue, act string, kids ...pages.Node) pages.Node {
	return pages.E("form", []pages.Attr{pages.A("method", "post"), pages.A("action", address(v.ID, l, act))},
		append([]pages.Node{pages.Hidden(form.Field, c.forms.Token(subject(v.ID, act)))}, kids...)...)
}

func (c *Cards) button(v view, l tongue, act string, label word) pages.Node {
	return c.form(v, l, act, pages.Button(l.say(label), "no", "", ""))
}

// isCard says that a method is one of the card schemes.
func isCard(method string) bool {
	return !slices.Contains([]string{sepa, sofort, wallet, invoice}, method)
}

// ways are the methods: all at once, or on a Multipage the choice first and then the one that was chosen.
func (c *Cards) ways(v view, l tongue, amount string, cur money.Currency, by string, wrong faults) []pages.Node {
	var brands []string
	var others []choice
	fee := int32(-1)
	for _, m := range v.Methods {
		if !isCard(m.Method) {
			others = append(others, m)
			continue
		}
		brands = append(brands, m.label(l))
		if fee < 0 {
			fee = m.Fee
		} else if fee != m.Fee {
			fee = 0 // each its own: said once the card is known
		}
	}
	multi := strings.EqualFold(v.Config.PageType, "Multipage")
	var out []pages.Node
	if multi && by == "" {
		out = append(out, pages.Para("", l.say(wChoose)))
		if brands != nil {
			out = append(out, pages.Link(address(v.ID, l, "")+"&by="+byCard, l.say(wCard)+": "+strings.Join(brands, ", ")))
		}
		for _, m := range others {
			out = append(out, pages.Link(address(v.ID, l, "")+"&by="+url.QueryEscape(m.Method), m.label(l)))
		}
		return out
	}
	costs := func(fee int32) pages.Node {
		if fee <= 0 {
			return pages.T("")
		}
		return pages.Para("", l.say(wFee)+": "+money.Format(money.Minor(fee), cur))
	}
	if brands != nil && (!multi || by == byCard) {
		field := func(i pages.Input) pages.Node {
			if w, bad := wrong[i.Name]; bad {
				i.Fault, i.First = l.say(w), i.Name == first(wrong)
			}
			i.Required = true
			return i.Node()
		}
		out = append(out, c.form(v, l, actPay, pages.Group(l.say(wCard)+": "+strings.Join(brands, ", "),
			pages.Para("", l.say(wTest)), costs(fee),
			field(pages.Input{Name: "number", Label: l.say(wNumber), Auto: "cc-number", Mode: "numeric", Pattern: "[0-9 \\-]{13,23}", Max: 23}),
			field(pages.Input{Name: "expiry", Label: l.say(wExpiry), Auto: "cc-exp", Mode: "numeric", Pattern: "(0[1-9]|1[0-2]) ?/ ?[0-9]{2}", Max: 7}),
			field(pages.Input{Name: "code", Label: l.say(wCode), Type: "password", Auto: "cc-csc", Mode: "numeric", Pattern: "[0-9]{3,4}", Max: 4}),
			pages.Button(l.say(wPay)+" "+amount, "go", "by", byCard))))
	}
	for _, m := range others {
		if multi && by != m.Method {
			continue
		}
		kids := []pages.Node{costs(m.Fee)}
		if m.Method == sepa {
			i := pages.Input{Name: "iban", Label: "IBAN", Required: true, Max: 42}
			if w, bad := wrong["iban"]; bad {
				i.Fault, i.First = l.say(w), true
			}
			kids = append(kids, i.Node())
		}
		kids = append(kids, pages.Button(l.say(wPay)+" "+amount+" - "+m.label(l), "go", "by", m.Method))
		out = append(out, c.form(v, l, actPay, pages.Group(m.label(l), kids...)))
	}
	if multi {
		out = append(out, pages.Link(address(v.ID, l, ""), l.say(wBack)))
	}
	return out
}

// first is the field the cursor goes to: the topmost that is wrong.
func first(wrong faults) string {
	for _, name := range []string{"number", "expiry", "code"} {
		if _, bad := wrong[name]; bad {
			return name
		}
	}
	return ""
}

// label names a method for people.
func (m choice) label(l tongue) string {
	switch {
	case m.Name != "":
		return m.Name
	case m.Method == sepa:
		return "SEPA: " + l.say(wBank)
	case m.Method == invoice:
		return l.say(wInvoice)
	case m.Method == wallet:
		return m.Method + ": " + l.say(wWallet)
	}
	return m.Method
}

// sorry says why there is no page. It never repeats what was asked.
func (c *Cards) sorry(w http.ResponseWriter, l tongue, id string, err error) {
	e := wire.AsError(opPage, err)
	text := wTrouble
	switch e.Code {
	case wire.NotFound:
		text = wGone
	case wire.Forbidden:
		text = wStale
	case wire.Invalid:
		text = wCheck
	default:
		c.log.Error("payment page", "err", err)
	}
	body := []pages.Node{pages.Heading(c.opt.Merchant), pages.Result(l.say(text))}
	if id != "" && e.Code != wire.NotFound {
		body = append(body, pages.Link(address(id, l, ""), l.say(wBack)))
	}
	pages.Page{Status: e.Code.Status(), Title: c.opt.Merchant, Lang: l.code(), Body: body}.Send(w)
}
