package pages

import (
	"strconv"
	"strings"
	"time"

	"posagent/agent/view"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/money"
)

// column is a column of a table.
type column struct {
	title  word
	number bool
}

// table begins a table that moves sideways by itself where it is wider than the screen.
func (w *writer) table(caption word, columns []column) {
	w.open("div", class("wide"), attr{"role", "group"}, attr{"tabindex", "0"}, attr{"aria-label", w.in(caption)})
	w.open("table")
	w.open("thead")
	w.open("tr")
	for _, c := range columns {
		attrs := []attr{{"scope", "col"}}
		if c.number {
			attrs = append(attrs, class("n"))
		}
		w.say("th", c.title, attrs...)
	}
	w.close("tr", "thead")
	w.open("tbody")
}

func (w *writer) endTable() { w.close("tbody", "table", "div") }

// cell writes a cell; a th heads its row.
func (w *writer) cell(tag name, inside func(), attrs ...attr) {
	if tag == "th" {
		attrs = append(attrs, attr{"scope", "row"})
	}
	w.open(tag, attrs...)
	inside()
	w.close(tag)
}

// plain writes a cell of the terminal's own words.
func (w *writer) plain(s string) { w.element("td", s, english()) }

// amount writes a cell with an amount of minor units, as the page's language writes it.
func (w *writer) amount(minor int64, currency string) {
	w.element("td", w.money(minor, currency), class("n"))
}

// money is an amount in the page's language; what has no currency that is known stays a number.
func (w *writer) money(minor int64, currency string) string {
	c, known := money.Lookup(currency)
	switch {
	case known:
		return money.FormatIn(w.lang, money.Minor(minor), c)
	case minor == 0:
		return ""
	}
	return strings.TrimSpace(strconv.FormatInt(minor, 10) + " " + currency)
}

// time writes a time of the terminal's own clock, with its day where that is not the day of now.
func (w *writer) time(at, now time.Time) {
	if at.IsZero() {
		w.text("–")
		return
	}
	at, now = at.Local(), now.Local()
	form := "15:04:05"
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		form = "2006-01-02 15:04"
	}
	w.element("time", at.Format(form), attr{"datetime", at.UTC().Format(time.RFC3339)})
}

// age writes how long ago something was.
func (w *writer) age(at, now time.Time) string {
	d := max(now.Sub(at), 0)
	for _, u := range []struct {
		long time.Duration
		name word
	}{{48 * time.Hour, days}, {2 * time.Hour, hours}, {2 * time.Minute, minutes}} {
		if d >= u.long {
			return strconv.FormatInt(int64(d/unitOf(u.name)), 10) + " " + w.in(u.name)
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + " " + w.in(seconds)
}

func unitOf(name word) time.Duration {
	switch name {
	case days:
		return 24 * time.Hour
	case hours:
		return time.Hour
	}
	return time.Minute
}

// sales writes the sums of the day and the newest sales.
func (w *writer) sales(t *Terminal) {
	if len(t.Day.Totals) == 0 {
		w.say("p", noTurnover)
	} else {
		w.sums(t.Day.Totals)
	}
	if t.Day.More {
		w.say("p", moreSales)
	}
	if len(t.Day.Newest) == 0 {
		return
	}
	w.table(newestSales, []column{{colTime, false}, {colAmount, true}, {colOutcome, false}, {colKind, false}, {colMethod, false}, {colState, false}, {colReceipt, true}})
	for _, s := range t.Day.Newest {
		w.sale(s, t.Now)
	}
	w.endTable()
}

// sums writes what the day came to, a currency at a time.
func (w *writer) sums(totals []view.Turnover) {
	w.open("ul", class("sums"))
	for _, s := range totals {
		w.open("li")
		w.element("span", w.money(s.Net, s.Currency), class("sum"))
		w.text(w.in(countPayments) + " " + strconv.FormatInt(s.Payments.Count, 10))
		if s.Refunds.Count > 0 {
			w.text(", " + w.in(countRefunds) + " " + strconv.FormatInt(s.Refunds.Count, 10) + " (" + w.money(-s.Refunds.Sum, s.Currency) + ")")
		}
		w.close("li")
	}
	w.close("ul")
}

// sale writes the row of a sale.
func (w *writer) sale(s view.Sale, now time.Time) {
	w.open("tr")
	w.cell("th", func() { w.time(s.Created, now) })
	w.amount(s.Amount, s.Currency)
	w.outcome(s)
	w.say("td", kindOf(s.Kind))
	label := s.Label
	if label == "" {
		label = s.Method
	}
	w.element("td", label)
	w.standing(s)
	receipt := ""
	if s.Receipt > 0 {
		receipt = strconv.Itoa(s.Receipt)
	}
	w.element("td", receipt, class("n"))
	w.close("tr")
}

// outcome writes what the register is told.
func (w *writer) outcome(s view.Sale) {
	switch s.Result {
	case ecr.Approved:
		w.say("td", approved, class("ok"))
	case ecr.Declined:
		w.say("td", declined)
	case ecr.Aborted:
		w.say("td", aborted)
	case "":
		w.say("td", running)
	default:
		w.plain(string(s.Result))
	}
}

// standing writes where a sale is now.
func (w *writer) standing(s view.Sale) {
	switch {
	case s.Quarantined || s.Aside != "":
		w.cell("td", func() {
			w.text(w.in(setAside) + " ")
			w.element("code", "posagent sale show "+s.ID, english())
		}, class("bad"))
	case s.UndoOwed:
		w.say("td", undoOwed)
	case s.Settled:
		w.say("td", settled)
	default:
		w.plain(strings.ToLower(strings.ReplaceAll(s.Phase, "_", " ")))
	}
}

func kindOf(k ecr.Kind) word {
	switch k {
	case ecr.Refund:
		return refund
	case ecr.Reversal:
		return reversal
	}
	return payment
}

// waiting writes what is owed to the backend.
func (w *writer) waiting(t *Terminal) {
	if len(t.Waiting) == 0 {
		w.say("p", nothingWaits)
		return
	}
	w.table(waitingTitle, []column{{colKind, false}, {colState, false}, {colCount, true}, {colAmount, true}, {colOldest, false}})
	for _, o := range t.Waiting {
		w.open("tr")
		w.cell("th", func() { w.text(o.Kind) }, english())
		w.plain(o.State)
		w.element("td", strconv.FormatInt(o.Count, 10), class("n"))
		w.amount(o.Sum, o.Currency)
		w.cell("td", func() {
			if !o.Oldest.IsZero() {
				w.text(w.age(o.Oldest, t.Now) + " (")
				w.time(o.Oldest, t.Now)
				w.text(")")
			}
		})
		w.close("tr")
	}
	w.endTable()
	w.command("posagent ops list --open")
}

// methods writes what the terminal may be paid with.
func (w *writer) methods(t *Terminal) {
	switch m := t.Methods; {
	case m.Fetched == nil && len(m.Methods) == 0:
		w.say("p", neverFetched)
	case m.None && len(m.Methods) == 0:
		w.say("p", noneFetched)
	}
	if at := t.Methods.Fetched; at != nil {
		w.open("p")
		w.text(w.in(fetched) + " " + w.age(*at, t.Now) + " (")
		w.time(*at, t.Now)
		w.text(")")
		w.close("p")
	}
	if len(t.Methods.Methods) == 0 {
		return
	}
	w.table(methodsTitle, []column{{colMethod, false}, {colPriority, true}, {colTypes, false}, {colTrigger, false}, {colTimes, false}, {colRules, false}})
	for _, d := range t.Methods.Methods {
		w.open("tr")
		w.cell("th", func() {
			w.text(d.Label)
			if d.Label != d.Name {
				w.text(" ")
				w.element("code", d.Name, english())
			}
		})
		w.element("td", strconv.Itoa(int(d.Priority)), class("n"))
		w.plain(join(d.TransactionTypes))
		w.plain(join(d.Trigger))
		w.element("td", w.times(d))
		w.element("td", w.rules(d))
		w.close("tr")
	}
	w.endTable()
	w.command("posagent methods")
}

func join[T ~string](list []T) string {
	text := ""
	for i, s := range list {
		if i > 0 {
			text += ", "
		}
		text += string(s)
	}
	return text
}

// times are the limits of a method in its own units.
func (w *writer) times(d methods.Definition) string {
	text := w.in(meanDelay) + " " + strconv.Itoa(int(d.MeanDelay)) + " s"
	for _, x := range []struct {
		limit *int32
		name  word
	}{{d.StaleTimeOut, staleAfter}, {d.FinalizeTimeOut, finalizeWithin}} {
		if x.limit != nil {
			text += ", " + w.in(x.name) + " " + strconv.Itoa(int(*x.limit))
		}
	}
	return text
}

// rules are what else a method asks for.
func (w *writer) rules(d methods.Definition) string {
	var list []string
	if d.DelayedAmount == 1 {
		list = append(list, w.in(delayedAmount))
	}
	for _, r := range d.MerchRcptReq {
		if r.Req == "REQUIRED" {
			list = append(list, w.in(receiptFor)+" "+string(r.FiTxnTypes))
		}
	}
	if len(d.Queries) > 0 {
		list = append(list, w.in(asks)+" "+strconv.Itoa(len(d.Queries)))
	}
	return strings.Join(list, ", ")
}

// lines writes the register lines with their counters.
func (w *writer) lines(t *Terminal) {
	if len(t.Status.Live.Lines) == 0 {
		w.say("p", noLines)
		return
	}
	w.table(linesTitle, []column{{colLine, false}, {colState, false}, {colHeard, false}, {colIn, true}, {colOut, true}, {colRepeated, true}, {colBad, true}, {colNoise, true}, {colRefused, true}})
	for _, l := range t.Status.Live.Lines {
		w.open("tr")
		w.cell("th", func() { w.text(l.Name) }, english())
		switch {
		case !l.Open:
			w.say("td", lineClosed, class("bad"))
		case l.Carrier == "lost":
			w.say("td", lineAlone)
		default:
			w.say("td", lineOpen)
		}
		w.cell("td", func() { w.time(l.LastContact, t.Now) })
		for _, n := range []uint64{l.Received, l.Sent, l.Repeated + l.Unsent, l.Bad + l.Naks, l.Noise, l.WrongPasswords + l.Turned + l.Strange} {
			w.element("td", strconv.FormatUint(n, 10), class("n"))
		}
		w.close("tr")
	}
	w.endTable()
}

// audit writes the newest lines of the audit log.
func (w *writer) audit(t *Terminal) {
	if len(t.Audit) == 0 {
		w.say("p", noAudit)
		return
	}
	w.table(auditTitle, []column{{colTime, false}, {colDeed, false}, {colActor, false}, {colAmount, true}, {colSubject, false}, {colDetail, false}})
	for _, d := range t.Audit {
		w.open("tr")
		w.cell("th", func() { w.time(d.At, t.Now) })
		w.plain(d.Deed)
		w.plain(strings.TrimSpace(d.Actor + " " + d.Name + " " + d.Address))
		w.amount(d.Amount, amountOf(d))
		w.plain(d.Subject)
		w.plain(d.Detail)
		w.close("tr")
	}
	w.endTable()
	w.command("posagent audit")
}

// amountOf is the currency of a deed with an amount, "" = it has none.
func amountOf(d view.Deed) string {
	if d.Amount == 0 {
		return ""
	}
	return d.Currency
}
