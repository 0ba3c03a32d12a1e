package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"posagent/agent/lifecycle/rollout"
)

// finish takes an event and goes on to the end: of an update that was cut off, or of one that failed or was proven.
func (d *Driver) finish(ctx context.Context, r *record, e event) error {
	if is, err := sum(d.Place.Program); err == nil && is != r.From.SHA256 && is != r.To.SHA256 {
		d.Say("another program was put in place meanwhile: the update from %s to %s ends", r.From.Version, r.To.Version)
		if err := d.Place.endTrial(); err != nil {
			return err
		}
		r.Last = Outcome{From: r.From.Version, To: r.To.Version, Reason: "another program was put in place", At: d.Now()}
		return d.step(r, foreign)
	}
	if r.State == Trial && e == cut {
		if r.Resumed++; r.Resumed > mostCuts {
			r.Reason, r.Unbegun, e = fmt.Sprintf("its trial was cut off %d times: the box lost its power, or ended it", r.Resumed), true, sick
		}
	}
	if r.State == Placing && e == cut {
		r.Reason, r.Unbegun = "it was cut off while it was put in place", true
	}
	if err := d.step(r, e); err != nil {
		return err
	}
	switch r.State {
	case Trial:
		return d.try(ctx, r)
	case Confirming:
		return d.keep(r)
	case Returning:
		return d.giveBack(ctx, r, hurry)
	}
	return nil
}

// hurry is how long a program that is taken back may take to find a moment without a sale; what is open then goes on after the
// start, as after a power cut.
const hurry = 10 * time.Second

// try restarts the terminal and watches the new program.
func (d *Driver) try(ctx context.Context, r *record) error {
	if err := d.restart(ctx, d.Times.Idle); err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // the trial goes on when this program does
		}
		r.Reason, r.Unbegun = err.Error(), true
		return errors.Join(err, d.finish(ctx, r, sick))
	}
	why, away := d.watch(ctx, r.To, r.Before)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why != "" {
		r.Reason, r.Away = why, away
		return d.finish(ctx, r, sick)
	}
	return d.finish(ctx, r, healthy)
}

// restart ends those terminals that do not run the program in place: the one that serves in a moment without a sale.
func (d *Driver) restart(ctx context.Context, within time.Duration) error {
	until := time.Now().Add(within)
	silent := 0
	for said := ""; ; {
		list, err := d.Terminal.processes()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(p process) bool { return !p.newer }) {
			return nil
		}
		err = d.Terminal.restart(ctx)
		switch {
		case err == nil:
			return d.Terminal.end(ctx, true)
		case errors.Is(err, errSilent): // it waits and has nothing open, or it stands still, or it begins
			if silent++; silent >= mostSilent || within <= hurry {
				return d.Terminal.end(ctx, false)
			}
		case !errors.Is(err, ErrNotNow):
			return err
		case time.Now().After(until):
			return fmt.Errorf("%w, within %s", err, within)
		}
		if err.Error() != said {
			said = err.Error()
			d.Say("%s: waiting", said)
		}
		if err := pause(ctx, d.Times.Look); err != nil {
			return err
		}
	}
}

// watch looks at the new program until it has worked as before for a while, and returns "", or says why it did not within its
// trial; away are the causes then, where all that may be the network's or the backend's doing.
func (d *Driver) watch(ctx context.Context, to program, before condition) (why string, away []string) {
	d.Say("%s is on trial", to.Version)
	until := time.Now().Add(d.Times.Trial)
	why = "it did not start"
	var well time.Time // since when
	seen := map[int]bool{}
	steady := 0 // the process that is well
	for {
		if pause(ctx, d.Times.Look) != nil {
			return "interrupted", nil
		}
		list, err := d.Terminal.processes()
		if err != nil {
			return err.Error(), nil
		}
		for _, p := range list {
			seen[p.pid] = true
		}
		if len(seen) > mostStarts {
			return fmt.Sprintf("it has ended %d times", len(seen)-1), nil
		}
		looking, cancel := context.WithDeadline(ctx, until.Add(d.Times.Steady))
		pid, bad, passes := d.wellNow(looking, to, before, list)
		cancel()
		if bad == "" && pid == steady {
			if time.Since(well) >= d.Times.Steady {
				return "", nil
			}
		} else if well, steady = time.Now(), pid; bad != "" {
			why, away, steady = bad, passes, 0
		}
		if time.Now().After(until) && steady == 0 || time.Now().After(until.Add(d.Times.Steady)) {
			return why, away
		}
	}
}

// wellNow returns the process that works as before, or why there is none; away as watch.
func (d *Driver) wellNow(ctx context.Context, to program, before condition, list []process) (pid int, why string, away []string) {
	if !before.Serves { // it waits, for its enrolment say: that it stays is all there is to see
		if i := slices.IndexFunc(list, func(p process) bool { return p.newer }); i >= 0 {
			return list[i].pid, "", nil
		}
		return 0, "it does not run", nil
	}
	now, err := d.Terminal.look(ctx)
	if err != nil {
		return 0, err.Error(), nil
	}
	if now.Version != to.Version {
		return 0, fmt.Sprintf("it calls itself %s", now.Version), nil
	}
	if why := now.worse(before); why != "" {
		return 0, why, now.away(before)
	}
	return now.pid, "", nil
}

// keep ends the trial well. There is no way back by itself from here on.
func (d *Driver) keep(r *record) error {
	if err := d.Place.endTrial(); err != nil {
		return err
	}
	delete(r.Tries, r.To.Version)
	r.Last = Outcome{From: r.From.Version, To: r.To.Version, Kept: true, At: d.Now()}
	d.leave(r)
	if err := d.step(r, kept); err != nil {
		return err
	}
	d.Say("%s is in place; %s is %s", r.To.Version, d.Place.previous(), r.From.Version)
	return nil
}

// giveBack puts the program before in place again, and waits until the terminal runs on it; idle is the time for a moment without a
// sale. It always answers an error: ErrReturned where it is done.
func (d *Driver) giveBack(ctx context.Context, r *record, idle time.Duration) error {
	d.Say("%s is taken back: %s", r.To.Version, r.Reason)
	if err := d.Place.back(r.From); err != nil {
		return err
	}
	switch err := d.restart(ctx, idle); {
	case errors.Is(err, ErrNotNow) && idle > hurry:
		return err // a person asked, and the terminal works
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	}
	if err := d.Terminal.end(ctx, false); err != nil {
		return err
	}
	if err := d.Place.endTrial(); err != nil {
		return err
	}
	if len(r.Away) > 0 && !d.worksAgain(ctx, r) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.Unbegun, r.Reason = true, r.Reason+", and neither was "+r.From.Version+" as before: the trial does not count"
	}
	t := r.Tries[r.To.Version]
	if t.Last, t.Reason = d.Now(), plain(r.Reason); !r.Unbegun {
		t.Count++
	} else if r.Resumed > mostCuts {
		t.Cuts++
	}
	if r.Tries == nil {
		r.Tries = map[string]try{}
	}
	r.Tries[r.To.Version] = t
	r.Last = Outcome{From: r.From.Version, To: r.To.Version, Reason: t.Reason, At: d.Now()}
	d.leave(r)
	if err := d.step(r, returned); err != nil {
		return err
	}
	back := ""
	if r.Before.Serves {
		back = d.served(ctx, r.From.Version)
	}
	if back != "" {
		return fmt.Errorf("%w: %s; and %s, which is in place again, does not serve yet: %s", ErrReturned, t.Reason, r.From.Version, back)
	}
	return fmt.Errorf("%w: %s; %s is in place again", ErrReturned, t.Reason, r.From.Version)
}

// worksAgain says whether the program before, which runs again, is as it was before the update. What it does not reach either says nothing
// of the new one.
func (d *Driver) worksAgain(ctx context.Context, r *record) bool {
	until := time.Now().Add(d.Times.Trial)
	for {
		now, err := d.Terminal.look(ctx)
		if err == nil && now.Version == r.From.Version && now.worse(r.Before) == "" {
			return true
		}
		now.Passing = append(now.Passing, r.Away...) // an older program does not name them
		if time.Now().After(until) || pause(ctx, d.Times.Look) != nil {
			return err != nil || len(now.away(r.Before)) == 0
		}
	}
}

// leave tells the terminal how an update ended, for its fleet. It comes before the step that ends the update, which is taken again where
// it was cut off. A disk that is full ends no update otherwise.
func (d *Driver) leave(r *record) {
	if r.Unbegun {
		return
	}
	told := rollout.Outcome{Version: r.Last.To, Kept: r.Last.Kept, Reason: r.Last.Reason, At: r.Last.At.UTC().Format(time.RFC3339)}
	if err := told.Leave(d.Place.Program); err != nil {
		d.Say("the terminal is not told how the update ended: %v", err)
	}
}

// served waits until the terminal serves with a version, and returns "", or says why it does not.
func (d *Driver) served(ctx context.Context, version string) (why string) {
	until := time.Now().Add(d.Times.Trial)
	for {
		now, err := d.Terminal.look(ctx)
		switch {
		case err == nil && now.Version == version:
			return ""
		case err != nil:
			why = err.Error()
		default:
			why = "it calls itself " + now.Version
		}
		if time.Now().After(until) || pause(ctx, d.Times.Look) != nil {
			return why
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
