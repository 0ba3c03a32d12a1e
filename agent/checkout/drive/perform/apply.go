package perform

import (
	"cmp"
	"context"
	"errors"
	"time"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/wire"
)

// Apply applies one event and performs its effects. It returns journal.ErrUnknown,
// journal.ErrQuarantined, checkout.ErrRefused, and errors of the store.
func (p *Performer) Apply(ctx context.Context, key wire.Key, e checkout.Event) (*journal.Row, error) {
	s, ok := p.j.NothingNew(ctx, key, e, p.sales.Seq(key))
	if !ok {
		var err error
		if s, err = p.j.Apply(ctx, key, e); err != nil {
			return s.Row, err
		}
	}
	p.Do(s)
	return s.Row, nil
}

// ApplyWithRetry applies an event that must not be lost: it retries while the store fails, until ctx ends.
func (p *Performer) ApplyWithRetry(ctx context.Context, key wire.Key, e checkout.Event) {
	e.Now = p.boot()
	for {
		_, err := p.Apply(context.WithoutCancel(ctx), key, e)
		switch {
		case err == nil, errors.Is(err, checkout.ErrRefused):
			return
		case journal.IsPermanent(err):
			p.log.Error("event not applied", "sale", key, "event", e.Name, "error", err)
			return
		}
		p.log.Error("event waits for the store", "sale", key, "event", e.Name, "error", err)
		if !Pause(ctx, StoreRetry, nil) {
			return
		}
	}
}

// Do does what follows a commit. Their order counts: what an older one would start is left alone.
func (p *Performer) Do(s journal.Step) {
	row, effects, seq := s.Row, s.Effects, s.Seq
	key := row.Key
	p.arm(row, seq)
	if row.State.UndoOpen || row.State.Phase == checkout.Forward { // beside the next sale: it waits for nothing
		if row.State.Phase == checkout.Reversing {
			p.progress(key, ecr.StepReversing)
		}
		p.box.Wake()
	}
	if row.State.Phase == checkout.Waiting && row.State.Engaged && !row.State.AwaitingApp {
		p.progress(key, ecr.StepConfirm)
	}
	p.showRunning(row)
	for _, f := range effects {
		switch f.Do {
		case checkout.Initialize, checkout.SendPlain:
			try := row.State.Sends
			p.sales.Rests(key, try)
			p.progress(key, ecr.StepStarting)
			p.Later(func(ctx context.Context) { p.initialize(ctx, key, try, f.After) })
		case checkout.ReadStatus:
			// One overtaken by a newer commit does not replace that one's read; but where none
			// waits it must go on, or an acknowledgement that comes while a status is being decided
			// would end the watch.
			p.scheduleRead(row, f.After, seq)
		case checkout.StopReading:
			p.sales.StopRead(key, seq)
		case checkout.ShowCode:
			shown := *row // the caller's may change
			p.Later(func(ctx context.Context) { p.showCode(ctx, &shown) })
		case checkout.ShowWaiting:
			step := ecr.StepExpired
			if row.State.Engaged {
				step = ecr.StepApp
			}
			p.progress(key, step)
		case checkout.ClearScreen:
			if _, runs := picture(row); !runs && row.State.Result == "" { // else its next picture takes the place, or its end
				p.leaveScreen(key)
			}
		case checkout.StopChoosing:
			p.sales.StopPrompt(key)
		case checkout.Tell:
			p.tell(row)
		}
	}
	p.sales.Forget(row)
	p.sales.Announce()
}

// arm sets the timer of the sale's next limit, unless a newer commit has set its own.
func (p *Performer) arm(row *journal.Row, seq uint64) {
	at, ok := checkout.Due(row.State)
	name := checkout.Tick
	if row.State.Phase == checkout.Unconfirmed && !row.State.Till.Kept {
		if grace := row.State.UntoldAt + cmp.Or(row.State.Till.Grace, p.cfg.Grace); !ok || grace < at {
			at, ok, name = grace, true, checkout.GraceOver
		}
	}
	stop, fresh := p.sales.Advance(row, seq, ok)
	if !ok || !fresh {
		return
	}
	key := row.Key
	p.Later(func(ctx context.Context) {
		wait := max(0, at-p.boot())
		for Pause(ctx, wait, stop) {
			if name != checkout.GraceOver {
				p.ApplyWithRetry(ctx, key, checkout.Event{Name: name})
				return
			}
			done, err := p.graceOver(ctx, key)
			if err != nil {
				p.log.Error("grace timer", "sale", key, "error", err)
			}
			if done || journal.IsPermanent(err) {
				return
			}
			wait = time.Second
		}
	})
}
