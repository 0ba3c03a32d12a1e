package torture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"posagent/ecr/till"
)

// errNoLength: there is nothing to cut.
var errNoLength = errors.New("the length of the message is not known")

// settled judges the answer to a sale whose end the register did not hear: approved or not, but definite, and as the terminal
// counts. accepted = the terminal has taken the request.
func (b *bench) settled(ctx context.Context, id string, accepted bool) (till.Answer, error) {
	a, err := b.again(ctx, "1", id)
	switch {
	case err != nil:
		return a, err
	case !b.p.Can.IDs && a.Said == till.Approved && a.Receipt != 0 && a.Receipt == b.last:
		a = till.Answer{Said: till.NotFound} // that was the sale before
	case a.Said == till.Approved && a.Amount != b.o.Amount:
		return a, wrong("asked again, %d minor units are approved in place of %d", a.Amount, b.o.Amount)
	}
	if accepted && a.Said == till.NotFound {
		return a, wrong("the terminal has taken the sale, and asked again it knows none")
	}
	if a.Said == till.Approved {
		b.last = a.Receipt
	}
	return a, nil
}

// next makes the till's next sale, in a protocol that has no question about the one before. The terminal has to be free for it within
// the time of an answer.
func (b *bench) next(ctx context.Context) error {
	for until := time.Now().Add(b.o.Wait); ; {
		t, _, err := b.till(ctx, "1", nil)
		if err != nil {
			return wrong("after a sale that was lost the terminal speaks to no register: %v", err)
		}
		a, err := b.approved(ctx, t, b.id())
		_ = t.Close()
		var f fault
		switch {
		case err == nil, errors.As(err, &f), b.atLimit():
			return err
		case a.Said != till.Refused && a.Said != till.Busy || time.Now().After(until):
			return wrong("after a sale that was lost, the next one is no sale: %v", err)
		}
		if err := till.Pause(ctx); err != nil {
			return err
		}
	}
}

// resolved finds out what became of a sale whose end the register did not hear, and how many sales the terminal has to count then. A
// till that cannot ask makes its next sale: the one before must not stay.
func (b *bench) resolved(ctx context.Context, id string, accepted bool) (saw string, want int, err error) {
	if !b.p.Can.Asks {
		return "the next sale is approved", 1, b.next(ctx)
	}
	a, err := b.settled(ctx, id, accepted)
	if a.Said == till.Approved {
		want = 1
	}
	return string(a.Said), want, err
}

func lostConnection(ctx context.Context, b *bench) (string, int, error) {
	_, id, err := b.during(ctx, func(t till.Till, _ *wire, _ string) error {
		_ = t.Close()
		return nil
	})
	if id == "" || err == nil {
		return "", 0, fmt.Errorf("the sale was not lost: %v", err)
	}
	return b.resolved(ctx, id, true)
}

// places are where a message of some length is cut: at every byte, or at some by the seed.
func (b *bench) places(length int) []int {
	list := b.rng.Perm(max(length, 0))
	list = list[:min(len(list), b.o.Sales)]
	slices.Sort(list)
	return list
}

func cutAnswer(ctx context.Context, b *bench) (string, int, error) {
	all, seen, places := 0, map[string]int{}, b.places(b.whole-b.run)
	if len(places) == 0 {
		return "", 0, errNoLength
	}
	for _, n := range places {
		saw, want, err := b.cutAt(ctx, n)
		var f fault
		switch {
		case errors.As(err, &f):
			return "", 0, wrong("cut after byte %d of %d: %s", n, b.whole-b.run, f.text)
		case err != nil:
			return "", 0, fmt.Errorf("cut after byte %d of %d: %w", n, b.whole-b.run, err)
		}
		all, seen[saw] = all+want, seen[saw]+1
	}
	return fmt.Sprintf("%d of %d bytes: %v", len(places), b.whole-b.run, seen), all, nil
}

// cutAt cuts the connection after n bytes of the outcome of a sale.
func (b *bench) cutAt(ctx context.Context, n int) (saw string, want int, err error) {
	before, err := b.totals(ctx)
	if err != nil {
		return "", 0, err
	}
	var accepted atomic.Bool
	t, w, err := b.till(ctx, "1", func() { accepted.Store(true) })
	if err != nil {
		return "", 0, wrong("after a cut the terminal speaks to no register: %v", err)
	}
	accepted.Store(false)
	h := none()
	h.cutIn, h.behind = n, b.run > 0
	w.arm(h)
	id := b.id()
	heard, failed := b.pay(ctx, t, id)
	_ = t.Close()
	if b.atLimit() {
		return "", 0, ErrLimit
	}
	saw, want, err = b.resolved(ctx, id, accepted.Load())
	told := failed == nil && heard.Said == till.Approved
	switch {
	case err != nil:
		return "", 0, err
	case told && !b.p.Can.Asks:
		want++
	case told && want == 0:
		return "", 0, wrong("heard as approved, and asked again it is %s", saw)
	}
	return saw, want, b.counted(ctx, before, "then: "+saw, want)
}

func cutRequest(ctx context.Context, b *bench) (string, int, error) {
	places := b.places(b.first)
	if len(places) == 0 {
		return "", 0, errNoLength
	}
	for _, n := range places {
		t, w, err := b.till(ctx, "1", nil)
		if err != nil {
			return "", 0, wrong("after a cut request the terminal speaks to no register: %v", err)
		}
		h := none()
		h.cutOut = n
		w.arm(h)
		a, err := b.pay(ctx, t, b.id())
		if b.atLimit() {
			return "", 0, err
		}
		if err == nil {
			return "", 0, fmt.Errorf("the request was not cut: %s", a.Said)
		}
		b.giveBack() // nothing of it was asked for
		_ = t.Close()
	}
	return fmt.Sprintf("%d of %d bytes: nothing begun", len(places), b.first), 0, nil
}
