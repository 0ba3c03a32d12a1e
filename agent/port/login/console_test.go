package login

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/inbox"
	"posagent/agent/outbox"
	"posagent/agent/port/pages"
	"posagent/agent/records/audit"
	"posagent/agent/records/events"
	"posagent/agent/view"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// did is what a fake was asked to do, and by whom.
type did struct {
	list []string
	err  error
}

func (d *did) note(ctx context.Context, words ...string) error {
	a := audit.Of(ctx)
	d.list = append(d.list, fmt.Sprintf("%s %s %s: %s", a.Kind, a.Name, a.Address, strings.Join(words, " ")))
	return d.err
}

func (d *did) SendNow(ctx context.Context, k wire.Key) error { return d.note(ctx, "send", string(k)) }
func (d *did) SendAll(ctx context.Context) (int, error)      { return 7, d.note(ctx, "send all") }
func (d *did) Hold(ctx context.Context, k wire.Key, why string) error {
	return d.note(ctx, "hold", string(k), why)
}
func (d *did) Release(ctx context.Context, k wire.Key) error {
	return d.note(ctx, "release", string(k))
}
func (d *did) Resolve(ctx context.Context, k wire.Key, s outbox.State, why string) error {
	return d.note(ctx, "resolve", string(k), string(s), why)
}
func (d *did) Acknowledge(ctx context.Context, k wire.Key) error {
	return d.note(ctx, "ack", string(k))
}

// desk is a console over a journal with one operation that waits.
type desk struct {
	t       *testing.T
	c       *Console
	did     *did
	box     *outbox.Outbox
	tries   *kept
	pin     string // what is stored; "" = none
	key     wire.Key
	refused int
}

func newDesk(t *testing.T) *desk {
	db := storetest.Open(t, append(append(append(outbox.Schema(), inbox.Schema()...), events.Schema()...), inbox.BuildSchema()...)...)
	x := &desk{t: t, did: &did{}, tries: &kept{}, key: wire.NewKey(), pin: stored(t, pin).Text()}
	box := outbox.NewOutbox(outbox.Options{DB: db, Kinds: []outbox.Kind{{Name: "test", Send: func(context.Context, outbox.Op) outbox.Verdict { return outbox.Verdict{} }}}})
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return box.Accept(tx, outbox.New{Key: x.key, Kind: "test", Aggregate: "a", AmountMin: 3450, Currency: "EUR", Payload: []byte("card-canary")})
	}))
	x.box = box
	x.c = New(Options{
		PIN: func() (string, error) {
			if x.pin == "" {
				return "", fs.ErrNotExist
			}
			return x.pin, nil
		},
		Tries: x.tries, Ops: x.did, Refused: func(string) { x.refused++ },
		Daemon: &view.Daemon{DB: db, Outbox: box, Inbox: inbox.New(inbox.Options{DB: db}), Happened: events.New(events.Options{DB: db}), Now: time.Now, About: view.Status{Version: "test"}},
	})
	return x
}

// browser is what a browser shows.
type browser struct{ path, cookie, form string }

// enter logs in, and looks at the page.
func (x *desk) enter() browser {
	x.t.Helper()
	w := httptest.NewRecorder()
	require.Equal(x.t, pages.NoFault, x.c.Enter(w, httptest.NewRequestWithContext(x.t.Context(), "POST", "/", http.NoBody), pin))
	require.Equal(x.t, 303, w.Code)
	path := w.Header().Get("Location")
	require.Regexp(x.t, `^/person/[A-Z2-7]{26}/$`, path)
	require.Len(x.t, w.Header()["Set-Cookie"], 2)
	require.Regexp(x.t, `^posagent_known=`, w.Header()["Set-Cookie"][0])
	set := w.Header()["Set-Cookie"][1]
	require.Regexp(x.t, `^posagent_person=[A-Z2-7]{26}; Path=`+path+`; HttpOnly; SameSite=Strict$`, set)
	cookie, _, _ := strings.Cut(set, ";")
	b := browser{path: path, cookie: cookie}
	return x.look(b)
}

var formWord = regexp.MustCompile(`name="form" value="([A-Z2-7]{26})"`)

// look reads the page.
func (x *desk) look(b browser) browser {
	x.t.Helper()
	w := x.ask("GET", b, nil, nil)
	require.Equal(x.t, 200, w.Code, w.Body.String())
	found := formWord.FindStringSubmatch(w.Body.String())
	require.NotNil(x.t, found, w.Body.String())
	b.form = found[1]
	return b
}

// ask sends what a browser sends; "-" in head leaves out what it says otherwise.
func (x *desk) ask(method string, b browser, form url.Values, head map[string]string) *httptest.ResponseRecorder {
	x.t.Helper()
	path, body := b.path, ""
	if method == http.MethodPost {
		body = form.Encode()
	} else if form != nil {
		path += "?" + form.Encode()
	}
	r := httptest.NewRequestWithContext(x.t.Context(), method, path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4711"
	said := map[string]string{"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded", "Cookie": b.cookie}
	for k, v := range head {
		said[k] = v
	}
	for k, v := range said {
		if v != "-" && v != "" {
			r.Header.Set(k, v)
		}
	}
	w := httptest.NewRecorder()
	x.c.ServeHTTP(w, r)
	return w
}

// deeds are the forms of all deeds, and what each comes to.
func (x *desk) deeds() map[string]url.Values {
	k := string(x.key)
	return map[string]url.Values{
		"ack " + k: {"do": {"ack"}, "key": {k}}, "send " + k: {"do": {"send"}, "key": {k}}, "send all": {"do": {"send-all"}},
		"hold " + k + " why": {"do": {"hold"}, "key": {k}, "reason": {"why"}}, "release " + k: {"do": {"release"}, "key": {k}, "seen": {"PENDING/0"}},
		"resolve " + k + " DONE seen":   {"do": {"resolve"}, "key": {k}, "state": {"DONE"}, "reason": {"seen"}, "seen": {"PENDING/0"}, "sure": {"1"}},
		"resolve " + k + " FAILED seen": {"do": {"resolve"}, "key": {k}, "state": {"FAILED"}, "reason": {"seen"}, "seen": {"PENDING/0"}, "sure": {"1"}},
	}
}

// with is a form with the word of a page.
func with(form url.Values, word string) url.Values {
	all := url.Values{}
	for k, v := range form {
		all[k] = v
	}
	if word != "" {
		all.Set("form", word)
	}
	return all
}

// Each deed wants a session that is not over, its path, its cookie, the page's own form with a word that was not used, and a POST.
// With all of them it is done once, and its actor is a person at the page.
func TestWhoMayDoWhat(t *testing.T) {
	x := newDesk(t)
	post := func(b browser, form url.Values, head map[string]string) int { return x.ask("POST", b, form, head).Code }
	for what, form := range x.deeds() {
		for who, try := range map[string]func() int{
			"no login": func() int {
				return post(browser{path: "/person/AAAAAAAAAAAAAAAAAAAAAAAAAA/"}, with(form, "AAAAAAAAAAAAAAAAAAAAAAAAAA"), nil)
			},
			"the path alone": func() int {
				b := x.enter()
				return post(browser{path: b.path}, with(form, b.form), nil)
			},
			"the path and a cookie of another session": func() int {
				b, o := x.enter(), x.enter()
				return post(browser{path: b.path, cookie: o.cookie}, with(form, b.form), nil)
			},
			"the cookie at another path": func() int {
				b, o := x.enter(), x.enter()
				return post(browser{path: o.path, cookie: b.cookie}, with(form, o.form), nil)
			},
			"a login without a look for 10 minutes": func() int {
				b := x.enter()
				for _, s := range x.c.sessions.all {
					s.last = s.last.Add(-idle - time.Second)
				}
				return post(b, with(form, b.form), nil)
			},
			"a login of 2 hours": func() int {
				b := x.enter()
				for _, s := range x.c.sessions.all {
					s.began = s.began.Add(-longest - time.Second)
				}
				return post(b, with(form, b.form), nil)
			},
			"a login that was left": func() int {
				b := x.enter()
				require.Equal(t, 303, post(b, url.Values{"leave": {"1"}, "form": {b.form}}, nil))
				return post(b, with(form, b.form), nil)
			},
			"a login by a PIN that was changed": func() int {
				b, was := x.enter(), x.pin
				x.pin = stored(t, guess).Text()
				defer func() { x.pin = was }()
				return post(b, with(form, b.form), nil)
			},
			"a login by a PIN that is gone": func() int {
				b, was := x.enter(), x.pin
				x.pin = ""
				defer func() { x.pin = was }()
				return post(b, with(form, b.form), nil)
			},
			"no word":  func() int { return post(x.enter(), form, nil) },
			"any word": func() int { return post(x.enter(), with(form, "AAAAAAAAAAAAAAAAAAAAAAAAAA"), nil) },
			"a cookie's word": func() int {
				b := x.enter()
				return post(b, with(form, strings.TrimPrefix(b.cookie, cookieName+"=")), nil)
			},
			"another session's word": func() int {
				b, o := x.enter(), x.enter()
				return post(b, with(form, o.form), nil)
			},
			"a word that was used": func() int {
				b := x.enter()
				require.Equal(t, 400, post(b, url.Values{"do": {"none"}, "form": {b.form}}, nil))
				return post(b, with(form, b.form), nil)
			},
			"another site": func() int {
				b := x.enter()
				return post(b, with(form, b.form), map[string]string{"Sec-Fetch-Site": "cross-site"})
			},
			"another port": func() int {
				b := x.enter()
				return post(b, with(form, b.form), map[string]string{"Sec-Fetch-Site": "same-site"})
			},
			"no word of its site": func() int {
				b := x.enter()
				return post(b, with(form, b.form), map[string]string{"Sec-Fetch-Site": "-"})
			},
			"a text": func() int {
				b := x.enter()
				return post(b, with(form, b.form), map[string]string{"Content-Type": "text/plain"})
			},
			"PUT":  func() int { b := x.enter(); return x.ask("PUT", b, with(form, b.form), nil).Code },
			"HEAD": func() int { b := x.enter(); return x.ask("HEAD", b, with(form, b.form), nil).Code },
			"a page below the session": func() int {
				b := x.enter()
				return post(browser{path: b.path + "x/", cookie: b.cookie}, with(form, b.form), nil)
			},
		} {
			code := try()
			require.Contains(t, []int{400, 403, 405}, code, "%s by %s", what, who)
			require.Empty(t, x.did.list, "%s by %s", what, who)
		}
		b := x.enter()
		require.Equal(t, 200, x.ask("GET", b, with(form, b.form), nil).Code, "a GET is a look")
		require.Empty(t, x.did.list, what)

		require.Equal(t, 303, post(b, with(form, b.form), nil), what)
		require.Equal(t, []string{"person page 127.0.0.1: " + what}, x.did.list)
		require.Equal(t, 403, post(b, with(form, b.form), nil), "the same form again")
		require.Len(t, x.did.list, 1)
		x.did.list = nil
	}
	require.Zero(t, x.refused)
}

// What is missing in a form is asked for, and nothing is decided before it was shown again and meant.
func TestADecisionIsAskedFor(t *testing.T) {
	x := newDesk(t)
	k := string(x.key)
	for what, tc := range map[string]struct {
		form url.Values
		code int
		says string
	}{
		"a hold without a reason":      {url.Values{"do": {"hold"}, "key": {k}}, 400, "write why, for the next person"},
		"a hold with blanks":           {url.Values{"do": {"hold"}, "key": {k}, "reason": {" \t\r\n\u00a0"}}, 400, "write why, for the next person"},
		"a decision without a word":    {url.Values{"do": {"resolve"}, "key": {k}, "reason": {"seen"}, "seen": {"PENDING/0"}, "sure": {"1"}}, 400, "choose what the backend&#39;s books show"},
		"a decision for another state": {url.Values{"do": {"resolve"}, "key": {k}, "state": {"HELD"}, "reason": {"seen"}, "seen": {"PENDING/0"}, "sure": {"1"}}, 400, "choose what the backend&#39;s books show"},
		"a decision without a proof":   {url.Values{"do": {"resolve"}, "key": {k}, "state": {"DONE"}, "sure": {"1"}}, 400, "write the proof"},
		"a decision not yet confirmed": {url.Values{"do": {"resolve"}, "key": {k}, "state": {"FAILED"}, "reason": {"portal, M. Berg"}, "seen": {"PENDING/0"}}, 200, "This cannot be taken back."},
		"a deed that there is not":     {url.Values{"do": {"reset"}, "key": {k}}, 400, "no such form"},
		"no deed":                      {url.Values{}, 400, "no such form"},
	} {
		b := x.enter()
		w := x.ask("POST", b, with(tc.form, b.form), nil)
		require.Equal(t, tc.code, w.Code, what)
		require.Contains(t, w.Body.String(), tc.says, what)
		require.Empty(t, x.did.list, what)
		require.NotContains(t, w.Body.String(), "card-canary")
		if tc.code != 200 {
			continue
		}
		page := w.Body.String()
		require.Contains(t, page, `name="reason" value="portal, M. Berg"`)
		require.Contains(t, page, `name="state" value="FAILED"`)
		require.Contains(t, page, "Declined: the books do not show it")
		word := formWord.FindStringSubmatch(page)[1]
		require.Equal(t, 303, x.ask("POST", b, with(url.Values{"do": {"resolve"}, "key": {k}, "state": {"FAILED"}, "reason": {"portal, M. Berg"}, "seen": {"PENDING/0"}, "sure": {"1"}}, word), nil).Code)
		require.Equal(t, []string{"person page 127.0.0.1: resolve " + k + " FAILED portal, M. Berg"}, x.did.list)
		x.did.list = nil
	}
}

// A reason is one line of letters, whatever was sent.
func TestAReasonIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		"the shop closes": "the shop closes", " two\r\nlines\t ": "two lines", "a\x1b[2Jb\u202ec\u0000d": "a [2Jb c d", "\xff\xfe": "", strings.Repeat("ä", 500): strings.Repeat("ä", 400),
	} {
		require.Equal(t, want, plain(text))
	}
}

// A refusal says what the verb says, with its code; a failure keeps its text for the log. The result of a deed is said once.
func TestRefusalsAreSaid(t *testing.T) {
	x := newDesk(t)
	for err, tc := range map[error]struct {
		code       int
		says, hide string
	}{
		fmt.Errorf("operation k: %w: HELD", outbox.ErrState): {409, "not possible in this state: HELD", ""},
		outbox.ErrNoAlert:              {409, "no alert of this sale or operation", ""},
		outbox.ErrAltered:              {409, "altered", ""},
		errors.New("disk I/O secret"):  {500, "The terminal could not do it.", "secret"},
		&store.CutError{Why: "canary"}: {500, "The terminal could not do it.", "canary"},
	} {
		b := x.enter()
		x.did.err = err
		w := x.ask("POST", b, url.Values{"do": {"send"}, "key": {string(x.key)}, "form": {b.form}}, nil)
		require.Equal(t, tc.code, w.Code)
		require.Contains(t, w.Body.String(), tc.says)
		if tc.hide != "" {
			require.NotContains(t, w.Body.String(), tc.hide)
		}
		require.Contains(t, w.Body.String(), `role="alert"`)
	}
	x.did.err = nil
	b := x.enter()
	require.Equal(t, 303, x.ask("POST", b, url.Values{"do": {"send-all"}, "form": {b.form}}, nil).Code)
	require.Contains(t, x.ask("GET", b, nil, nil).Body.String(), `role="status" id="said">Everything that waits is being sent. Operations: 7`)
	require.NotContains(t, x.ask("GET", b, nil, nil).Body.String(), "Everything that waits is being sent.")
}

// The pages of the session: what waits with its deeds, the pages of single deeds, and the events, which load themselves again only
// where a person has chosen that, and keep no login alive.
func TestPagesOfASession(t *testing.T) {
	x := newDesk(t)
	b := x.enter()
	page := x.ask("GET", b, nil, nil).Body.String()
	require.Contains(t, page, "34.50 EUR")
	require.NotContains(t, page, "card-canary")
	require.Contains(t, page, `href="`+b.path+`?show=hold&amp;key=`+string(x.key)+`"`)
	for _, do := range []string{"hold", "release", "resolve"} {
		w := x.ask("GET", b, url.Values{"show": {do}, "key": {string(x.key)}}, nil)
		require.Equal(t, 200, w.Code)
		require.Contains(t, w.Body.String(), `name="do" value="`+do+`"`)
		w = x.ask("GET", b, url.Values{"show": {do}, "key": {"none"}}, nil)
		require.Equal(t, 404, w.Code)
		require.Contains(t, w.Body.String(), "no such operation")
	}
	w := x.ask("GET", b, url.Values{"show": {"events"}}, nil)
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Header().Get("Refresh"))
	w = x.ask("GET", b, url.Values{"show": {"events"}, "every": {"15"}}, nil)
	require.Equal(t, "15", w.Header().Get("Refresh"))
	for _, every := range []string{"1", "0", "-5", "15 ", "5;url=http://evil.example"} {
		require.Empty(t, x.ask("GET", b, url.Values{"show": {"events"}, "every": {every}}, nil).Header().Get("Refresh"), every)
	}
	last := func() (at time.Time) {
		for _, s := range x.c.sessions.all {
			at = s.last
		}
		return at
	}
	was := last()
	x.ask("GET", b, url.Values{"show": {"events"}, "every": {"5"}}, nil)
	require.Equal(t, was, last())
	x.ask("GET", b, url.Values{"show": {"events"}}, nil)
	require.NotEqual(t, was, last())

	w = x.ask("GET", browser{path: b.path}, nil, nil)
	require.Equal(t, 403, w.Code)
	require.Contains(t, w.Body.String(), "Your login has ended")
	require.NotContains(t, w.Body.String(), "34.50")
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
}

// A wrong PIN is told of, and leads nowhere.
func TestAWrongPINLeadsNowhere(t *testing.T) {
	x := newDesk(t)
	for _, text := range []string{guess, "", pin + "0", strings.Repeat("1", 5000)} {
		w := httptest.NewRecorder()
		require.Equal(t, pages.WrongPIN, x.c.Enter(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", http.NoBody), text))
		require.Empty(t, w.Header())
	}
	require.Equal(t, 4, x.refused)
	require.Empty(t, x.c.sessions.all)
	require.Equal(t, 4, x.tries.n)
}
