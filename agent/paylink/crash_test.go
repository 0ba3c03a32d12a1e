package paylink_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/cross/need"
	"posagent/ecr"
	"posagent/schemes/paylinks"
	"posagent/store"
)

// story is one sale seen from the register and the customer. It ends early when the power fails.
type story struct {
	pays     time.Duration // after the sale began, what was scanned before; 0 = never
	thinks   time.Duration // the provider
	abort    time.Duration // 06 B0 after the beginning; 0 = none
	delivery ecr.Delivery
	careless bool
}

var stories = map[string]story{
	"paid":              {pays: 3 * time.Second, delivery: ecr.Told},
	"paid, told badly":  {pays: 3 * time.Second, delivery: ecr.Refused},
	"never paid":        {delivery: ecr.Told},
	"aborted":           {abort: 6 * time.Second, delivery: ecr.Told},
	"aborted in vain":   {pays: 5900 * time.Millisecond, abort: 6 * time.Second, delivery: ecr.Told},
	"paid meanwhile":    {pays: 5 * time.Second, thinks: 20 * time.Second, abort: 7 * time.Second, delivery: ecr.Told},
	"paid late":         {pays: 40 * time.Second, abort: 20 * time.Second, delivery: ecr.Told},
	"careless deletion": {pays: 5 * time.Second, thinks: 20 * time.Second, abort: 7 * time.Second, delivery: ecr.Told, careless: true},
}

// play lets it happen as far as the power lasts; it returns what the register acknowledged.
func (r *rig) play(x story, dark <-chan struct{}) ecr.Result {
	r.bank.careless = x.careless
	if x.pays > 0 {
		go r.customer(x)
	}
	s, err := r.Ask(ecr.Request{Amount: 500})
	if err != nil {
		return ""
	}
	if x.abort > 0 {
		select {
		case <-time.After(x.abort):
			_ = r.Abort(context.Background(), s.ID) // it may be dark
		case <-dark:
			return ""
		}
	}
	select {
	case o := <-s.Outcome:
		if _, err := r.Delivered(context.Background(), s.ID, x.delivery); err != nil || x.delivery != ecr.Told {
			return ""
		}
		select { // the undo goes on
		case <-time.After(3 * time.Minute):
		case <-dark:
		}
		return o.Result
	case <-dark:
	case <-time.After(5 * time.Minute):
	}
	return ""
}

// customer scans the code when it comes up, and pays whatever becomes of the terminal meanwhile.
func (r *rig) customer(x story) {
	var scanned *page
	r.screen.mu.Lock()
	r.screen.seen = func() {
		r.bank.lock(func() { scanned = r.bank.links[len(r.bank.links)-1] })
	}
	r.screen.mu.Unlock()
	rest(x.pays)
	var paying *paylinks.Transaction
	r.bank.lock(func() {
		if scanned != nil {
			paying = r.bank.begin(scanned)
		}
	})
	if paying != nil {
		rest(x.thinks)
		r.bank.lock(func() { r.bank.end(paying, paylinks.Confirmed) })
	}
}

// judge compares what the register knows with where the money is.
func (r *rig) judge(x story, told ecr.Result) {
	r.t.Helper()
	s, o, any := r.last()
	if any {
		if told == ecr.Approved || told == ecr.Declined {
			require.Equal(r.t, told, o.Result, "the same answer")
		}
		_, err := r.Delivered(context.Background(), s.ID, ecr.Told)
		require.NoError(r.t, err)
		told = o.Result
	}
	r.settle()
	if any {
		require.False(r.t, checkout.Owed(r.row(s.ID).State))
	}
	want := int64(0)
	if told == ecr.Approved {
		want = 500
	}
	require.Equal(r.t, want, r.bank.net(), "told %q", told)
	for _, p := range r.bank.links {
		live := !p.deleted && p.Status == paylinks.Waiting
		require.False(r.t, live && r.journalled(p.ID), "a link that was shown can still be paid")
	}
}

// journalled says whether the terminal knows a link: only those can have been shown.
func (r *rig) journalled(link int64) (known bool) {
	r.t.Helper()
	require.NoError(r.t, r.DB.Read(context.Background(), func(rd store.Reader) error {
		return rd.QueryRow(`SELECT EXISTS (SELECT 1 FROM paylink_entries WHERE link = ?)`, link).Scan(&known)
	}))
	return known
}

// The power fails at every write of the journal, and before and after every call of the service; then the terminal starts again
// in the same boot or in a new one. It was told approved if and only if the money moved once.
func TestCrashAtEveryBoundary(t *testing.T) {
	const boundaries = 10
	share := need.Size(3, 1) // each story at every third boundary, the stories at different ones
	for name, x := range stories {
		for step := range 3 * boundaries {
			kind, n := step%3, step/3
			if (n+kind+len(name))%share != 0 {
				continue
			}
			newBoot := (n+len(name))%2 == 0 // half of them each
			t.Run(fmt.Sprintf("%s/%d.%d/%v", name, kind, n, newBoot), func(t *testing.T) {
				terminal(t, func(r *rig) {
					dark := make(chan struct{})
					calls := 0
					fail := func(string) error {
						r.bank.mu.Lock()
						defer r.bank.mu.Unlock()
						if calls++; calls == n+1 {
							r.guard.cut(0)
							close(dark)
						}
						if calls > n {
							return errLost
						}
						return nil
					}
					switch kind {
					case 0:
						r.guard.cut(n)
						time.AfterFunc(20*time.Minute, func() { close(dark) })
					case 1:
						r.bank.spoil(fail, nil)
					case 2:
						r.bank.spoil(nil, fail)
					}
					told := r.play(x, dark)
					r.bank.spoil(nil, nil)
					r.Restart(newBoot)
					pass(time.Minute) // the customer's
					r.judge(x, told)
				})
			})
		}
	}
}
