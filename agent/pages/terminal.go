package pages

import (
	"slices"
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
	title := w.in(terminalTitle)
	if t.Status.Terminal != "" {
		title += " " + t.Status.Terminal
	}
	w.begin(title, t.Status.Sandbox)
	w.open("nav", attr{"aria-label", w.in(contents)})
	for _, s := range sections {
		w.say("a", s.title, attr{"href", "#" + s.id})
		w.text(" ")
	}
	w.close("nav", "header")
	w.open("main")
	v := t.Status
	offline, why := "", ""
	if v.Offline != nil {
		offline = v.Offline.Text()
	}
	if v.NotReady != nil {
		why = v.NotReady.Text()
	}
	w.state(v.Ready, !v.Ready && v.NotReady == nil, offline, why)
	for _, s := range sections {
		w.open("section", attr{"aria-labelledby", s.id})
		w.say("h2", s.title, attr{"id", s.id})
		if s.part == nil || w.shown(*s.part(&t), s.need) {
			s.write(w, &t)
		}
		w.close("section")
	}
	w.close("main")
	w.foot(&t)
	return w.end()
}

// section is one part of the page below its state.
type section struct {
	id    string
	title word
	need  string // the word that a client needs to see it
	part  func(*Terminal) *Part
	write func(*writer, *Terminal)
}

var sections = []section{
	{"alerts", alertsTitle, "read", func(t *Terminal) *Part { return &t.NoStatus }, (*writer).alerts},
	{"sales", salesTitle, "sales", func(t *Terminal) *Part { return &t.NoDay }, (*writer).sales},
	{"waiting", waitingTitle, "read", func(t *Terminal) *Part { return &t.NoWaiting }, (*writer).waiting},
	{"methods", methodsTitle, "read", func(t *Terminal) *Part { return &t.NoMethods }, (*writer).methods},
	{"lines", linesTitle, "read", func(t *Terminal) *Part { return &t.NoStatus }, (*writer).lines},
	{"doctor", doctorTitle, "", nil, (*writer).doctor},
	{"audit", auditTitle, "read, all", func(t *Terminal) *Part { return &t.NoAudit }, (*writer).audit},
	{"programs", programsTitle, "", nil, (*writer).programs},
}

// shown tells whether a part is shown, and says why not.
func (w *writer) shown(p Part, need string) bool {
	switch p {
	case Forbidden:
		w.open("p")
		w.text(w.in(mayNotSee) + " ")
		w.element("code", "may: "+need, english())
		w.close("p")
	case Broken:
		w.say("p", unreadable, class("alert"))
	}
	return p == Shown
}

// doctor says where the checks are.
func (w *writer) doctor(*Terminal) {
	w.say("p", doctorSays)
	w.command("posagent doctor")
}

// programs names what programs read. A browser is refused there, so these are no links.
func (w *writer) programs(t *Terminal) {
	w.say("p", programsSay)
	const proof = `curl -H "Authorization: Bearer $(cat port.token)" `
	w.open("ul")
	for _, s := range []string{"curl " + t.Base + "/openapi.json", proof + t.Base + "/metrics", "curl -N" + strings.TrimPrefix(proof, "curl") + t.Base + "/agent/v1/events"} {
		w.open("li")
		w.element("code", s, english())
		w.close("li")
	}
	w.close("ul")
}

// command writes what to type.
func (w *writer) command(s string) {
	w.open("p")
	w.text(w.in(typeThis) + " ")
	w.element("code", s, english())
	w.close("p")
}

// foot writes when the page was made, for whom, and the ways on.
func (w *writer) foot(t *Terminal) {
	w.open("footer")
	w.open("p")
	w.text(w.in(asOf) + " ")
	w.element("time", t.Now.Local().Format("2006-01-02 15:04:05"), attr{"datetime", t.Now.UTC().Format(time.RFC3339)})
	w.text(". ")
	w.element("a", w.in(reload), attr{"href", "/"})
	w.close("p")
	w.open("p")
	who := t.User
	if who == "" {
		who = w.in(ownToken)
	}
	w.text(w.in(seenBy) + " " + who + ". posagent " + t.Status.Version)
	w.close("p")
	w.open("form", attr{"method", "post"}, attr{"action", "/"})
	w.open("input", attr{"type", "hidden"}, attr{"name", t.Leave}, attr{"value", "1"})
	w.say("button", leaveButton, attr{"type", "submit"})
	w.close("form", "footer")
}

// alerts writes what needs a person.
func (w *writer) alerts(t *Terminal) {
	v := t.Status
	rest := slices.DeleteFunc(slices.Clone(v.Attention), func(s string) bool {
		return slices.ContainsFunc(v.Alerts, func(a view.Alert) bool { return strings.HasSuffix(s, "(posagent ops ack "+string(a.Key)+")") })
	})
	if len(rest)+len(v.Alerts) == 0 {
		w.say("p", noAlerts)
		return
	}
	if len(rest) > 0 {
		w.open("ul", english())
		for _, s := range rest {
			w.element("li", s)
		}
		w.close("ul")
	}
	if len(v.Alerts) == 0 {
		return
	}
	w.say("p", alertsSay)
	w.table(alertsTitle, []column{{colTime, false}, {colAmount, true}, {colKind, false}, {colState, false}, {colReason, false}, {colType, false}})
	for _, a := range v.Alerts {
		w.open("tr")
		w.cell("th", func() { w.time(a.At, t.Now) })
		w.amount(a.Amount, a.Currency)
		w.plain(a.Kind + " " + a.Subject)
		w.plain(a.State)
		w.plain(a.Reason)
		w.cell("td", func() { w.element("code", "posagent ops ack "+string(a.Key), english()) })
		w.close("tr")
	}
	w.endTable()
}
