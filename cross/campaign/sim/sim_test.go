package sim

import (
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/cross/env"
	"posagent/cross/need"
	"posagent/schemes/aapay"
	"posagent/schemes/wire"
)

// onceFailed are days that showed a fault of the product; they are always played.
var onceFailed = []uint64{
	2,       // the undo of a code nobody scanned never ended, where the method has no reversal
	22, 179, // a late answer to 04 FF confirmed a 04 0F that had not arrived
	329, // the same with one that had arrived, and that the register never took
}

// campaign plays days until three have failed.
func campaign(t *testing.T, seeds []uint64, play func(seed uint64, h hooks) *world) (failed int, sum stats) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a day is short-lived, its trace is not
	for _, seed := range seeds {
		w := play(seed, theProduct())
		sum.add(w.stats)
		if len(w.bad) == 0 {
			continue
		}
		t.Errorf("SEED=%d: %v\n%s", seed, w.bad, w.story())
		if failed++; failed == 3 {
			break
		}
	}
	return failed, sum
}

// TestDays plays SEEDS terminal-days, from SEED on.
func TestDays(t *testing.T) {
	report(t, env.Number("SEEDS", need.Size(20, 60)), day)
}

// report plays as many days and reports what they came to.
func report(t *testing.T, days int, play func(seed uint64, h hooks) *world) stats {
	t.Helper()
	first := env.Number("SEED", 1)
	seeds := make([]uint64, days)
	for i := range seeds {
		seeds[i] = uint64(first + i)
	}
	failed, sum := campaign(t, seeds, play)
	t.Logf("%d terminal-days from seed %d: %+v", days, first, sum)
	t.Logf("%d violations; 0 in %d sales: at most %.2g at 95 %%", failed, sum.Accepted, 3/float64(sum.Accepted))
	return sum
}

// TestDaysOfTills plays a fifth of SEEDS days over each protocol beside ZVT, or over those that PROTOCOLS names.
func TestDaysOfTills(t *testing.T) {
	chosen := os.Getenv("PROTOCOLS")
	for _, m := range manners {
		if chosen != "" && !slices.Contains(strings.Split(chosen, ","), m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			sum := report(t, max(need.Size(4, 10), env.Number("SEEDS", need.Size(20, 60))/5), func(seed uint64, h hooks) *world { return dayOf(seed, m, h) })
			require.Positive(t, sum.Approved)
			require.Positive(t, sum.Undone)
			require.Positive(t, sum.Crashes)
		})
	}
}

// TestDaysThatOnceFailed plays the days that showed something.
func TestDaysThatOnceFailed(t *testing.T) {
	failed, _ := campaign(t, onceFailed, day)
	require.Zero(t, failed)
}

// TestTheSameSeedIsTheSameDay compares every event of a day with itself.
func TestTheSameSeedIsTheSameDay(t *testing.T) {
	hashes, days := map[uint64]bool{}, need.Size(2, 5)
	for seed := range uint64(days) {
		one, two := day(1000+seed, theProduct()), day(1000+seed, theProduct())
		require.Equal(t, one.hash(), two.hash(), "seed %d", 1000+seed)
		require.Equal(t, one.stats, two.stats)
		hashes[one.hash()] = true
	}
	require.Len(t, hashes, days, "another seed is another day")
}

type next = func(checkout.State, checkout.Event) (checkout.State, []checkout.Effect, error)

// wrong are faults put into the core; every one has to be noticed within a few days.
var wrong = map[string]func(h hooks) hooks{
	"approves a word that is not success": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.StatusRead && e.Status.State == aapay.Rejected {
				e.Status.AccountState = aapay.Commit
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"takes what may have arrived for never sent": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.ReplyFailed && e.Failure == checkout.EffectUnknown {
				e.Failure = checkout.NotSent
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"counts no attempt before the last as sent": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.ReplyFailed && e.Failure == checkout.NotSent {
				s.Unsent, s.Sends = e.Try-1, e.Try
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"forgets the undo": func(h hooks) hooks {
		h.next = without(checkout.Reverse)
		return h
	},
	"forgets the undo by refund": func(h hooks) hooks {
		h.next = without(checkout.RefundUndo)
		return h
	},
	"takes a new Key for a repetition": func(h hooks) hooks {
		h.key = func(r *row) wire.Key { return wire.Key(string(r.key) + strconv.Itoa(r.state.Sends)) }
		return h
	},
	"takes silence for an acknowledgement": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.Lost {
				e.Name = checkout.Told
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"takes the first no of an undo for its end": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.UndoSettled {
				e.Undone.OK = true
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"sends what was given up": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.GaveUp && s.Phase == checkout.Choosing {
				e.Name = checkout.Chosen
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"takes a second answer": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.Chosen && s.Phase != checkout.Choosing {
				return s, nil, nil
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"approves after the abort": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if s.Phase == checkout.Aborting && e.Name == checkout.StatusRead && e.Status.AccountState == aapay.Commit {
				s.Phase = checkout.Waiting
			}
			return checkout.Next(s, e)
		}
		return h
	},
}

// without is the core with an effect that is never performed.
func without(do checkout.Do) next {
	return func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
		s, effects, err := checkout.Next(s, e)
		var kept []checkout.Effect
		for _, f := range effects {
			if f.Do != do {
				kept = append(kept, f)
			}
		}
		return s, kept, err
	}
}

// TestWrongCoresAreNoticed shows that the judge has teeth.
func TestWrongCoresAreNoticed(t *testing.T) {
	need.Verify(t, "judges the judge: breaks the core on purpose")
	for name, mutate := range wrong {
		t.Run(name, func(t *testing.T) {
			days := 0
			for seed := uint64(1); seed <= 40; seed++ {
				days++
				if w := day(seed, mutate(theProduct())); len(w.bad) > 0 {
					t.Logf("after %d days: %s", days, w.bad[0])
					return
				}
			}
			t.Errorf("not noticed in %d days", days)
		})
	}
}

// wrongOfTills are faults that no day of ZVT shows.
var wrongOfTills = map[string]func(h hooks) hooks{
	"undoes what is to be kept": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.NextCommand {
				e.Sync = checkout.Again
			}
			return checkout.Next(s, e)
		}
		return h
	},
	"keeps what is to be undone": func(h hooks) hooks {
		h.next = func(s checkout.State, e checkout.Event) (checkout.State, []checkout.Effect, error) {
			if e.Name == checkout.NextCommand || e.Name == checkout.GraceOver {
				s.Till.Keep = true
			}
			return checkout.Next(s, e)
		}
		return h
	},
}

// TestWrongCoresAreNoticedByTills shows that the judge of tills has teeth, too.
func TestWrongCoresAreNoticedByTills(t *testing.T) {
	need.Verify(t, "judges the judge: breaks the core on purpose")
	for name, mutate := range wrongOfTills {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 40; seed++ {
				for _, m := range manners {
					if w := dayOf(seed, m, mutate(theProduct())); len(w.bad) > 0 {
						t.Logf("on day %d of %s: %s", seed, m.name, w.bad[0])
						return
					}
				}
			}
			t.Error("not noticed")
		})
	}
}
