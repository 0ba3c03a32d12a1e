package pages

import (
	"strings"
	"time"

	"posagent/agent/view"
)

// Part says whether a part of the page is shown.
type Part int

// The parts' states.
const (
	Shown     Part = iota
	Forbidden      // the token's client may not see it
	Broken         // it could not be read
)

// Terminal is everything that a client may see.
type Terminal struct {
	Lang string // as Language gives it
	Now  time.Time
	Base string // of the local port, "http://127.0.0.1:8480"
	User string // name of the client whose token was entered; "" = the terminal's own token

	Status  view.Status
	Day     view.Day
	Waiting []view.Waiting
	Methods view.Methods
	Audit   []view.Deed

	NoStatus, NoDay, NoWaiting, NoMethods, NoAudit Part

	Leave string // name of the form's field that ends the visit
}

// HTML writes the page.
func (t Terminal) HTML() []byte {
	w := &writer{lang: t.Lang}
	w.begin(strings.TrimSpace(w.in(terminalTitle)+" "+t.Status.Terminal), t.Status.Sandbox)
	w.say(`<nav aria-label="{}">`, contents)
	for _, s := range sections {
		w.put(`<a href="#{}">{}</a> `, s.id, w.in(s.title))
	}
	w.put(`</nav></header><main>`)
	offline, why := "", ""
	if v := t.Status.Offline; v != nil {
		offline = v.Text()
	}
	if v := t.Status.NotReady; v != nil {
		why = v.Text()
	}
	w.state(t.Status.Ready, offline, why)
	for i, s := range sections {
		w.put(`<section aria-labelledby="{}"><h2 id="{}">{}</h2>`, s.id, s.id, w.in(s.title))
		switch *t.part(i) {
		case Forbidden:
			w.put(`<p>{} <code lang="en">may: {}</code></p>`, w.in(mayNotSee), s.need)
		case Broken:
			w.say(`<p class="alert">{}</p>`, unreadable)
		default:
			s.write(w, &t)
		}
		w.put(`</section>`)
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
}

// sections are all of them, in order.
var sections = [...]section{
	{"alerts", alertsTitle, "read", (*writer).alerts},
	{"sales", salesTitle, "sales", (*writer).sales},
	{"waiting", waitingTitle, "read", (*writer).waiting},
	{"methods", methodsTitle, "read", (*writer).methods},
	{"lines", linesTitle, "read", (*writer).lines},
	{"doctor", doctorTitle, "", (*writer).doctor},
	{"audit", auditTitle, "read, all", (*writer).audit},
	{"programs", programsTitle, "", (*writer).programs},
}

// part says whether a section is shown.
func (t *Terminal) part(i int) *Part {
	always := Shown
	return [...]*Part{&t.NoStatus, &t.NoDay, &t.NoWaiting, &t.NoMethods, &t.NoStatus, &always, &t.NoAudit, &always}[i]
}

// doctor says where the checks are.
func (w *writer) doctor(*Terminal) {
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
	who := t.User
	if who == "" {
		who = w.in(ownToken)
	}
	w.put(`<footer><p>{} <time datetime="{}">{}</time>. <a href="/">{}</a></p><p>{} {}. posagent {}</p>`,
		w.in(asOf), t.Now.UTC().Format(time.RFC3339), t.Now.Local().Format("2006-01-02 15:04:05"), w.in(reload), w.in(seenBy), who, t.Status.Version)
	w.put(`<form method="post" action="/"><input type="hidden" name="{}" value="1"><button type="submit">{}</button></form></footer>`, t.Leave, w.in(leaveButton))
}

// alerts writes what needs a person.
func (w *writer) alerts(t *Terminal) {
	v := &t.Status
	if len(v.Attention)+len(v.Alerts) == 0 {
		w.say(`<p>{}</p>`, noAlerts)
		return
	}
	w.put(`<ul lang="en">`)
	for _, s := range v.Attention {
		if !saidBelow(s, v.Alerts) {
			w.put(`<li>{}</li>`, s)
		}
	}
	w.put(`</ul>`)
	if len(v.Alerts) == 0 {
		return
	}
	w.say(`<p>{}</p>`, alertsSay)
	w.table(alertsTitle, colTime, colAmount, colKind, colState, colReason, colType)
	for i := range v.Alerts {
		a := &v.Alerts[i]
		w.put(`<tr><th scope="row">`)
		w.time(a.At, t.Now)
		w.put(`</th><td class="n">{}</td><td lang="en">{} {}</td><td lang="en">{}</td><td lang="en">{}</td><td><code lang="en">posagent ops ack {}</code></td></tr>`,
			w.money(a.Amount, a.Currency), a.Kind, a.Subject, a.State, a.Reason, string(a.Key))
	}
	w.endTable()
}

// saidBelow says that a line is about one of the alerts.
func saidBelow(line string, alerts []view.Alert) bool {
	for i := range alerts {
		if strings.HasSuffix(line, "(posagent ops ack "+string(alerts[i].Key)+")") {
			return true
		}
	}
	return false
}
