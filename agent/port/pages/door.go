package pages

import (
	"strings"
	"time"
)

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

// The fields of the pages' forms.
const (
	TokenField  = "token"  // a client's token
	PINField    = "pin"    // the PIN of a person
	LeaveField  = "leave"  // ends a visit, or a login
	FormField   = "form"   // the word of a person's page, good for one form
	DoField     = "do"     // a Do
	KeyField    = "key"    // of an operation
	SeenField   = "seen"   // how the operation stood (SeenAs), or what the alert said (AlertAs), as the page showed it
	ReasonField = "reason" // of a hold, or the proof of a decision
	StateField  = "state"  // of a decision: outbox.Done or outbox.Failed
	SureField   = "sure"   // the decision was shown again, and meant
)

// Fault is why a form led back to where it was.
type Fault int

// The faults of the door.
const (
	NoFault Fault = iota
	WrongToken
	Locked  // too many wrong tokens: no other wrong one is looked at for a minute
	MayNone // the token is good, and its client may not read
	WrongPIN
	ManyPINs     // too many wrong ones: none is looked at for a while
	UnsetPIN     // none was set
	UnreadPIN    // the one that was set cannot be read
	UncountedPIN // the try could not be counted, so the PIN was not looked at
)

var faults = [...]word{
	WrongToken: wrongToken, Locked: lockedOut, MayNone: mayNone, WrongPIN: wrongPIN, ManyPINs: manyPINs, UnsetPIN: noPIN, UnreadPIN: brokenPIN, UncountedPIN: uncountedPIN,
}

// ofPIN says that a fault is about the form of the PIN.
func (f Fault) ofPIN() bool { return f >= WrongPIN }

// State is what is known of the PIN.
type State int

// The states of the PIN.
const (
	NoPIN     State = iota // none was set: no login is possible
	AsksPIN                // one was set
	BrokenPIN              // it cannot be read
)

// Entry is the form of the PIN.
type Entry struct {
	State State
	Wait  time.Duration // how long none is looked at; 0 = it is
}

// Door is what is shown without a token: whether a register may ask, and nothing of any money.
type Door struct {
	Lang    string // as Language gives it
	Ready   bool
	Why     string // why not, "" = Ready
	Sandbox bool
	PIN     Entry
	Fault   Fault
	Flags   string // those that the terminal was started with, as a command repeats them
}

// HTML writes the page.
func (d Door) HTML() []byte {
	w := &writer{lang: d.Lang}
	w.begin(w.in(terminalTitle), d.Sandbox)
	w.put(`</header><main>`)
	w.state(d.Ready, "", d.Why)
	w.login(d.PIN, d.Fault, d.Flags)
	w.say(`<section aria-labelledby="enter"><h2 id="enter">{}</h2>`, enterTitle)
	if d.Fault != NoFault && !d.Fault.ofPIN() {
		w.say(`<p class="alert" role="alert" id="fault">{}</p>`, faults[d.Fault])
	}
	w.say(`<p>{}</p><form method="post" action="/"><label>{}<input type="password" `, enterWhy, tokenLabel)
	w.put(`name="{}" autocomplete="off" required maxlength="1024"`, TokenField)
	if d.Fault == WrongToken {
		w.put(` aria-invalid="true" aria-describedby="fault"`)
	}
	w.say(`></label><button type="submit">{}</button></form><p>{}</p></section></main>`, enterButton, tokenWhere)
	return w.end()
}

// login writes the form of the PIN, or why there is none, and what sets one with these flags.
func (w *writer) login(e Entry, f Fault, flags string) {
	w.say(`<section aria-labelledby="login"><h2 id="login">{}</h2>`, loginTitle)
	if f.ofPIN() && f != UnsetPIN && f != UnreadPIN { // these are said below
		w.say(`<p class="alert" role="alert" id="pin-fault">{}</p>`, faults[f])
	}
	switch {
	case e.State == NoPIN:
		w.say(`<p>{}</p>`, noPIN)
		w.command("posagent config pin" + flags)
	case e.State == BrokenPIN:
		w.say(`<p class="alert">{}</p>`, brokenPIN)
		w.command("posagent config pin" + flags)
	default:
		w.say(`<p>{}</p>`, loginWhy)
		if e.Wait > 0 {
			n, unit := span(e.Wait)
			w.put(`<p id="pin-wait">{} {} {}.</p>`, w.in(pinWait), n, w.in(unit))
		}
		w.say(`<form method="post" action="/"><label>{}<input type="password" inputmode="numeric" `, pinLabel)
		w.put(`name="{}" autocomplete="off" required minlength="6" maxlength="12" pattern="[0-9]*"`, PINField)
		if f == WrongPIN {
			w.put(` aria-invalid="true" aria-describedby="pin-fault"`)
		} else if e.Wait > 0 {
			w.put(` aria-describedby="pin-wait"`)
		}
		w.say(`></label><button type="submit">{}</button></form>`, loginButton)
	}
	w.put(`</section>`)
}

// Over is what is shown in place of a person's page when the login has ended.
type Over struct {
	Lang    string // as Language gives it
	Sandbox bool
}

// HTML writes the page.
func (o Over) HTML() []byte {
	w := &writer{lang: o.Lang}
	w.begin(w.in(terminalTitle), o.Sandbox)
	w.say(`</header><main><section aria-labelledby="over"><h2 id="over">{}</h2><p>{}</p><p><a href="/">{}</a></p></section></main>`, overTitle, overWhy, overAgain)
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
