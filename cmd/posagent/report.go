package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"posagent/agent/lifecycle/enrol"
	"posagent/agent/lifecycle/rollout"
	"posagent/schemes/fleet"
)

// reporter tells the fleet which program runs and how its last update ended, and keeps which versions the fleet holds, for
// posagent-update.
type reporter struct {
	box            *enrol.Box
	driver         enrol.Driver
	program, state string
	said           rollout.Outcome
	look           *poll
}

func newReporter(c *call, box *enrol.Box, d enrol.Driver, look *poll) *reporter {
	program, err := os.Executable()
	if err != nil {
		program = "" // then nothing is known of its updates
	}
	r := &reporter{box: box, driver: d, program: program, state: c.stateDir(), look: look}
	r.said, _ = rollout.Last(program) // what ended before the start is told with the first report
	return r
}

// step tells it when an update has ended, and with each round.
func (r *reporter) step(ctx context.Context) error {
	last, bad := rollout.Last(r.program)
	if due := r.look.due(time.Now()); !due && last == r.said {
		return nil
	}
	r.said = last
	told, err := r.box.Report(ctx, r.driver, fleet.Outcome{Version: last.Version, Kept: last.Kept, Reason: last.Reason, At: last.At})
	r.look.asked(time.Now(), err)
	if err != nil {
		return errors.Join(bad, err) // what was held stays held
	}
	held := make([]rollout.Hold, len(told))
	for i, h := range told {
		held[i] = rollout.Hold{Version: h.Version, TakenBack: h.TakenBack, Tried: h.Tried}
	}
	if err := rollout.Keep(r.state, held); err != nil {
		bad = errors.Join(bad, fmt.Errorf("what the fleet holds is not kept: %w", err))
	}
	return bad
}
