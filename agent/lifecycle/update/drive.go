package update

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/lifecycle/rollout"
)

// Times are how long the steps of an update may take. What is 0 is as in DefaultTimes.
type Times struct {
	Fetch  time.Duration // the program, from the repository
	Idle   time.Duration // to find a moment without a sale
	Trial  time.Duration // to be as before
	Steady time.Duration // to stay so
	Look   time.Duration // between two looks
	Again  time.Duration // before a version that was taken back is tried again
}

const (
	mostTries  = 3 // of one version
	mostStarts = 3 // of the new program, within its trial
	mostCuts   = 5 // of a trial
	mostSilent = 3 // questions to be restarted without an answer, before a terminal is ended without being asked
)

// Driver updates one terminal.
type Driver struct {
	Dir      string // of the record and of what is fetched; root's
	Place    Place
	Terminal Terminal
	Source   Source
	Target   string                                              // the program's name in the repository
	Version  func(ctx context.Context, p string) (string, error) // of a program that does not run
	Times    Times
	Now      func() time.Time
	Say      func(format string, args ...any) // what is done, for people
}

// Result is what came of a look at the repository.
type Result struct {
	Installed string // version in place
	Offered   string // by the repository, "" = it was not asked
	Updated   bool
	Why       string // nothing was done, "" = something was
}

// DefaultTimes are the times of a terminal in a shop.
func DefaultTimes() Times {
	return Times{
		Fetch: 15 * time.Minute, Idle: 10 * time.Minute, Trial: time.Minute, Steady: 10 * time.Second, Look: time.Second, Again: 24 * time.Hour,
	}
}

func (t Times) orDefault() Times {
	d := DefaultTimes()
	return Times{
		Fetch: or(t.Fetch, d.Fetch), Idle: or(t.Idle, d.Idle), Trial: or(t.Trial, d.Trial), Steady: or(t.Steady, d.Steady), Look: or(t.Look, d.Look),
		Again: or(t.Again, d.Again),
	}
}

func or(given, otherwise time.Duration) time.Duration {
	if given > 0 {
		return given
	}
	return otherwise
}

// lock keeps other updates away until release is called. A look makes nothing for that: where there is no lock no update has begun.
func (d *Driver) lock(look bool) (release func(), err error) {
	create := os.O_CREATE
	if look {
		create = 0
	} else if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(d.Dir, "lock"), create|os.O_RDWR, 0o600)
	if look && errors.Is(err, os.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(ErrBusy, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// Resume goes on with an update that was cut off. It does nothing where none was.
func (d *Driver) Resume(ctx context.Context) (resumed bool, err error) {
	d.Times = d.Times.orDefault()
	release, err := d.lock(false)
	if err != nil {
		return false, err
	}
	defer release()
	r, err := load(d.Dir)
	if err != nil || r.State == Idle {
		return false, err
	}
	d.Say("an update from %s to %s was cut off in %s", r.From.Version, r.To.Version, r.State)
	return true, d.finish(ctx, &r, cut)
}

// Options of Update.
type Options struct {
	Again    bool // also a version that was taken back, that the fleet holds, and one that this box's turn has not come for
	OnlyLook bool // change nothing
	Untested bool // also where no terminal runs, so that there is no trial

	boxless bool // a look at a box that has no word of its own yet
}

// Update looks at the repository and takes a newer program from it through its trial. ErrReturned where that failed.
func (d *Driver) Update(ctx context.Context, o Options) (Result, error) {
	d.Times = d.Times.orDefault()
	release, err := d.lock(o.OnlyLook)
	if err != nil {
		return Result{}, err
	}
	defer release()
	r, err := load(d.Dir)
	if err != nil {
		return Result{}, err
	}
	if r.State != Idle && o.OnlyLook {
		return Result{Installed: r.From.Version, Why: fmt.Sprintf("an update from %s to %s was cut off in %s (posagent-update resume goes on with it)", r.From.Version, r.To.Version, r.State)}, nil
	}
	if r.State != Idle {
		if err := d.finish(ctx, &r, cut); err != nil {
			return Result{}, err
		}
	}
	before, lookErr := d.Terminal.look(ctx)
	var res Result
	if res.Installed, err = d.Version(ctx, d.Place.Program); err != nil {
		return res, err
	}
	fetching, cancel := context.WithTimeout(ctx, d.Times.Fetch)
	defer cancel()
	cache := d.Dir
	if o.OnlyLook { // it leaves nothing behind: its clock, and what it was shown by it, may be wrong
		_, missing := os.Lstat(filepath.Join(d.Dir, recordName))
		o.boxless = missing != nil
		if cache, err = os.MkdirTemp("", "posagent-update-look-*"); err != nil {
			return res, err
		}
		defer os.RemoveAll(cache)
	}
	offered, is, err := d.Source.newest(fetching, d.Target, cache, r.Seen, d.Now())
	if is != r.Seen && !o.OnlyLook {
		r.Seen = is
		if err := r.save(d.Dir); err != nil {
			return res, err
		}
	}
	if err != nil {
		return res, err
	}
	res.Offered = offered.Version
	if res.Why, err = d.reasonNot(r, offered, res.Installed, o); err != nil || res.Why != "" || o.OnlyLook {
		return res, err
	}
	running, err := d.Terminal.processes()
	if err != nil {
		return res, err
	}
	if len(running) == 0 && !o.Untested {
		return res, fmt.Errorf("%w: no terminal runs on %s, so nothing would prove the new program", ErrNotNow, d.Terminal.State)
	}
	if lookErr != nil && len(running) > 0 {
		d.Say("the terminal runs and does not serve: %v", lookErr)
	}
	if err := d.Place.room(2 * offered.Bytes); err != nil {
		return res, err
	}
	staged := filepath.Join(d.Dir, "fetched")
	if err := offered.fetch(fetching, staged, d.progress(offered)); err != nil {
		return res, err
	}
	defer os.Remove(staged)
	if err := d.Place.sameMachine(staged); err != nil {
		return res, err
	}
	if res.Why, err = d.reasonNot(r, offered, res.Installed, o); err != nil || res.Why != "" { // it may be held since
		return res, err
	}
	from, err := sum(d.Place.Program)
	if err != nil {
		return res, err
	}
	r.From, r.To = program{res.Installed, from}, program{offered.Version, offered.SHA256}
	r.Before, r.Resumed, r.Reason, r.Unbegun, r.Away = before, 0, "", len(running) == 0, nil
	if err := d.step(&r, begin); err != nil {
		return res, err
	}
	if err := d.Place.put(staged, r.To); err != nil {
		r.Reason, r.Unbegun = err.Error(), true
		return res, errors.Join(err, d.finish(ctx, &r, sick))
	}
	if err := d.step(&r, placed); err != nil {
		return res, err
	}
	if len(running) == 0 {
		err = d.finish(ctx, &r, healthy)
	} else {
		err = d.try(ctx, &r)
	}
	res.Updated = err == nil
	return res, err
}

// reasonNot says why an offered version is not taken; "" = it is.
func (d *Driver) reasonNot(r record, offered Release, installed string, o Options) (string, error) {
	is, err := newer(offered.Version, installed)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	if !is {
		return fmt.Sprintf("%s is in place, and the repository offers %s", installed, offered.Version), nil
	}
	if o.Again {
		return "", nil
	}
	if t := r.Tries[offered.Version]; t.Count >= mostTries {
		return fmt.Sprintf("%s was taken back %d times, the last time because %s", offered.Version, t.Count, t.Reason), nil
	} else if t.Cuts >= mostTries {
		return fmt.Sprintf("the trial of %s was cut off in %d updates, and nothing is known of it (--again takes it all the same)", offered.Version, t.Cuts), nil
	} else if since := d.Now().Sub(t.Last); !t.Last.IsZero() && since >= 0 && since < d.Times.Again { // below 0 the clock was ahead: unknown
		return fmt.Sprintf("%s was taken back because %s; it is tried again in %s", offered.Version, t.Reason, (d.Times.Again - since).Round(time.Minute)), nil
	}
	if why := rollout.Held(d.Terminal.State, offered.Version); why != "" {
		return fmt.Sprintf("%s is held: %s (the operator of the fleet lifts that; --again takes it all the same)", offered.Version, why), nil
	}
	if o.boxless && offered.Percent < 100 {
		return fmt.Sprintf("%s is for %d %% of the boxes so far; the first posagent-update update says whether this is one of them", offered.Version, offered.Percent), nil
	}
	if share(r.Box, offered.Version) >= offered.Percent {
		return fmt.Sprintf("%s is for %d %% of the boxes so far, and not for this one", offered.Version, offered.Percent), nil
	}
	return "", nil
}

// progress says each tenth of a fetch.
func (d *Driver) progress(r Release) func(done, of int64) {
	said := int64(-1)
	return func(done, of int64) {
		if tenth := done * 10 / of; tenth != said && tenth <= 10 {
			said = tenth
			d.Say("fetching %s %s: %d %%", r.Target, r.Version, tenth*10)
		}
	}
}

// step takes an event, and writes down where it leads.
func (d *Driver) step(r *record, e event) error {
	to, err := next(r.State, e)
	if err != nil {
		return err
	}
	r.State = to
	return r.save(d.Dir)
}
