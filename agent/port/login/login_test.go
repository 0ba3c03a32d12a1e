package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/port/pages"
)

const pin, guess = "482915", "739164"

// here is a visitor.
func here() visitor { return visitor{address: "192.0.2.1"} }

// kept keeps tries in memory, as a journal does over restarts.
type kept struct {
	pin   string
	n     int
	right int // logins that were noted
	full  error
}

func (k *kept) Made(_ context.Context, pin string) (int, error) {
	if k.pin != pin {
		return 0, k.full
	}
	return k.n, k.full
}

func (k *kept) Count(_ context.Context, pin string) (int, error) {
	if k.full != nil {
		return 0, k.full
	}
	if k.pin != pin {
		k.pin, k.n = pin, 0
	}
	k.n++
	return k.n, nil
}

func (k *kept) Right(_ context.Context, pin string) error {
	if k.full != nil {
		return k.full
	}
	k.pin, k.n, k.right = pin, 0, k.right+1
	return nil
}

// stored makes what is stored of a PIN, without the rounds that a test would wait for.
func stored(t *testing.T, pin string) PIN {
	p, err := Keep(pin)
	require.NoError(t, err)
	p.rounds = 1
	p.hash, err = slow(pin, p.salt, 1)
	require.NoError(t, err)
	return p
}

func newLogin(p *PIN, tries Tries) *login {
	return &login{stored: func() (PIN, error) { return *p, nil }, tries: tries, began: time.Now()}
}

func (l *login) try(t *testing.T, pin string) pages.Fault {
	return l.tryFrom(t, here(), pin)
}

func (l *login) tryFrom(t *testing.T, v visitor, pin string) pages.Fault {
	stored, fault, err := l.enter(t.Context(), v, pin)
	require.NoError(t, err)
	require.Equal(t, fault == pages.NoFault, stored.rounds != 0)
	return fault
}

// After five wrong PINs in a row none is looked at for a minute, then for twice as long after each further one, for an hour at most.
// A try while it is locked is not counted, and the right PIN ends the row.
func TestTheLockGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tries := stored(t, pin), &kept{}
		l := newLogin(&p, tries)
		for range 4 {
			require.Equal(t, pages.WrongPIN, l.try(t, guess))
		}
		require.Equal(t, pages.NoFault, l.try(t, pin))
		for range 5 {
			require.Equal(t, pages.WrongPIN, l.try(t, guess))
		}
		for _, wait := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
			wait *= time.Minute
			made := tries.n
			for range 20 {
				require.Equal(t, pages.ManyPINs, l.try(t, pin), "not even the right one is looked at")
			}
			require.Equal(t, made, tries.n)
			e, err := l.entry(here())
			require.NoError(t, err)
			require.Equal(t, pages.Entry{State: pages.AsksPIN, Wait: wait}, e)
			time.Sleep(wait - time.Nanosecond)
			require.Equal(t, pages.ManyPINs, l.try(t, pin))
			time.Sleep(time.Nanosecond)
			require.Equal(t, pages.WrongPIN, l.try(t, guess), wait)
		}
		time.Sleep(time.Hour)
		require.Equal(t, pages.NoFault, l.try(t, pin))
		require.Equal(t, 2, tries.right, "each login is noted")
		require.Equal(t, pages.WrongPIN, l.try(t, guess))
		require.Equal(t, pages.NoFault, l.try(t, pin), "the row begins anew")
	})
}

// Many at once have no more tries than one after the other.
func TestGuessesAtOnce(t *testing.T) {
	p, tries := stored(t, pin), &kept{}
	l := newLogin(&p, tries)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { _, _, _ = l.enter(t.Context(), here(), guess) }) // what it comes to is counted
	}
	all.Wait()
	require.Equal(t, freeTries, tries.n)
	require.Equal(t, pages.ManyPINs, l.try(t, pin))
}

// A restart does not end the lock: it begins anew, because how long the box was off is not known.
func TestTheLockSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tries := stored(t, pin), &kept{}
		l := newLogin(&p, tries)
		for range 5 {
			l.try(t, guess)
		}
		time.Sleep(time.Minute)
		require.Equal(t, pages.WrongPIN, l.try(t, guess)) // now 2 minutes
		l = newLogin(&p, tries)
		require.Equal(t, pages.ManyPINs, l.try(t, pin))
		time.Sleep(2*time.Minute - time.Nanosecond)
		require.Equal(t, pages.ManyPINs, l.try(t, pin))
		time.Sleep(time.Nanosecond)
		require.Equal(t, pages.NoFault, l.try(t, pin))
		l = newLogin(&p, tries)
		require.Equal(t, pages.WrongPIN, l.try(t, guess), "a restart after the right one has no lock")

		for range 9 {
			l.try(t, guess)
		}
		p = stored(t, guess) // the PIN is changed at the command line
		e, err := l.entry(here())
		require.NoError(t, err)
		require.Zero(t, e.Wait)
		require.Equal(t, pages.NoFault, l.try(t, guess), "a new PIN has no tries")
	})
}

// TestField2_G5NoStrangerLocksThePersonOut: wrong PINs lock the address that they come from. The right one is taken from another address,
// and in a browser in which it was entered before, whatever address the wrong ones come from and however many addresses they have.
// A known browser that guesses is locked as an address is. After a restart an address has no tries for nothing.
func TestField2_G5NoStrangerLocksThePersonOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, tries := stored(t, pin), &kept{}
		l := newLogin(&p, tries)
		stranger, other, known := here(), visitor{address: "192.0.2.2"}, visitor{browser: "w", address: "192.0.2.1"}
		lock := func(v visitor) {
			for range 5 {
				require.Equal(t, pages.WrongPIN, l.tryFrom(t, v, guess))
			}
			require.Equal(t, pages.ManyPINs, l.tryFrom(t, v, pin))
		}
		lock(stranger)
		require.Equal(t, pages.NoFault, l.tryFrom(t, other, pin))
		require.Equal(t, pages.NoFault, l.tryFrom(t, known, pin))
		require.Equal(t, pages.ManyPINs, l.tryFrom(t, stranger, pin), "the logins of others end no lock")
		for n := range 10 {
			lock(visitor{address: fmt.Sprint("198.51.100.", n)})
		}
		require.Equal(t, pages.ManyPINs, l.tryFrom(t, other, pin), "fifty of all addresses lock all of them")
		require.Equal(t, pages.NoFault, l.tryFrom(t, known, pin))
		require.Equal(t, pages.NoFault, l.tryFrom(t, other, pin), "the row of all has ended")

		lock(known)
		require.Equal(t, pages.NoFault, l.tryFrom(t, visitor{browser: "x", address: "192.0.2.1"}, pin))
		for range 7 {
			require.Equal(t, pages.WrongPIN, l.tryFrom(t, visitor{browser: rand.Text()}, guess))
		}
		l = newLogin(&p, tries)
		require.Equal(t, pages.ManyPINs, l.tryFrom(t, other, pin), "a restart gives no address five tries more")
		require.Equal(t, pages.NoFault, l.tryFrom(t, visitor{browser: "x"}, pin))
	})
}

// TestField2_G5ABrowserIsKnownByThePIN: a login makes the browser known, over restarts and until the PIN is another one. A made-up word is
// no known browser's, and the cookie alone opens nothing.
func TestField2_G5ABrowserIsKnownByThePIN(t *testing.T) {
	p := stored(t, pin)
	w := httptest.NewRecorder()
	p.setKnown(w, "")
	cookie := w.Result().Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	from := func(p PIN, value, remote string) visitor {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", http.NoBody)
		r.RemoteAddr = remote
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
		return p.visitorOf(r)
	}
	again, err := Parse(p.Text())
	require.NoError(t, err)
	word, proof, _ := strings.Cut(cookie.Value, ".")
	require.Equal(t, visitor{browser: word, address: "loopback"}, from(again, cookie.Value, "127.8.9.1:3"))
	require.NotContains(t, cookie.Value, pin)
	for _, value := range []string{"", ".", word, word + ".", "x." + proof, word + "." + proof[:8]} {
		require.Equal(t, visitor{address: "192.0.2.9"}, from(p, value, "192.0.2.9:3"), value)
	}
	require.Equal(t, visitor{address: "2001:db8::/64"}, from(stored(t, pin), cookie.Value, "[2001:db8::7]:3"), "the same PIN set anew is another one")
	require.Empty(t, from(PIN{}, "w."+PIN{}.proof("w"), "192.0.2.9:3").browser, "no PIN knows no browser")
}

// onlyNotes cannot count a try, onlyCounts cannot note a login.
type (
	onlyNotes  struct{ kept }
	onlyCounts struct{ kept }
)

func (*onlyNotes) Count(context.Context, string) (int, error) { return 0, errors.New("not counted") }
func (*onlyCounts) Right(context.Context, string) error       { return errors.New("not noted") }

// A try is counted durably before the PIN is looked at, and a login is noted before it counts. Where that is not possible the right
// PIN lets nobody in.
func TestATryIsCountedFirst(t *testing.T) {
	p := stored(t, pin)
	for what, tries := range map[string]Tries{"not counted": &onlyNotes{}, "not noted": &onlyCounts{}, "disk full": &kept{full: errors.New("disk full")}} {
		got, fault, err := newLogin(&p, tries).enter(t.Context(), here(), pin)
		require.ErrorContains(t, err, what)
		require.Equal(t, pages.UncountedPIN, fault)
		require.Equal(t, PIN{}, got)
	}
}

// Without a PIN, and with one that cannot be read, there is no login, whatever is entered.
func TestNoPINNoLogin(t *testing.T) {
	for _, tc := range []struct {
		err   error
		fault pages.Fault
		state pages.State
	}{{fs.ErrNotExist, pages.UnsetPIN, pages.NoPIN}, {errors.New("spoilt"), pages.UnreadPIN, pages.BrokenPIN}} {
		tries := &kept{}
		l := &login{stored: func() (PIN, error) { return PIN{}, tc.err }, tries: tries, began: time.Now()}
		for _, text := range []string{"", pin} {
			got, fault, _ := l.enter(t.Context(), here(), text)
			require.Equal(t, tc.fault, fault)
			require.Equal(t, PIN{}, got)
		}
		require.Zero(t, tries.n)
		e, _ := l.entry(here())
		require.Equal(t, tc.state, e.State)
	}
	require.False(t, PIN{}.is(""), "the zero value is no PIN's")
}
