package login

import (
	"net/http"
	"net/url"

	"posagent/agent/outbox"
	"posagent/agent/port/pages"
	"posagent/schemes/wire"
)

// What a page has.
const (
	opsShown    = 20
	eventsShown = 50
)

// show answers a GET: the terminal, what happened, or the page of a deed.
func (c *Console) show(w http.ResponseWriter, r *http.Request, s shown) {
	q := r.URL.Query()
	which, key := q.Get("show"), wire.Key(q.Get("key"))
	pace := pages.Pace(q.Get("every"))
	if which == pages.ShowEvents && pace > 0 { // no person looks, as far as is known: the login may end
		c.events(w, r, s, pace)
		return
	}
	form, said, ok := c.sessions.look(s.word, s.cookie, s.pin)
	switch {
	case !ok:
		c.over(w, r)
	case which == pages.ShowEvents:
		c.events(w, r, s, pace)
	case pages.Asks(pages.Do(which)):
		c.ask(w, r, http.StatusOK, pages.Ask{Do: pages.Do(which), Acts: pages.Acts{Path: s.at(), Form: form, Said: said}}, key)
	default:
		c.terminal(w, r, http.StatusOK, pages.Acts{Path: s.at(), Form: form, Said: said})
	}
}

// terminal answers with everything that there is to see, and what can be done.
func (c *Console) terminal(w http.ResponseWriter, r *http.Request, status int, a pages.Acts) {
	d := c.o.Daemon
	t := pages.Terminal{Lang: language(r), Now: d.Now(), Base: "http://" + r.Host, Screen: d.Screen(r.Context()), Acts: &a}
	list, err := d.Operations(r.Context(), outbox.Filter{Open: true, Limit: opsShown + 1})
	if err != nil {
		t.NoWaiting = err
	}
	a.Ops, a.More = list.Operations, len(list.Operations) > opsShown
	if a.More {
		a.Ops = a.Ops[:opsShown]
	}
	for _, err := range t.Faults() {
		c.o.Log.Error("page not whole", "err", err)
	}
	send(w, status, t.HTML())
}

// events answers with what happened.
func (c *Console) events(w http.ResponseWriter, r *http.Request, s shown, pace int) {
	d := c.o.Daemon
	e := pages.Events{Lang: language(r), Now: d.Now(), Sandbox: d.About.Sandbox, Path: s.at(), Pace: pace}
	if e.List, e.Fault = d.Lately(r.Context(), eventsShown); e.Fault != nil {
		c.o.Log.Error("page not whole", "err", e.Fault)
	}
	pages.Reload(w.Header(), pace)
	send(w, http.StatusOK, e.HTML())
}

// ask answers with the page of a deed; where there is no such operation, with the terminal.
func (c *Console) ask(w http.ResponseWriter, r *http.Request, status int, a pages.Ask, key wire.Key) {
	d := c.o.Daemon
	var err error
	if a.Op, err = d.Operation(r.Context(), string(key)); err != nil {
		a.Acts.Said = refusal(a.Do, err)
		c.terminal(w, r, statusOf(a.Acts.Said, err), a.Acts)
		return
	}
	a.Lang, a.Now, a.Sandbox = language(r), d.Now(), d.About.Sandbox
	send(w, status, a.HTML())
}

// refusal is what is said of an error.
func refusal(do pages.Do, err error) pages.Said {
	said := pages.Said{Do: do, Fault: pages.RefusedByIt, Why: err.Error()}
	switch code := outbox.CodeOf(err); code {
	case wire.NotFound, wire.Conflict, wire.Invalid:
	case wire.UnknownOutcome:
		said.Fault = pages.FailedByIt
	default:
		said.Fault, said.Why = pages.FailedByIt, "" // it is for the log
	}
	return said
}

// statusOf is the status of an answer that says why nothing was done.
func statusOf(said pages.Said, err error) int {
	switch {
	case err != nil:
		return outbox.CodeOf(err).Status()
	case said.Fault == pages.OldForm:
		return http.StatusForbidden
	case said.Fault == pages.Changed:
		return http.StatusConflict
	}
	return http.StatusBadRequest
}

// parse reads a form of the page.
func parse(r *http.Request) (url.Values, error) {
	data, err := wire.ReadBody(r, maxForm)
	if err != nil {
		return nil, err
	}
	return url.ParseQuery(string(data))
}
