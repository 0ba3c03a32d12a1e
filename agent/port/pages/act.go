package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"time"

	"posagent/agent/outbox"
	"posagent/agent/view"
)

// Do is what a form of a person's page asks for.
type Do string

// The deeds.
const (
	DoAck     Do = "ack"      // acknowledge an alert
	DoSend    Do = "send"     // try one operation now
	DoSendAll Do = "send-all" // try all that wait now
	DoHold    Do = "hold"     // set one aside, with a reason
	DoRelease Do = "release"  // let one that is held go on
	DoResolve Do = "resolve"  // decide one that is in doubt or held, with a proof
)

// ShowEvents is the page of events among the pages that the query's show names; the others are the
// deeds that have a page of their own (Ask).
const ShowEvents = "events"

// Said is what came of a deed. The zero value is nothing.
type Said struct {
	Do    Do
	Count int    // of DoSendAll
	Fault Refuse // NotRefused = it was done
	Why   string // what the terminal says of a refusal, in English
}

// Refuse is why nothing was done.
type Refuse int

// The refusals.
const (
	NotRefused  Refuse = iota
	OldForm            // the form's word was used, or is not known
	UnknownDo          // the form asks for nothing that there is
	WantsReason        // of a hold
	WantsProof         // of a decision
	WantsWord          // accepted or declined
	Changed            // what a form is about has gone on since its page was shown
	RefusedByIt        // the terminal refuses
	FailedByIt         // the terminal could not; whether it was done is not known where Why says so
)

var refusals = [...]word{
	OldForm: oldForm, UnknownDo: unknownDo, WantsReason: wantsReason, WantsProof: wantsProof, WantsWord: wantsWord, Changed: goneOn, RefusedByIt: refusedByIt, FailedByIt: failedByIt,
}

// done are the words of what was done.
var done = [...]struct {
	do   Do
	said word
}{{DoAck, saidAck}, {DoSend, saidSend}, {DoSendAll, saidSendAll}, {DoHold, saidHold}, {DoRelease, saidRelease}, {DoResolve, saidResolve}}

// Acts is what a person who is logged in may do on the page.
type Acts struct {
	Path string // of the login, "/person/…/"
	Form string // the word of this page's forms
	Said Said
	Ops  []view.Operation // that are not at their end, the oldest first
	More bool             // there are more of them
}

// said writes what came of the last deed.
func (w *writer) said(s Said) {
	switch {
	case s.Fault != NotRefused:
		w.say(`<p class="alert" role="alert" id="said">{}`, refusals[s.Fault])
		if s.Why != "" {
			w.put(` <span lang="en">{}</span>`, s.Why)
		}
		w.put(`</p>`)
	case s.Do != "":
		for i := range done {
			if done[i].do == s.Do {
				w.say(`<p class="said" role="status" id="said">{}`, done[i].said)
			}
		}
		if s.Do == DoSendAll {
			w.put(` {} {}`, w.in(saidDue), number(int32(s.Count)))
		}
		w.put(`</p>`)
	}
}

// hidden writes a field that the page does not show.
func (w *writer) hidden(name, value string) {
	w.put(`<input type="hidden" name="{}" value="{}">`, name, value)
}

// deed writes a form that is one button. about is the id of the text that says what it is for.
// seen is what it is bound to, "" = nothing.
func (w *writer) deed(a *Acts, do Do, key, seen, about string, label word) {
	w.put(`<form method="post" action="{}">`, a.Path)
	w.hidden(FormField, a.Form)
	w.hidden(DoField, string(do))
	if key != "" {
		w.hidden(KeyField, key)
	}
	if seen != "" {
		w.hidden(SeenField, seen)
	}
	w.put(`<button type="submit" aria-describedby="{}">{}</button></form>`, about, w.in(label))
}

// ask writes a link to the page of a deed.
func (w *writer) ask(a *Acts, do Do, key, about string, label word) {
	w.put(`<a class="go" href="{}?show={}&amp;key={}" aria-describedby="{}">{}</a>`, a.Path, string(do), url.QueryEscape(key), about, w.in(label))
}

// operations writes what is not at its end, each with what can be done about it.
func (w *writer) operations(t *Terminal) {
	a := t.Acts
	w.put(`<ul class="list">`)
	for i := range a.Ops {
		o, id := &a.Ops[i], "op-"+number(int32(i+1))
		w.put(`<li><p id="{}">`, id)
		w.since(o.Created, t.Now)
		w.put(` <strong>{}</strong> <span lang="en">{} {} {}</span></p><p lang="en">{}</p>`, w.money(o.Amount, o.Currency), o.Kind, o.Note, string(o.State), o.Says)
		if o.Next != "" {
			w.put(`<p lang="en">{}</p>`, o.Next)
		}
		w.put(`<div class="deeds">`)
		switch key := string(o.Key); o.State {
		case outbox.Pending, outbox.Sent:
			w.deed(a, DoSend, key, "", id, sendButton)
			w.ask(a, DoHold, key, id, holdLink)
		case outbox.Held:
			w.ask(a, DoRelease, key, id, releaseLink)
			w.ask(a, DoResolve, key, id, resolveLink)
		case outbox.Doubt:
			w.ask(a, DoResolve, key, id, resolveLink)
		}
		w.put(`</div></li>`)
	}
	w.put(`</ul>`)
	if a.More {
		w.say(`<p>{}</p>`, moreOps)
	}
	for i := range t.Waiting {
		if s := outbox.State(t.Waiting[i].State); s == outbox.Pending || s == outbox.Sent {
			w.put(`<div class="deeds">`)
			w.deed(a, DoSendAll, "", "", "waiting", sendAllButton)
			w.put(`</div>`)
			return
		}
	}
}

// Ask is the page of one deed: what it is about, what it means, and what has to be said.
type Ask struct {
	Lang    string // as Language gives it
	Now     time.Time
	Sandbox bool
	Acts    Acts // Said says what was missing
	Do      Do   // DoHold, DoRelease or DoResolve
	Op      view.OneOperation

	Reason string // what was typed before
	State  string // what was chosen before: outbox.Done or outbox.Failed
	Sure   bool   // the decision is shown again, to be meant
}

// askPages are the words of each page.
var askPages = [...]struct {
	do             Do
	title, means   word
	reason, button word
}{
	{DoHold, holdTitle, holdMeans, holdReason, holdButton},
	{DoRelease, releaseTitle, releaseMeans, 0, releaseButton},
	{DoResolve, resolveTitle, resolveMeans, resolveReason, resolveButton},
}

// Asks says that a deed has a page of its own.
func Asks(do Do) bool {
	for i := range askPages {
		if askPages[i].do == do {
			return true
		}
	}
	return false
}

// SeenAs is how an operation stands, as a decision or a release is bound to it: what a person has looked up is of then. One that is held
// may be held anew for another reason.
func SeenAs(o view.Operation) string {
	seen := string(o.State) + "/" + strconv.Itoa(o.Attempts)
	if o.State == outbox.Held {
		seen += "/" + digestOf(o.Reason)
	}
	return seen
}

// digestOf is a reason as a form names it.
func digestOf(reason string) string {
	sum := sha256.Sum256([]byte(reason))
	return hex.EncodeToString(sum[:8])
}

// AlertAs is what an alert says, as an acknowledgement is bound to it: the sale or operation may have another one by then.
func AlertAs(at time.Time, reason string) string {
	return strconv.FormatInt(at.UnixMilli(), 10) + "/" + digestOf(reason)
}

// HTML writes the page.
func (a Ask) HTML() []byte {
	w, v := &writer{lang: a.Lang}, askPages[0]
	for i := range askPages {
		if askPages[i].do == a.Do {
			v = askPages[i]
		}
	}
	if a.Sure {
		v.title, v.button = sureTitle, sureButton
	}
	w.begin(w.in(v.title), a.Sandbox)
	w.put(`<nav aria-label="{}"><a href="{}">{}</a></nav></header><main>`, w.in(contents), a.Acts.Path, w.in(backLink))
	w.said(a.Acts.Said)
	w.story(&a)
	w.say(`<section aria-labelledby="deed"><h2 id="deed">{}</h2>`, decisionTitle)
	if a.Sure {
		w.decided(&a)
	} else {
		w.say(`<p>{}</p>`, v.means)
	}
	w.put(`<form method="post" action="{}">`, a.Acts.Path)
	w.hidden(FormField, a.Acts.Form)
	w.hidden(DoField, string(a.Do))
	w.hidden(KeyField, string(a.Op.Operation.Key))
	w.hidden(SeenField, SeenAs(a.Op.Operation))
	switch {
	case a.Sure:
		w.hidden(StateField, a.State)
		w.hidden(ReasonField, a.Reason)
		w.hidden(SureField, "1")
	case a.Do == DoResolve:
		w.say(`<fieldset><legend>{}</legend>`, resolveWhich)
		w.choice(string(outbox.Done), a.State, resolveDone)
		w.choice(string(outbox.Failed), a.State, resolveFailed)
		w.put(`</fieldset>`)
		w.reason(&a, v.reason)
	case a.Do == DoHold:
		w.reason(&a, v.reason)
	}
	w.put(`<div class="deeds"><button type="submit">{}</button><a class="go" href="{}">{}</a></div></form></section></main>`, w.in(v.button), a.Acts.Path, w.in(cancelLink))
	return w.end()
}

// story writes what happened to the operation.
func (w *writer) story(a *Ask) {
	o := &a.Op.Operation
	w.say(`<section aria-labelledby="operation"><h2 id="operation">{}</h2><p>`, operationTitle)
	w.since(o.Created, a.Now)
	w.put(` <strong>{}</strong> <span lang="en">{} {}</span></p><p lang="en">{}</p><p><code lang="en">{}</code></p><ul lang="en">`,
		w.money(o.Amount, o.Currency), o.Kind, o.Note, o.Says, string(o.Key))
	for i := range a.Op.Timeline {
		e := &a.Op.Timeline[i]
		w.put(`<li>`)
		w.time(e.At, a.Now)
		w.put(` {}</li>`, e.Text)
	}
	w.put(`</ul></section>`)
}

// decided writes a decision that is about to be made.
func (w *writer) decided(a *Ask) {
	which := resolveFailed
	if a.State == string(outbox.Done) {
		which = resolveDone
	}
	w.say(`<p class="alert">{}</p>`, sureMeans)
	w.say(`<p><strong>{}</strong></p>`, which)
	w.put(`<p>{}: <strong>{}</strong></p>`, w.in(resolveReason), a.Reason)
}

// reason writes the field in which a person says why.
func (w *writer) reason(a *Ask, label word) {
	w.put(`<label>{}<textarea name="{}" rows="3" required maxlength="400"`, w.in(label), ReasonField)
	if f := a.Acts.Said.Fault; f == WantsReason || f == WantsProof {
		w.put(` aria-invalid="true" aria-describedby="said"`)
	}
	w.put(`>{}</textarea></label>`, a.Reason)
}

// choice writes one of the decisions.
func (w *writer) choice(value, chosen string, label word) {
	w.put(`<label class="choice"><input type="radio" name="{}" value="{}" required`, StateField, value)
	if value == chosen {
		w.put(` checked`)
	}
	w.put(`> <span>{}</span></label>`, w.in(label))
}
