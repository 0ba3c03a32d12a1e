package pages

import (
	"slices"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/view"
)

// Terminal is everything that a client or a person may see.
type Terminal struct {
	Lang string // as Language gives it
	Now  time.Time
	Base string // of the local port, "http://127.0.0.1:8480"
	User string // name of the client whose token was entered; "" = the terminal's own token
	PIN  Entry  // where nobody is logged in
	view.Screen

	Acts *Acts // what a person who is logged in may do; nil = the page only shows
}

// path is where the page is.
func (t *Terminal) path() string {
	if t.Acts != nil {
		return t.Acts.Path
	}
	return "/"
}

// HTML writes the page.
func (t Terminal) HTML() []byte {
	w := &writer{lang: t.Lang}
	w.begin(strings.TrimSpace(w.in(terminalTitle)+" "+t.Status.Terminal), t.Status.Sandbox)
	w.say(`<nav aria-label="{}">`, contents)
	for i := range sections {
		w.put(`<a href="#{}">{}</a> `, sections[i].id, w.in(sections[i].title))
	}
	w.put(`<a href="{}?show={}">{}</a>`, t.path(), ShowEvents, w.in(eventsTitle))
	if t.Acts == nil {
		w.say(` <a href="#login">{}</a>`, loginTitle)
	}
	w.put(`</nav></header><main>`)
	if t.Acts != nil {
		w.said(t.Acts.Said)
	}
	offline, why := "", ""
	if v := t.Status.Offline; v != nil {
		offline = v.Text()
	}
	if v := t.Status.NotReady; v != nil {
		why = v.Text()
	}
	w.state(t.Status.Ready, offline, why)
	for i := range sections {
		s := &sections[i]
		w.put(`<section aria-labelledby="{}"><h2 id="{}">{}</h2>`, s.id, s.id, w.in(s.title))
		switch err := s.fault(&t); {
		case err == nil:
			s.write(w, &t)
		case view.Denied(err):
			w.put(`<p>{} <code lang="en">may: {}</code></p>`, w.in(mayNotSee), s.need)
		default:
			w.say(`<p class="alert">{}</p>`, unreadable)
		}
		w.put(`</section>`)
	}
	if t.Acts == nil {
		w.login(t.PIN, NoFault, t.Status.Flags)
	}
	w.put(`</main>`)
	w.foot(&t)
	return w.end()
}

// section is one part of the page below its state.
type section struct {
	id    string
	title word
	need  string // what a client needs to see it
	write func(*writer, *Terminal)
	fault func(*Terminal) error // why it is not shown, nil = it is
}

// sections are all of them, in order.
var sections = [...]section{
	{"alerts", alertsTitle, "read", (*writer).alerts, func(t *Terminal) error { return t.NoStatus }},
	{"sales", salesTitle, "sales", (*writer).sales, func(t *Terminal) error { return t.NoDay }},
	{"waiting", waitingTitle, "read", (*writer).waiting, func(t *Terminal) error { return t.NoWaiting }},
	{"methods", methodsTitle, "read", (*writer).methods, func(t *Terminal) error { return t.NoMethods }},
	{"lines", linesTitle, "read", (*writer).lines, func(t *Terminal) error { return t.NoStatus }},
	{"doctor", doctorTitle, "read, all", (*writer).doctor, func(t *Terminal) error { return t.NoChecks }},
	{"audit", auditTitle, "read, all", (*writer).audit, func(t *Terminal) error { return t.NoAudit }},
	{"programs", programsTitle, "", (*writer).programs, func(*Terminal) error { return nil }},
}

// doctor writes what the terminal has found by looking at itself.
func (w *writer) doctor(t *Terminal) {
	v := &t.Checks
	if v.Made > 0 {
		w.put(`<p>{} {} / {} (`, w.in(checksPassed), number(int32(v.Passed)), number(int32(v.Made)))
		w.time(v.At, t.Now)
		w.put(`)</p>`)
	}
	if len(v.Found) > 0 {
		w.put(`<ul class="list" lang="en">`)
		for i := range v.Found {
			c := &v.Found[i]
			word, look := "WARN", ""
			if c.Failed {
				word, look = "FAIL", "bad"
			}
			w.put(`<li><p><strong class="{}">{}</strong> {} expected: {}</p><p>seen: {}</p>`, look, word, c.ID, c.Title, c.Seen)
			w.put(`<p>do: {}</p><p>type: <code>{}</code></p></li>`, c.Remedy, c.Command)
		}
		w.put(`</ul>`)
	}
	w.say(`<p>{}</p>`, doctorSays)
	w.command("posagent doctor")
}

// programs names what programs read. A browser is refused there, so these are no links.
func (w *writer) programs(t *Terminal) {
	w.put(`<p>{}</p><ul lang="en"><li><code>curl {}/openapi.json</code></li>`+
		`<li><code>curl -H "Authorization: Bearer $(cat port.token)" {}/metrics</code></li>`+
		`<li><code>curl -N -H "Authorization: Bearer $(cat port.token)" {}/agent/v1/events</code></li></ul>`, w.in(programsSay), t.Base, t.Base, t.Base)
}

// foot writes when the page was made, for whom, and the ways on.
func (w *writer) foot(t *Terminal) {
	who, button := t.User, leaveButton
	switch {
	case t.Acts != nil:
		who, button = w.in(thePerson), logoutButton
	case who == "":
		who = w.in(ownToken)
	}
	w.put(`<footer><p>{} <time datetime="{}">{}</time>. <a href="{}">{}</a></p><p>{} {}. posagent {}</p>`,
		w.in(asOf), t.Now.UTC().Format(time.RFC3339), t.Now.Local().Format("2006-01-02 15:04:05"), t.path(), w.in(reload), w.in(seenBy), who, t.Status.Version)
	w.put(`<form method="post" action="{}">`, t.path())
	if t.Acts != nil {
		w.hidden(FormField, t.Acts.Form)
	}
	w.hidden(LeaveField, "1")
	w.say(`<button type="submit">{}</button></form></footer>`, button)
}

// shorts say who is short of the amount of an alert.
var shorts = map[checkout.Short]word{checkout.Merchant: shortMerchant, checkout.Customer: shortCustomer, checkout.NotKnown: shortUnknown}

// alerts writes what needs a person.
func (w *writer) alerts(t *Terminal) {
	v := &t.Status
	if len(v.Attention)+len(v.Alerts)+len(v.Differences) == 0 {
		w.say(`<p>{}</p>`, noAlerts)
		return
	}
	begun := false
	for _, s := range v.Attention {
		if saidBelow(s, v) {
			continue
		}
		if !begun {
			w.put(`<ul lang="en">`)
		}
		begun = true
		w.put(`<li>{}</li>`, s)
	}
	if begun {
		w.put(`</ul>`)
	}
	w.differences(t)
	if len(v.Alerts) == 0 {
		return
	}
	if t.Acts != nil {
		w.say(`<p>{}</p>`, alertsAct)
	} else {
		w.say(`<p>{}</p>`, alertsSay)
	}
	w.put(`<ul class="list">`)
	for i := range v.Alerts {
		a, id := &v.Alerts[i], "alert-"+number(int32(i+1))
		w.put(`<li><p id="{}">`, id)
		w.time(a.At, t.Now)
		w.put(` <strong>{}</strong> <span lang="en">{} {} {}</span></p>`, w.money(a.Amount, a.Currency), a.Kind, a.Subject, a.State)
		if word, ok := shorts[checkout.Short(a.Short)]; ok {
			w.say(`<p>{}</p>`, word)
		}
		w.put(`<p lang="en">{}</p><p lang="en">{}</p>`, a.Reason, a.Remedy)
		w.acknowledge(t, string(a.Key), AlertAs(a.At, a.Reason), id)
	}
	w.put(`</ul>`)
}

// differences writes what the daily comparison of the till's list has found.
func (w *writer) differences(t *Terminal) {
	v := &t.Status
	if len(v.Differences) == 0 {
		return
	}
	w.say(`<p>{}</p><ul class="list">`, differencesSay)
	for i := range v.Differences {
		d, id := &v.Differences[i], "difference-"+number(int32(i+1))
		w.put(`<li><p id="{}">`, id)
		w.time(d.At, t.Now)
		w.put(` <span lang="en">{}</span></p><p lang="en">{}</p><p lang="en">{}</p>`, d.About, d.Text, d.Remedy)
		w.acknowledge(t, string(d.Key), "", id) // one that says something else has another key
	}
	w.put(`</ul>`)
}

// acknowledge ends an item of a list with the button that acknowledges it, or with the command.
func (w *writer) acknowledge(t *Terminal, key, seen, id string) {
	if t.Acts == nil {
		w.put(`<p><code lang="en">posagent ops ack {}</code></p></li>`, key)
		return
	}
	w.put(`<div class="deeds">`)
	w.deed(t.Acts, DoAck, key, seen, id, ackButton)
	w.put(`</div></li>`)
}

// saidBelow says that a line is about one of the alerts or the differences.
func saidBelow(line string, v *view.Status) bool {
	about := func(key string) bool { return strings.HasSuffix(line, "(posagent ops ack "+key+")") }
	return slices.ContainsFunc(v.Alerts, func(a view.Alert) bool { return about(string(a.Key)) }) ||
		slices.ContainsFunc(v.Differences, func(d view.Difference) bool { return about(string(d.Key)) })
}
