package person

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/pages"
)

const pin, guess = "482915", "739164"

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
	id, fault, err := l.enter(t.Context(), pin)
	require.NoError(t, err)
	require.Equal(t, fault == pages.NoFault, id != "")
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
			e, err := l.entry()
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
		all.Go(func() { _, _, _ = l.enter(t.Context(), guess) }) // what it comes to is counted
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
		e, err := l.entry()
		require.NoError(t, err)
		require.Zero(t, e.Wait)
		require.Equal(t, pages.NoFault, l.try(t, guess), "a new PIN has no tries")
	})
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
		id, fault, err := newLogin(&p, tries).enter(t.Context(), pin)
		require.ErrorContains(t, err, what)
		require.Equal(t, pages.UncountedPIN, fault)
		require.Empty(t, id)
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
			id, fault, _ := l.enter(t.Context(), text)
			require.Equal(t, tc.fault, fault)
			require.Empty(t, id)
		}
		require.Zero(t, tries.n)
		e, _ := l.entry()
		require.Equal(t, tc.state, e.State)
	}
	require.False(t, PIN{}.is(""), "the zero value is no PIN's")
}
