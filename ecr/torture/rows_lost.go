package torture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// errNoLength: there is nothing to cut.
var errNoLength = errors.New("the length of the message is not known")

// settled judges the answer to a sale whose end the register did not hear: approved or not, but definite, and as the terminal
// counts. accepted = the terminal has taken the request.
func (b *bench) settled(ctx context.Context, id string, accepted bool) (Answer, error) {
	a, err := b.again(ctx, "1", id)
	switch {
	case err != nil:
		return a, err
	case !b.p.Can.IDs && a.Said == Approved && a.Receipt != 0 && a.Receipt == b.last:
		a = Answer{Said: NotFound} // that was the sale before
	case a.Said == Approved && a.Amount != b.o.Amount:
		return a, wrong("asked again, %d minor units are approved in place of %d", a.Amount, b.o.Amount)
	}
	if accepted && a.Said == NotFound {
		return a, wrong("the terminal has taken the sale, and asked again it knows none")
	}
	if a.Said == Approved {
		b.last = a.Receipt
	}
	return a, nil
}

func lostConnection(ctx context.Context, b *bench) (string, int, error) {
	_, id, err := b.during(ctx, func(t Till, _ *wire, _ string) error {
		_ = t.Close()
		return nil
	})
	if id == "" || err == nil {
		return "", 0, fmt.Errorf("the sale was not lost: %v", err)
	}
	a, err := b.settled(ctx, id, true)
	if err != nil {
		return "", 0, err
	}
	if a.Said == Approved {
		return "approved", 1, nil
	}
	return string(a.Said), 0, nil
}

// places are where a message of some length is cut: at every byte, or at some by the seed.
func (b *bench) places(length int) []int {
	list := b.rng.Perm(max(length, 0))
	list = list[:min(len(list), b.o.Sales)]
	slices.Sort(list)
	return list
}

func cutAnswer(ctx context.Context, b *bench) (string, int, error) {
	want, seen, places := 0, map[Said]int{}, b.places(b.whole-b.run)
	if len(places) == 0 {
		return "", 0, errNoLength
	}
	for _, n := range places {
		n += b.run
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
		h.cutIn = n
		w.arm(h)
		id := b.id()
		heard, failed := b.pay(ctx, t, id)
		_ = t.Close()
		a, err := b.settled(ctx, id, accepted.Load())
		if err != nil {
			return "", 0, fmt.Errorf("cut after byte %d of %d: %w", n, b.whole, err)
		}
		if failed == nil && heard.Said == Approved && a.Said != Approved {
			return "", 0, wrong("cut after byte %d of %d: heard as approved, and asked again it is %s", n, b.whole, a.Said)
		}
		one := 0
		if a.Said == Approved {
			one = 1
		}
		if after, err := b.totals(ctx); err != nil {
			return "", 0, err
		} else if b.p.Can.Totals && after.Count-before.Count != one {
			return "", 0, wrong("cut after byte %d of %d: asked again it is %s, and the terminal counts %d sale(s) for it", n, b.whole, a.Said, after.Count-before.Count)
		}
		want, seen[a.Said] = want+one, seen[a.Said]+1
	}
	return fmt.Sprintf("%d of %d bytes: %v", len(places), b.whole-b.run, seen), want, nil
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
