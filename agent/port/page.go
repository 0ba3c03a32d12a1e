package port

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"posagent/agent/port/pages"
	"posagent/agent/view"
	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// eventsShown is how many events the page of events shows.
const eventsShown = 50

// page is the terminal's page for people. To clients it shows, and changes nothing; what persons do
// is behind person.
type page struct {
	*auth
	daemon *view.Daemon
	person Person // nil = none can log in
	ready  func() error
	cookie string // its name has the port: browsers keep cookies by host alone
	visits visits
	people *client // has the pace of all persons together, and no token
}

func newPage(a *auth, daemon *view.Daemon, person Person, ready func() error, at net.Addr) *page {
	_, number, _ := net.SplitHostPort(at.String()) // "" where it has none
	return &page{
		auth: a, daemon: daemon, person: person, ready: ready, cookie: "posagent_page_" + number,
		people: &client{pace: newPace(0, 0), reads: make(chan struct{}, 1)},
	}
}

// mount makes the page's mount. Its forms are for people, so the document does not name them.
func (p *page) mount() mount {
	m := mount{
		Group: openapi.Group{Name: "page", About: "For people.", Infos: []rest.Info{
			contracts.Describe[struct{}, openapi.Page]("page.terminal",
				"READY or not, and in a browser in which a client's token was entered all that this client may see", http.MethodGet, PagePath, 0),
		}},
		at: []string{PagePath + "{$}"},
	}
	if p.person != nil {
		m.at = append(m.at, PersonPath)
	}
	m.handler = http.MaxBytesHandler(selfProving(http.HandlerFunc(p.serve)), wire.MaxRequest)
	return m
}

// serve answers a browser. A program has no form to send.
func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	ours := only(r.Header["Sec-Fetch-Site"], "same-origin")
	switch {
	case r.Method == http.MethodPost && !ours, r.Method != http.MethodGet && r.Method != http.MethodPost:
		unread(w, r)
		wire.WriteProblemNoRoute(w, r, http.MethodGet)
	case r.URL.Path != PagePath:
		p.forPerson(w, r)
	case r.Method == http.MethodPost:
		p.entered(w, r)
	default:
		p.show(w, r)
	}
}

// forPerson serves a person who is logged in, at the pace of persons. Others wait for their turn.
func (p *page) forPerson(w http.ResponseWriter, r *http.Request) {
	if !p.person.Knows(r) {
		p.person.ServeHTTP(w, r)
		return
	}
	p.conns.proven(r)
	wait, ok := p.people.pace.begin()
	if !ok {
		p.problem(w, r, &wire.Error{Code: wire.TooMany, Op: "port", Msg: "too many requests at a time", RetryAfter: max(wait, time.Second)})
		return
	}
	defer p.people.pace.end()
	if r.Method == http.MethodGet {
		p.people.oneRead(p.problem, p.person).ServeHTTP(w, r)
		return
	}
	p.person.ServeHTTP(w, r)
}

// show answers with all that the client of a visit may see, or with the door.
func (p *page) show(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	pace := pages.Pace(q.Get("every"))
	events := q.Get("show") == pages.ShowEvents
	c := p.visits.of(p.shown(r), !events || pace == 0)
	if c == nil {
		throttleOf(r).wait(r.Context().Done())
		p.door(w, r, http.StatusOK, pages.NoFault)
		return
	}
	p.conns.proven(r)
	c.paced(w, r, p.problem, c.oneRead(p.problem, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := wire.Allow(r.Context(), "port", wire.MayRead); err != nil {
			p.door(w, r, http.StatusForbidden, pages.MayNone)
			return
		}
		if events {
			p.events(w, r, pace)
			return
		}
		p.send(w, http.StatusOK, p.terminal(r).HTML())
	})))
}

// shown is what a browser shows of its visit; "" = nothing.
func (p *page) shown(r *http.Request) string {
	c, err := r.Cookie(p.cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// entered takes the page's forms: a PIN, a token, or the end of a visit.
func (p *page) entered(w http.ResponseWriter, r *http.Request) {
	data, err := wire.ReadBody(r, maxCredential)
	if err != nil {
		p.problem(w, r, wire.AsError("port", err))
		return
	}
	form, err := url.ParseQuery(string(data))
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), formBody) {
		p.problem(w, r, wire.Errorf(wire.Invalid, "port", "want the form of the page"))
		return
	}
	switch {
	case form.Has(pages.LeaveField):
		p.visits.leave(p.shown(r))
		p.again(w, "", -1)
	case form.Has(pages.PINField) && p.person != nil:
		p.enteredPIN(w, r, form.Get(pages.PINField))
	default:
		p.enteredToken(w, r, form.Get(pages.TokenField))
	}
}

// enteredPIN lets a person in.
func (p *page) enteredPIN(w http.ResponseWriter, r *http.Request, pin string) {
	status := http.StatusForbidden
	fault := p.person.Enter(w, r, pin)
	switch fault {
	case pages.NoFault:
		p.conns.proven(r)
		return
	case pages.ManyPINs:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.FormatInt(int64(p.person.Entry(r).Wait/time.Second)+1, 10))
	case pages.UnreadPIN, pages.UncountedPIN:
		status = http.StatusServiceUnavailable
	}
	p.door(w, r, status, fault)
}

// enteredToken begins the visit of a client.
func (p *page) enteredToken(w http.ResponseWriter, r *http.Request, token string) {
	id, locked := p.visits.enter(func() *client { return p.byToken(strings.TrimSpace(token)) })
	switch {
	case locked:
		w.Header().Set("Retry-After", strconv.Itoa(int(lockedFor/time.Second)))
		p.door(w, r, http.StatusTooManyRequests, pages.Locked)
	case id == "":
		p.report(r)
		p.door(w, r, http.StatusForbidden, pages.WrongToken)
	default:
		p.conns.proven(r)
		p.again(w, id, int(visitLong/time.Second))
	}
}

// again leads the browser back to the page, with what it shows from now on.
func (p *page) again(w http.ResponseWriter, id string, age int) {
	http.SetCookie(w, &http.Cookie{Name: p.cookie, Value: id, Path: PagePath, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Location", PagePath)
	w.WriteHeader(http.StatusSeeOther)
}

// entry is what the form of the PIN says to who sent a request.
func (p *page) entry(r *http.Request) pages.Entry {
	if p.person == nil {
		return pages.Entry{State: pages.NoPIN}
	}
	return p.person.Entry(r)
}

// door answers with what strangers may see.
func (p *page) door(w http.ResponseWriter, r *http.Request, status int, fault pages.Fault) {
	d := pages.Door{Lang: pages.Language(r.Header.Get("Accept-Language")), Sandbox: p.daemon.About.Sandbox, PIN: p.entry(r), Fault: fault, Flags: p.daemon.About.Flags}
	if err := p.ready(); err != nil {
		d.Why = err.Error()
	}
	d.Ready = d.Why == ""
	p.send(w, status, d.HTML())
}

// send answers with a page.
func (p *page) send(w http.ResponseWriter, status int, text []byte) {
	pages.Head(w.Header())
	w.WriteHeader(status)
	_, _ = w.Write(text) // a lost connection has no reader
}

// events answers with what happened, as far as the caller may see it.
func (p *page) events(w http.ResponseWriter, r *http.Request, pace int) {
	d := p.daemon
	e := pages.Events{Lang: pages.Language(r.Header.Get("Accept-Language")), Now: d.Now(), Sandbox: d.About.Sandbox, Path: PagePath, Pace: pace}
	if e.List, e.Fault = d.Lately(r.Context(), eventsShown); e.Fault != nil && !view.Denied(e.Fault) {
		p.log.Error("page not whole", "err", e.Fault)
	}
	pages.Reload(w.Header(), pace)
	p.send(w, http.StatusOK, e.HTML())
}

// terminal reads all that the caller may see.
func (p *page) terminal(r *http.Request) pages.Terminal {
	ctx, d := r.Context(), p.daemon
	t := pages.Terminal{
		Lang: pages.Language(r.Header.Get("Accept-Language")), Now: d.Now(), Base: "http://" + r.Host, User: wire.CallerOf(ctx).Name, PIN: p.entry(r), Screen: d.Screen(ctx),
	}
	for _, err := range t.Faults() {
		p.log.Error("page not whole", "err", err)
	}
	return t
}
