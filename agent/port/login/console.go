package login

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"posagent/agent/outbox"
	"posagent/agent/port/pages"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/schemes/wire"
)

// Path is below which the pages of logged-in persons are, each below a word of its own.
const Path = "/person/"

// cookieName is the name of a session's cookie. Its path has the session's word: browsers send a
// cookie to every port of a host, and no other program there knows the path.
const cookieName = "posagent_person"

// Ops are the verbs; an outbox has them.
type Ops interface {
	SendNow(ctx context.Context, key wire.Key) error
	SendAll(ctx context.Context) (due int, err error)
	Hold(ctx context.Context, key wire.Key, reason string) error
	Release(ctx context.Context, key wire.Key) error
	Resolve(ctx context.Context, key wire.Key, state outbox.State, note string) error
	Acknowledge(ctx context.Context, key wire.Key) error
}

var _ Ops = (*outbox.Outbox)(nil)

// Options of a console. All are required besides Refused and Log.
type Options struct {
	PIN     func() (string, error) // what is stored of the PIN; fs.ErrNotExist = none was set
	Tries   Tries
	Ops     Ops
	Daemon  *view.Daemon
	Refused func(address string) // is told of each wrong PIN; it must not block
	Log     *slog.Logger
}

// Console is what a person may see and do in a browser.
type Console struct {
	o        Options
	login    login
	sessions sessions

	mu   sync.Mutex
	told string    // the fault of the PIN that the log was told last
	at   time.Time // when
}

// New makes a console; it starts nothing.
func New(o Options) *Console {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("sys", "page")
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	c := &Console{o: o}
	c.login.tries, c.login.began, c.login.stored = o.Tries, time.Now(), c.stored
	return c
}

// stored reads the PIN as it is now.
func (c *Console) stored() (PIN, error) {
	text, err := c.o.PIN()
	if err != nil {
		return PIN{}, err
	}
	return Parse(text)
}

// toldEvery is how often the log is told of the same fault of the PIN: any program can make one ask.
const toldEvery = time.Minute

// tell tells the log of a fault of the PIN.
func (c *Console) tell(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err.Error() == c.told && time.Since(c.at) < toldEvery {
		return
	}
	c.told, c.at = err.Error(), time.Now()
	c.o.Log.Error("PIN of the page not usable", "err", err)
}

// visitor is who sent a request. A PIN that cannot be read knows no browser.
func (c *Console) visitor(r *http.Request) visitor {
	stored, _ := c.stored() // what is wrong with it is said when it is looked at
	return stored.visitorOf(r)
}

// Entry is what the form of the PIN says to who sent a request.
func (c *Console) Entry(r *http.Request) pages.Entry {
	e, err := c.login.entry(c.visitor(r))
	if err != nil {
		c.tell(err)
	}
	return e
}

// Enter looks at a PIN. Where it is right it leads the browser to a new session and returns
// pages.NoFault; otherwise it answers nothing, and returns why.
func (c *Console) Enter(w http.ResponseWriter, r *http.Request, pin string) pages.Fault {
	ctx, cancel := context.WithTimeout(actor(r), within)
	defer cancel()
	from := c.visitor(r)
	stored, fault, err := c.login.enter(ctx, from, strings.TrimSpace(pin))
	switch {
	case err != nil:
		c.tell(err)
	case fault == pages.WrongPIN:
		c.o.Refused(r.RemoteAddr)
	}
	if fault != pages.NoFault {
		return fault
	}
	stored.setKnown(w, from.browser)
	word, cookie := c.sessions.begin(stored.id())
	at := Path + word + "/"
	setCookie(w, at, cookie, 0)
	leadTo(w, at)
	return pages.NoFault
}

// actor is the context of what a person asks for: it does not end with the connection.
func actor(r *http.Request) context.Context {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return audit.With(context.WithoutCancel(r.Context()), audit.Actor{Kind: audit.Person, Name: "page", Address: host})
}

// setCookie sets a session's cookie; age < 0 takes it away, 0 lets it end with the browser.
func setCookie(w http.ResponseWriter, path, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: path, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// leadTo leads the browser to a page.
func leadTo(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// shown is a request of a browser that may have a session.
type shown struct {
	word, cookie, pin string
}

// at is the path of the session.
func (s shown) at() string { return Path + s.word + "/" }

// shownBy is what a request shows; ok says that its path can be a session's.
func (c *Console) shownBy(r *http.Request) (s shown, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	if r.URL.Path != Path+word+"/" || rest != "" || word == "" {
		return s, false
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return s, false
	}
	pin, err := c.stored()
	if err != nil {
		return s, false
	}
	return shown{word, cookie.Value, pin.id()}, true
}

// Knows says whether a request is of a session that is not over.
func (c *Console) Knows(r *http.Request) bool {
	s, ok := c.shownBy(r)
	return ok && c.sessions.known(s.word, s.cookie, s.pin)
}

// ServeHTTP serves everything below Path. It expects that a guard has refused what another page
// could send.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, ok := c.shownBy(r)
	if !ok || !c.sessions.known(s.word, s.cookie, s.pin) {
		c.over(w, r)
		return
	}
	switch r.Method {
	case http.MethodGet:
		c.show(w, r, s)
	case http.MethodPost:
		c.take(w, r, s)
	default:
		wire.WriteProblemNoRoute(w, r, "GET, POST")
	}
}

// over answers where there is no session.
func (c *Console) over(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // the answer does not wait for the body
		w.Header().Set("Connection", "close")
	}
	send(w, http.StatusForbidden, pages.Over{Lang: language(r), Sandbox: c.o.Daemon.About.Sandbox}.HTML())
}

// language is that of the answer.
func language(r *http.Request) string { return pages.Language(r.Header.Get("Accept-Language")) }

// send answers with a page.
func send(w http.ResponseWriter, status int, text []byte) {
	pages.Head(w.Header())
	w.WriteHeader(status)
	_, _ = w.Write(text) // a lost connection has no reader
}
