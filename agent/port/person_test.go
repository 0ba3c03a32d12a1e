package port_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/port"
	"posagent/agent/port/pages"
	"posagent/agent/view"
)

// visitor stands in for what persons do: it notes what reaches it.
type visitor struct {
	mu      sync.Mutex
	knows   bool
	fault   pages.Fault
	entered []string
	served  []string
}

func (v *visitor) Entry(*http.Request) pages.Entry {
	return pages.Entry{State: pages.AsksPIN, Wait: 90 * time.Second}
}

func (v *visitor) Enter(w http.ResponseWriter, _ *http.Request, pin string) pages.Fault {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.entered = append(v.entered, pin)
	if v.fault == pages.NoFault {
		w.Header().Set("Location", port.PersonPath+"W/")
		w.WriteHeader(http.StatusSeeOther)
	}
	return v.fault
}

func (v *visitor) Knows(*http.Request) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.knows
}

func (v *visitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.served = append(v.served, r.Method+" "+r.URL.Path)
	if !v.knows {
		w.WriteHeader(http.StatusForbidden)
	}
}

// answers sets what becomes of a PIN.
func (v *visitor) answers(fault pages.Fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fault = fault
}

// seen is what has reached it, and forgets that.
func (v *visitor) seen() (list []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	list, v.served, v.entered = append(v.entered, v.served...), nil, nil
	return list
}

// personRig is a port at which persons may log in.
func personRig(t *testing.T, v *visitor) *rig {
	x := start(t, true)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o := port.Options{
		Listener: ln, Live: func() error { return nil }, Ready: func() error { return nil }, Token: token,
		House: &view.Daemon{DB: x.db, Outbox: x.outbox, Inbox: x.inbox, Happened: x.happened, Now: time.Now, About: view.Status{Running: true, Version: "test"}},
	}
	if v != nil {
		o.Person = v
	}
	p := port.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return &rig{t: t, addr: "http://" + p.Addr()}
}

// Another page can neither read, frame, lead to nor send to the pages of a person, whose login is good; nor does a program that
// sends no word of its site, or a method that changes nothing.
func TestThePersonsPagesAreClosedToOtherPages(t *testing.T) {
	v := &visitor{knows: true}
	x := personRig(t, v)
	_, number, err := net.SplitHostPort(strings.TrimPrefix(x.addr, "http://"))
	require.NoError(t, err)
	const path = "/person/AAAAAAAAAAAAAAAAAAAAAAAAAA/"
	for what, head := range map[string]map[string]string{
		"a link of another site":       {"Sec-Fetch-Site": "cross-site"},
		"a page of another port":       {"Sec-Fetch-Site": "same-site"},
		"a frame":                      {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "iframe"},
		"an image":                     {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors"},
		"a script's fetch":             {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
		"an origin":                    {"Sec-Fetch-Site": "-", "Origin": "http://evil.example"},
		"the port's own origin":        {"Sec-Fetch-Site": "-", "Origin": x.addr},
		"a referer":                    {"Sec-Fetch-Site": "-", "Referer": "http://evil.example/"},
		"a name that was rebound":      {"Sec-Fetch-Site": "-", "Sec-Fetch-Mode": "-", "Sec-Fetch-Dest": "-", "Host": "evil.example:" + number},
		"another port of this machine": {"Host": "127.0.0.1:1"},
	} {
		require.Equal(t, 403, x.browseAt(path, "GET", "", "", head).status, what)
	}
	for what, head := range map[string]map[string]string{
		"a form of another site":      {"Sec-Fetch-Site": "cross-site"},
		"a form of another port":      {"Sec-Fetch-Site": "same-site"},
		"a browser that does not say": {"Sec-Fetch-Site": "-"},
		"two words of its site":       {"Sec-Fetch-Site": "same-origin, cross-site"},
		"another origin":              {"Origin": "http://evil.example"},
		"a form in a frame":           {"Sec-Fetch-Dest": "iframe"},
		"a script":                    {"Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors"},
		"a name that was rebound":     {"Host": "evil.example:" + number},
	} {
		require.Equal(t, 403, x.browseAt(path, "POST", "", "do=send-all", head).status, what)
		require.Equal(t, 403, x.browseAt("/", "POST", "", "pin=482915", head).status, what)
	}
	for _, method := range []string{"POST", "PUT", "HEAD", "DELETE"} {
		require.Equal(t, 405, x.ask(method, path, bearer, "application/x-www-form-urlencoded", "do=send-all").status, "a program")
	}
	require.Empty(t, v.seen())
	require.Equal(t, 200, x.browseAt(path, "GET", "", "", nil).status)
	require.Equal(t, 200, x.browseAt(path, "GET", "", "", map[string]string{"Sec-Fetch-Site": "same-origin"}).status)
	require.Equal(t, 200, x.browseAt(path, "POST", "", "do=send-all", nil).status)
	require.Equal(t, []string{"GET " + path, "GET " + path, "POST " + path}, v.seen())
}

// The door takes a PIN where persons may log in, and says what became of it. A token is not taken for a PIN, nor a PIN for a token.
func TestThePINAtTheDoor(t *testing.T) {
	v := &visitor{}
	x := personRig(t, v)
	require.Contains(t, x.browse("GET", "", "", nil).body, `name="pin"`)
	for fault, tc := range map[pages.Fault]struct {
		status int
		says   string
	}{
		pages.NoFault: {303, ""}, pages.WrongPIN: {403, "This is not the PIN"}, pages.ManyPINs: {429, "Too many wrong PINs"},
		pages.UncountedPIN: {503, "cannot be written to the journal"},
	} {
		v.answers(fault)
		r := x.browse("POST", "", "pin=482915", nil)
		require.Equal(t, tc.status, r.status)
		require.Contains(t, r.body, tc.says)
		require.NotContains(t, r.body, "482915")
		require.Equal(t, []string{"482915"}, v.seen())
		if fault == pages.ManyPINs {
			require.Equal(t, "91", r.header.Get("Retry-After"))
		}
	}
	require.Equal(t, 403, x.browse("POST", "", "token=482915", nil).status)
	require.Empty(t, v.seen())

	x = personRig(t, nil)
	r := x.browse("GET", "", "", nil)
	require.NotContains(t, r.body, `name="pin"`)
	require.Contains(t, r.body, "No PIN is set")
	require.Equal(t, 403, x.browse("POST", "", "pin="+token, nil).status)
	require.Equal(t, 404, x.ask("GET", "/person/W/", bearer, "", "").status)
}

// A client's visit shows the events, and loads them again only where that was chosen.
func TestEventsForPeople(t *testing.T) {
	x := pageRig(t, nil)
	cookie := x.enter(token)
	r := x.browseAt("/?show=events", "GET", cookie, "", nil)
	require.Equal(t, 200, r.status)
	require.Empty(t, r.header.Get("Refresh"))
	require.Contains(t, r.body, "operation.accepted")
	require.Contains(t, r.body, "34.50")
	require.NotContains(t, r.body, "card-canary")
	require.Equal(t, "5", x.browseAt("/?show=events&every=5", "GET", cookie, "", nil).header.Get("Refresh"))
	r = x.browseAt("/?show=events", "GET", x.enter(kiosk), "", nil)
	require.Contains(t, r.body, "34.50")
	require.NotContains(t, r.body, "9.99")
	require.NotContains(t, x.browseAt("/?show=events", "GET", "", "", nil).body, "operation.accepted", "a stranger sees the door")
}
