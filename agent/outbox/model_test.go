package outbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"posagent/agent/outbox"
	"posagent/schemes/wire"
)

// step is one thing that happens to the agent or its backend.
type step struct {
	do        string
	aggregate int
	wait      time.Duration
}

var doings = []string{"accept", "accept", "accept", "wait", "ok", "lose", "refuse", "linger", "deny", "kill", "restart", "hold", "release", "twice"}

// TestModel drives random accepts, lost replies, outages, crashes and restarts against a backend that honours keys.
// However it went: one effect per key, none for what was not accepted, in order within an aggregate, and everything
// done once the backend answers.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				do:        rapid.SampledFrom(doings).Draw(rt, "do"),
				aggregate: rapid.IntRange(0, 2).Draw(rt, "aggregate"),
				wait:      time.Duration(rapid.IntRange(0, 30_000).Draw(rt, "ms")) * time.Millisecond,
			}
		}), 1, 25).Draw(rt, "steps")
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = play(t, steps) })
		if len(wrong) > 0 {
			rt.Fatalf("%s", strings.Join(wrong, "\n"))
		}
	})
}

func play(t *testing.T, steps []step) (wrong []string) {
	b := &backend{}
	r := newRig(t, b.kind("k"))
	defer r.stop()
	r.start()
	accepted := map[string][]wire.Key{}
	const led = 2 // aggregates
	var names [led]string
	var all []outbox.New
	tries := map[wire.Key]int{}
	modes := map[string]func(outbox.Op) outbox.Verdict{
		"ok":     nil,
		"lose":   func(op outbox.Op) outbox.Verdict { b.effect(op.Key); return lost(op) },
		"refuse": unreachable,
		"linger": func(op outbox.Op) outbox.Verdict {
			if tries[op.Key]++; tries[op.Key]%3 != 0 {
				b.effect(op.Key)
				return outbox.Verdict{State: outbox.Sent, After: 2 * time.Second, Memo: []byte("x"), Reach: outbox.Reached}
			}
			return outbox.Verdict{}
		},
		"deny": func(op outbox.Op) outbox.Verdict {
			return outbox.FromError(op, outbox.SameKey, wire.Errorf(wire.Unauthorized, "t", "401"))
		},
	}
	// linger keeps count under the backend's lock-free mode call, so it must not run in parallel with itself.
	locked := make(chan struct{}, 1)
	linger := modes["linger"]
	modes["linger"] = func(op outbox.Op) outbox.Verdict {
		locked <- struct{}{}
		defer func() { <-locked }()
		return linger(op)
	}
	for _, s := range steps {
		switch s.do {
		case "accept":
			n := newOp("k", fmt.Sprint(s.aggregate))
			if s.aggregate < led { // all of it is named after its first operation
				if names[s.aggregate] == "" {
					names[s.aggregate] = "thing/L" + string(n.Key)
				}
				n.Aggregate = names[s.aggregate]
			}
			r.accept(n)
			accepted[n.Aggregate] = append(accepted[n.Aggregate], n.Key)
			all = append(all, n)
		case "twice":
			if len(all) > 0 {
				r.accept(all[s.aggregate%len(all)])
			}
		case "hold", "release":
			name := fmt.Sprint(s.aggregate)
			if s.aggregate < led {
				name = names[s.aggregate]
			}
			for _, op := range r.list(outbox.Filter{Open: true, Aggregate: name, Limit: 1}) {
				if s.do == "hold" {
					_ = r.o.Hold(t.Context(), op.Key, "held") // a state that does not fit is refused
				} else {
					_ = r.o.Release(t.Context(), op.Key)
				}
			}
		case "kill":
			r.kill()
			pass(s.wait)
			r.start()
		case "restart":
			r.stop()
			pass(s.wait)
			r.start()
		case "wait":
		default:
			b.set(modes[s.do])
		}
		pass(s.wait)
	}
	b.set(nil)
	for _, op := range r.list(outbox.Filter{State: outbox.Held}) {
		if err := r.o.Release(t.Context(), op.Key); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	pass(15 * time.Minute)

	if want, got := r.counted(); !slices.Equal(got, want) {
		wrong = append(wrong, fmt.Sprintf("the report says %v, the rows %v", got, want))
	}
	if b.overlap {
		wrong = append(wrong, "two senders in one aggregate")
	}
	if len(b.effects) != len(all) {
		wrong = append(wrong, fmt.Sprintf("%d effects of %d operations", len(b.effects), len(all)))
	}
	for a, keys := range accepted {
		var got []wire.Key
		for _, k := range b.effects {
			if slices.Contains(keys, k) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, keys) {
			wrong = append(wrong, "order of "+a)
		}
	}
	for _, n := range all {
		if op := r.get(n.Key); op.State != outbox.Done {
			wrong = append(wrong, fmt.Sprintf("%s is %s: %s", n.Key, op.State, op.Reason))
		}
		if s := r.settled(n.Key); !slices.Equal(s, []string{"DONE"}) {
			wrong = append(wrong, fmt.Sprintf("settled %v", s))
		}
	}
	return wrong
}
