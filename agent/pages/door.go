package pages

import "strings"

// The languages of a page.
const (
	german = "de"
	inEng  = "en"
)

// Language is the language of a page for a browser's Accept-Language: German where that comes
// first, else English.
func Language(accept string) string {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(accept)), german) {
		return german
	}
	return inEng
}

// Fault is why a form led back to the door.
type Fault int

// The faults.
const (
	NoFault Fault = iota
	WrongToken
	Locked  // too many wrong tokens: none is looked at for a minute
	MayNone // the token is good, and its client may not read
)

// Door is what is shown without a token: whether a register may ask, and nothing of any money.
type Door struct {
	Lang    string // as Language gives it
	Ready   bool
	Why     string // why not, "" = Ready
	Sandbox bool
	Fault   Fault
	Field   string // name of the form's field for the token
}

// HTML writes the page.
func (d Door) HTML() []byte {
	w := &writer{lang: d.Lang}
	w.begin(w.in(terminalTitle), d.Sandbox)
	w.close("header")
	w.open("main")
	w.state(d.Ready, d.Why == "" && !d.Ready, "", d.Why)
	w.open("section", attr{"aria-labelledby", "enter"})
	w.say("h2", enterTitle, attr{"id", "enter"})
	said := map[Fault]word{WrongToken: wrongToken, Locked: lockedOut, MayNone: mayNone}
	if s, there := said[d.Fault]; there {
		w.say("p", s, class("alert"), attr{"role", "alert"}, attr{"id", "fault"})
	}
	w.say("p", enterWhy)
	w.open("form", attr{"method", "post"}, attr{"action", "/"})
	w.open("label")
	w.say("span", tokenLabel)
	field := []attr{{"type", "password"}, {"name", d.Field}, {"autocomplete", "off"}, {"required", "required"}, {"maxlength", "1024"}}
	if d.Fault == WrongToken {
		field = append(field, attr{"aria-invalid", "true"}, attr{"aria-describedby", "fault"})
	}
	w.open("input", field...)
	w.close("label")
	w.say("button", enterButton, attr{"type", "submit"})
	w.close("form")
	w.say("p", tokenWhere)
	w.close("section", "main")
	return w.end()
}

// state writes the first section: READY, or why not and what to do. unknown says that nothing is
// known.
func (w *writer) state(ready, unknown bool, offline, why string) {
	w.open("section", attr{"aria-labelledby", "state"})
	w.say("h2", stateTitle, attr{"id", "state"})
	switch {
	case unknown:
		w.say("p", stateUnknown, class("state"))
	case ready:
		w.element("p", "READY", class("state ok"), english())
		w.say("p", stateReady)
	default:
		w.element("p", "NOT READY", class("state bad"), english())
		w.say("p", stateNotReady)
	}
	for _, s := range []string{offline, why} {
		if s == "" {
			continue
		}
		words, remedy, cut := strings.Cut(s, ": ")
		w.open("p", english())
		w.text(words)
		if cut {
			w.text(": ")
			w.element("strong", remedy)
		}
		w.close("p")
	}
	w.close("section")
}
