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
		w.put(`–`)
		return
	}
	form, at := "2006-01-02 15:04", at.Local()
	if day := form[:10]; at.Format(day) == now.Local().Format(day) {
		form = "15:04:05"
	}
	w.put(`<time datetime="{}">{}</time>`, at.UTC().Format(time.RFC3339), at.Format(form))
}

// since writes how long ago something was, and when.
func (w *writer) since(at, now time.Time) {
	n, unit := span(now.Sub(at))
	w.put(`{} {} (`, n, w.in(unit))
	w.time(at, now)
	w.put(`)`)
}

// span is a time in a unit that people count in.
func span(d time.Duration) (count string, unit word) {
	n, unit := int64(max(d, 0)/time.Second), seconds
	switch {
	case n >= 2*24*3600:
		n, unit = n/(24*3600), days
	case n >= 2*3600:
		n, unit = n/3600, hours
	case n >= 2*60:
		n, unit = n/60, minutes
	}
	return strconv.FormatInt(n, 10), unit
}

// sales writes the sums of the day and the newest sales.
func (w *writer) sales(t *Terminal) {
	d := &t.Day
	if len(d.Totals) == 0 {
		w.say(`<p>{}</p>`, noTurnover)
	}
	for _, s := range d.Totals {
		w.put(`<p><span class="sum">{}</span>{} {}`, w.money(s.Net, s.Currency), w.in(countPayments), strconv.FormatInt(s.Payments.Count, 10))
		if s.Refunds.Count > 0 {
			w.put(`, {} {} ({})`, w.in(countRefunds), strconv.FormatInt(s.Refunds.Count, 10), w.money(-s.Refunds.Sum, s.Currency))
		}
		w.put(`</p>`)
	}
	if d.More {
		w.say(`<p>{}</p>`, moreSales)
	}
	for _, part := range [...]struct {
		title word
		list  []view.Sale
	}{{olderOpen, d.Open}, {newestSales, d.Newest}} {
		if len(part.list) == 0 {
			continue
		}
		w.table(part.title, colTime, colAmount, colOutcome, colKind, colMethod, colState, colReceipt)
		for i := range part.list {
			w.sale(&part.list[i], t.Now)
		}
		w.endTable()
	}
}

// sale writes the row of a sale.
func (w *writer) sale(s *view.Sale, now time.Time) {
	outcome, kind, look := string(s.Result), payment, ""
	for _, r := range outcomes {
		if s.Result == r.result {
			outcome = w.in(r.name)
		}
	}
	switch s.Kind {
	case ecr.Refund:
		kind = refund
	case ecr.Reversal:
		kind = reversal
	}
	if s.Result == ecr.Approved {
		look = "ok"
	}
	label, receipt, where := s.Label, "", strings.ToLower(strings.ReplaceAll(s.Phase, "_", " "))
	if label == "" {
		label = s.Method
	}
	if s.Receipt > 0 {
		receipt = strconv.Itoa(s.Receipt)
	}
	switch {
	case s.Quarantined || s.Aside != "":
		where = w.in(setAside) + " posagent sale show " + s.ID
	case s.UndoOwed:
		where = w.in(undoOwed)
	case s.Settled:
		where = w.in(settled)
	}
	w.put(`<tr><th scope="row">`)
	w.time(s.Created, now)
	w.put(`</th><td class="n">{}</td><td class="{}">{}</td><td>{}</td><td>{}</td><td>{}</td><td class="n">{}</td></tr>`,
		w.money(s.Amount, s.Currency), look, outcome, w.in(kind), label, where, receipt)
}

// outcomes are the words for what a register is told.
var outcomes = [...]struct {
	result ecr.Result
	name   word
}{{ecr.Approved, approved}, {ecr.Declined, declined}, {ecr.Aborted, aborted}, {ecr.InProgress, setAside}, {"", running}}

// waiting writes what is owed to the backend.
func (w *writer) waiting(t *Terminal) {
	if len(t.Waiting) == 0 {
		w.say(`<p>{}</p>`, nothingWaits)
		return
	}
	w.table(waitingTitle, colKind, colCount, colAmount, colOldest, colState)
	for i := range t.Waiting {
		o := &t.Waiting[i]
		w.put(`<tr><th scope="row" lang="en">{}</th><td class="n">{}</td><td class="n">{}</td><td>`, o.Kind, strconv.FormatInt(o.Count, 10), w.money(o.Sum, o.Currency))
		if !o.Oldest.IsZero() {
			w.since(o.Oldest, t.Now)
		}
		w.put(`</td><td lang="en">{}</td></tr>`, o.State)
	}
	w.endTable()
	if t.Acts != nil {
		w.operations(t)
	} else {
		w.command("posagent ops list --open")
	}
}

// methods writes what the terminal may be paid with.
func (w *writer) methods(t *Terminal) {
	m := &t.Methods
	if m.Fetched != nil {
		w.say(`<p>{} `, fetched)
		w.since(*m.Fetched, t.Now)
		w.put(`</p>`)
	}
	if len(m.Methods) == 0 {
		why := neverFetched
		if m.Fetched != nil {
			why = noneFetched
		}
		w.say(`<p>{}</p>`, why)
		return
	}
	w.table(methodsTitle, colMethod, colPriority, colTypes, colTrigger, colTimes, colRules)
	for i := range m.Methods {
		d := &m.Methods[i]
		types, triggers := "", ""
		for _, s := range d.TransactionTypes {
			types = also(types, string(s))
		}
		for _, s := range d.Trigger {
			triggers = also(triggers, string(s))
		}
		w.put(`<tr><th scope="row">{} <code lang="en">{}</code></th><td class="n">{}</td><td lang="en">{}</td><td lang="en">{}</td><td>{}</td><td>{}</td></tr>`,
			d.Label, d.Name, number(d.Priority), types, triggers, w.times(d, m.Times[i]), w.rules(d))
	}
	w.endTable()
	w.say(`<p>{}</p>`, meansOfLimits)
	w.command("posagent methods")
}

// also adds one to a list of words.
func also(list, one string) string {
	if list == "" {
		return one
	}
	return list + ", " + one
}

func number(n int32) string { return strconv.Itoa(int(n)) }

// times are the limits of a method, in the words of the verb.
func (w *writer) times(d *methods.Definition, t view.Times) string {
	age, stale, finalize := t.Texts()
	return w.in(meanDelay) + " " + number(d.MeanDelay) + " s, " + w.in(staleAge) + " " + age + ", staleTimeOut " + stale + ", finalizeTimeOut " + finalize
}

// rules are what else a method asks for.
func (w *writer) rules(d *methods.Definition) (text string) {
	if d.DelayedAmount == 1 {
		text = w.in(delayedAmount)
	}
	for _, r := range d.MerchRcptReq {
		if r.Req == "REQUIRED" {
			text = also(text, w.in(receiptFor)+" "+string(r.FiTxnTypes))
		}
	}
	if n := len(d.Queries); n > 0 {
		text = also(text, w.in(asks)+" "+strconv.Itoa(n))
	}
	return text
}

// lines writes the register lines with their counters.
func (w *writer) lines(t *Terminal) {
	list := t.Status.Live.Lines
	if len(list) == 0 {
		w.say(`<p>{}</p>`, noLines)
		return
	}
	w.table(linesTitle, colLine, colState, colHeard, colIn, colOut, colRepeated, colBad, colNoise, colRefused)
	for i := range list {
		l := &list[i]
		state := lineOpen
		switch {
		case !l.Open:
			state = lineClosed
		case l.Carrier == "lost":
			state = lineAlone
		}
		w.put(`<tr><th scope="row" lang="en">{}</th><td>{}</td><td>`, l.Name, w.in(state))
		w.time(l.LastContact, t.Now)
		w.put(`</td>`)
		for _, n := range [...]uint64{l.Received, l.Sent, l.Repeated + l.Unsent, l.Bad + l.Naks, l.Noise, l.WrongPasswords + l.Turned + l.Strange} {
			w.put(`<td class="n">{}</td>`, strconv.FormatUint(n, 10))
		}
		w.put(`</tr>`)
	}
	w.endTable()
}

// audit writes the newest lines of the audit log.
func (w *writer) audit(t *Terminal) {
	if len(t.Audit) == 0 {
		w.say(`<p>{}</p>`, noAudit)
		return
	}
	w.table(auditTitle, colTime, colDeed, colActor, colAmount, colSubject, colDetail)
	for i := range t.Audit {
		d := &t.Audit[i]
		amount := ""
		if d.Amount != 0 {
			amount = w.money(d.Amount, d.Currency)
		}
		w.put(`<tr><th scope="row">`)
		w.time(d.At, t.Now)
		w.put(`</th><td lang="en">{}</td><td lang="en">{} {} {}</td><td class="n">{}</td><td>{}</td><td lang="en">{}</td></tr>`,
			d.Deed, d.Actor, d.Name, d.Address, amount, d.Subject, d.Detail)
	}
	w.endTable()
	w.command("posagent audit")
}
