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

var faults = [...]word{WrongToken: wrongToken, Locked: lockedOut, MayNone: mayNone}

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
	w.put(`</header><main>`)
	w.state(d.Ready, "", d.Why)
	w.say(`<section aria-labelledby="enter"><h2 id="enter">{}</h2>`, enterTitle)
	if d.Fault != NoFault {
		w.say(`<p class="alert" role="alert" id="fault">{}</p>`, faults[d.Fault])
	}
	w.put(`<p>{}</p><form method="post" action="/"><label>{}<input type="password" name="{}" autocomplete="off" required maxlength="1024"`, w.in(enterWhy), w.in(tokenLabel), d.Field)
	if d.Fault == WrongToken {
		w.put(` aria-invalid="true" aria-describedby="fault"`)
	}
	w.put(`></label><button type="submit">{}</button></form><p>{}</p></section></main>`, w.in(enterButton), w.in(tokenWhere))
	return w.end()
}

// state writes the first section: READY, or why not and what to do. Without a reason nothing is
// known.
func (w *writer) state(ready bool, offline, why string) {
	w.say(`<section aria-labelledby="state"><h2 id="state">{}</h2>`, stateTitle)
	switch {
	case ready:
		w.say(`<p class="state ok" lang="en">READY</p><p>{}</p>`, stateReady)
	case why != "":
		w.say(`<p class="state bad" lang="en">NOT READY</p><p>{}</p>`, stateNotReady)
	default:
		w.say(`<p class="state">{}</p>`, stateUnknown)
	}
	for _, s := range [2]string{offline, why} {
		if s != "" {
			words, remedy, _ := strings.Cut(s, ": ")
			w.put(`<p lang="en">{}: <strong>{}</strong></p>`, words, remedy)
		}
	}
	w.put(`</section>`)
}
