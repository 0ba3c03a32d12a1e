package port

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/view"
)

// A visit ends a quarter of an hour after the last look, after 8 hours in any case, and when it is left.
func TestVisitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s visits
		c := &client{}
		begin := func() string {
			id, locked := s.enter(func() *client { return c })
			require.False(t, locked)
			require.Len(t, id, 26)
			return id
		}
		id := begin()
		require.Same(t, c, s.of(id, true))
		require.Nil(t, s.of("", true))
		require.Nil(t, s.of(id+"A", true))
		time.Sleep(15 * time.Minute)
		require.Same(t, c, s.of(id, true))
		time.Sleep(15*time.Minute + time.Second)
		require.Nil(t, s.of(id, true), "nobody looked")
		id = begin()
		for range 8*60/10 - 1 {
			time.Sleep(10 * time.Minute)
			require.Same(t, c, s.of(id, true))
		}
		time.Sleep(10*time.Minute + time.Second)
		require.Nil(t, s.of(id, true), "8 hours")
		id = begin()
		for range 3 {
			time.Sleep(6 * time.Minute)
			_ = s.of(id, false)
		}
		require.Nil(t, s.of(id, true), "a page that loads itself again is no look")
		id = begin()
		s.leave(id)
		require.Nil(t, s.of(id, true))
		first := begin()
		for range 16 {
			time.Sleep(time.Second)
			begin()
		}
		require.Nil(t, s.of(first, true), "the one that was not used for longest makes room")
		require.Len(t, s.all, 16)
	})
}

// After five wrong tokens in a row a stranger waits for a minute. A good one is taken at once, and ends the row: any program on the box
// shut the merchant out of the page (MONEY E.5). The kind: the lock-outs of the local port; the line's passwords and the fleet's codes
// have tests of their own, and the PIN, which can be guessed, stays locked.
func TestField4_WrongTokensShutNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s visits
		c := &client{}
		good, bad := func() *client { return c }, func() *client { return nil }
		enter := func(find func() *client) string {
			id, locked := s.enter(find)
			switch {
			case locked:
				return "locked"
			case id == "":
				return "wrong"
			}
			return "in"
		}
		before, _ := s.enter(good)
		for range 4 {
			require.Equal(t, "wrong", enter(bad))
		}
		require.Equal(t, "in", enter(good), "a good one ends the row")
		for range 5 {
			require.Equal(t, "wrong", enter(bad))
		}
		for range 100 {
			require.Equal(t, "locked", enter(bad))
		}
		time.Sleep(time.Minute)
		require.Equal(t, "locked", enter(bad))
		require.Same(t, c, s.of(before, true))
		time.Sleep(time.Second)
		require.Equal(t, "wrong", enter(bad), "tries while it is locked do not lock it longer")
		for range 5 {
			enter(bad)
		}
		require.Equal(t, "locked", enter(bad))
		require.Equal(t, "in", enter(good))
		require.Equal(t, "wrong", enter(bad))
	})
}

// Strangers at the page wait for their turn; a visit's browser does not.
func TestThePageHasThePaceOfStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{auth: &auth{clients: newClients("token", nil, 0, 0), conns: newLimiter(nil, 1)}, ready: func() error { return nil }, cookie: "c", daemon: &view.Daemon{}}
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		ctx := withSlot(withThrottle(newThrottle(1, 1)), &slot{Conn: near})
		ask := func(method, body string) (status int, took time.Duration) {
			r := httptest.NewRequest(method, "/", strings.NewReader(body)).WithContext(ctx)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Header.Set("Content-Type", formBody)
			w, began := httptest.NewRecorder(), time.Now()
			selfProving(http.HandlerFunc(p.serve)).ServeHTTP(w, r)
			return w.Code, time.Since(began)
		}
		for i, tc := range []struct {
			method, body string
			status       int
		}{{"GET", "", 200}, {"GET", "", 200}, {"POST", "token=wrong", 403}, {"HEAD", "", 405}, {"GET", "", 200}} {
			status, took := ask(tc.method, tc.body)
			require.Equal(t, tc.status, status, fmt.Sprint(i))
			if i > 0 {
				require.Equal(t, time.Second, took, fmt.Sprint(i))
			}
		}
		status, took := ask("POST", "token=token")
		require.Equal(t, 303, status)
		require.Zero(t, took)
	})
}
