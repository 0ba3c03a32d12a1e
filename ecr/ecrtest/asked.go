package ecrtest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr/ecrtest/desk"
)

// sameAfterRestart: an id that a terminal has sold under before it started again is the same sale,
// and no other.
func sameAfterRestart(r *rig) {
	if !r.f.Can.IDs || !r.f.Can.Repeats {
		r.t.Log("the protocol has no ids that hold over connections")
		return
	}
	l := r.line("one")
	r.hears(Approved, 1250, r.pay(l.register("1"), 1250, "7"), "the sale")
	r.settle()
	l.stop()
	till := r.line("one").register("1")
	r.hears(Approved, 1250, r.pay(till, 1250, "7"), "the same again")
	r.hears(Refused, 0, r.pay(till, 1300, "7"), "another body under its id")
	r.settle()
	require.Equal(r.t, 1, r.begun())
	require.True(r.t, r.told(1))
}

// wait lets a minute pass, in which everything that is on its way arrives.
func (r *rig) wait() {
	<-time.After(time.Minute)
	synctest.Wait()
}

// askedAtEveryByte cuts the line after every byte of a sale, in either direction, and lets the
// register ask by the id what became of it. It hears in every case what is true: the outcome, that
// it runs, or that there is no such sale. Of a sale that it was told not to be there, nothing is
// begun.
func askedAtEveryByte(t *testing.T, f Fixture, kind Kind) {
	bytes, can := 0, false
	inTime(t, f, kind, func(r *rig) {
		l := r.line("one")
		till := l.register("1")
		if _, can = till.(Asker); !can {
			return
		}
		l.wire.cutAfter(1 << 30)
		r.hears(Approved, 1250, r.pay(till, 1250, "7"), "no cut")
		synctest.Wait()
		bytes = l.wire.mend()
	})
	if !can {
		t.Log("the protocol does not ask by id")
		return
	}
	require.Greater(t, bytes, 10)
	outcomes := map[Said]int{}
	all := cuts(bytes)
	for i := range 2 * len(all) {
		n, amount := all[i%len(all)], int64(1250)
		if i >= len(all) {
			amount = desk.StaysOpen
		}
		inTime(t, f, kind, func(r *rig) {
			l := r.line("one")
			till := l.register("1")
			l.wire.cutAfter(n)
			first := r.pay(till, amount, "7")
			l.wire.mend()
			ask := l.register("1").(Asker).Ask // at once: what the cut line has carried may not be taken up yet
			got, err := ask(r.ctx, "7")
			r.desk.Mu.Lock()
			at := fmt.Sprintf("cut after %d of %d bytes; it heard %+v, the desk %v", n, bytes, first, r.desk.Log)
			r.desk.Mu.Unlock()
			require.NoError(t, err, at)
			r.wait()
			want := NotFound
			switch {
			case r.begun() == 0:
				amount = 0
			case amount == desk.StaysOpen:
				want, amount = Running, 0
			default:
				want = Approved
			}
			require.Equal(t, Answer{want, minor(amount)}, got, at)
			outcomes[want]++
			if want == Running {
				r.desk.Approve()
				got, err = ask(r.ctx, "7")
				require.NoError(t, err, at)
				require.Equal(t, Answer{Approved, desk.StaysOpen}, got, at)
			}
			r.wait()
			require.Equal(t, want != NotFound, r.begun() == 1, at)
			require.Equal(t, want != NotFound, r.told(1), at)
		})
	}
	t.Logf("%d cuts: %v", 2*len(all), outcomes)
	require.Len(t, outcomes, 3)
}

// askedWhileItIsTaken: the terminal's disk hangs while a request is stored, its connection is lost, and the
// register asks by the id what became of it. It does not hear that there is no such sale: it is begun then.
func askedWhileItIsTaken(r *rig) {
	l := r.line("one")
	till := l.register("1")
	if _, can := till.(Asker); !can {
		r.t.Log("the protocol does not ask by id")
		return
	}
	r.desk.Slow = 8 * time.Second
	first := make(chan answer, 1)
	go func() { first <- r.pay(till, desk.StaysOpen, "7") }()
	<-time.After(time.Second)
	r.cut(l)
	require.False(r.t, (<-first).heard)
	l.wire.mend()
	got, err := l.register("1").(Asker).Ask(r.ctx, "7")
	require.NoError(r.t, err)
	r.wait()
	require.Equal(r.t, 1, r.begun())
	require.Equal(r.t, Answer{Said: Running}, got)
}
