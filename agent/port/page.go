package port

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"posagent/agent/pages"
	"posagent/agent/view"
	"posagent/schemes/contracts"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
	"posagent/schemes/wire/rest/openapi"
)

// The fields of the page's forms.
const (
	tokenField = "token"
	leaveField = "leave"
)

// auditLines is how many lines of the audit log the page shows.
const auditLines = 20

// page is the terminal's page for people. It shows, and changes nothing.
type page struct {
	*auth
	daemon *view.Daemon
	ready  func() error
	cookie string // its name has the port: browsers keep cookies by host alone
	visits visits
}

func newPage(a *auth, daemon *view.Daemon, ready func() error, at net.Addr) *page {
	_, number, _ := net.SplitHostPort(at.String()) // "" where it has none
	return &page{auth: a, daemon: daemon, ready: ready, cookie: "posagent_page_" + number}
}

// mount makes the page's mount. Its form is for people, so the document does not name it.
func (p *page) mount() mount {
	return mount{
		Group: openapi.Group{Name: "page", About: "For people.", Infos: []rest.Info{
			contracts.Describe[struct{}, openapi.Page]("page.terminal",
				"READY or not, and in a browser in which a client's token was entered all that this client may see", http.MethodGet, PagePath, 0),
		}},
		at:      []string{PagePath + "{$}"},
		handler: http.MaxBytesHandler(selfProving(http.HandlerFunc(p.serve)), wire.MaxRequest),
	}
}

// serve answers a browser. A program has no form to send.
func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		p.show(w, r)
	case r.Method == http.MethodPost && only(r.Header["Sec-Fetch-Site"], "same-origin"):
		p.entered(w, r)
	default:
		unread(w, r)
		wire.WriteProblemNoRoute(w, r, http.MethodGet)
	}
}

// show answers with all that the client of a visit may see, or with the door.
func (p *page) show(w http.ResponseWriter, r *http.Request) {
	c := p.visits.of(p.shown(r))
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

// entered takes the page's forms: a token, or the end of a visit.
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
	if form.Has(leaveField) {
		p.visits.leave(p.shown(r))
		p.again(w, "", -1)
		return
	}
	id, locked := p.visits.enter(func() *client { return p.byToken(strings.TrimSpace(form.Get(tokenField))) })
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

// door answers with what strangers may see.
func (p *page) door(w http.ResponseWriter, r *http.Request, status int, fault pages.Fault) {
	d := pages.Door{Lang: pages.Language(r.Header.Get("Accept-Language")), Sandbox: p.daemon.About.Sandbox, Fault: fault, Field: tokenField}
	if err := p.ready(); err != nil {
		d.Why = err.Error()
	}
	d.Ready = d.Why == ""
	p.send(w, status, d.HTML())
}

// send answers with a page.
func (p *page) send(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pages.Policy())
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Vary", "Accept-Language, Cookie")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a lost connection has no reader
}

// terminal reads all that the caller may see.
func (p *page) terminal(r *http.Request) pages.Terminal {
	ctx, d := r.Context(), p.daemon
	t := pages.Terminal{
		Lang: pages.Language(r.Header.Get("Accept-Language")), Now: d.Now(), Base: "http://" + r.Host, User: wire.CallerOf(ctx).Name, Leave: leaveField,
	}
	part := func(err error) pages.Part {
		switch {
		case err == nil:
			return pages.Shown
		case wire.CodeOf(err) == wire.Forbidden:
			return pages.Forbidden
		}
		p.log.Error("page not whole", "err", err)
		return pages.Broken
	}
	var err error
	t.Status, err = d.Status(ctx)
	t.NoStatus = part(err)
	t.Day, err = d.Day(ctx)
	t.NoDay = part(err)
	t.Waiting, err = d.Waiting(ctx)
	t.NoWaiting = part(err)
	t.Methods, err = d.Methods(ctx)
	t.NoMethods = part(err)
	t.Audit, err = d.Audit(ctx, auditLines)
	t.NoAudit = part(err)
	return t
}
