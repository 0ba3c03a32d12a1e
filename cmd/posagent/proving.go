package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"posagent/agent/config"
	"posagent/agent/lifecycle/enrol"
	"posagent/agent/ready"
)

// proving follows a configuration that has not made the terminal ready yet, until it has, or is given up for the revision before it. Time
// and starts count against it only while that one would do better: a line that is down, a backend that is away for both, a full disk or
// an unplugged cable say nothing of a configuration.
type proving struct {
	box    *enrol.Box
	on     enrol.Active
	better func(context.Context, *ready.Report) bool // the revision before would do better; nil = the terminal was not judged yet
	log    *slog.Logger

	done    bool          // nothing is to be proven any more
	looked  time.Time     // when better was asked last; at first the start of the run
	against time.Duration // how long it was so
	lasted  bool          // the start counts, whatever ends it
	excused bool          // it does not, until it has lasted
}

// step takes the terminal's last judgement into account.
func (p *proving) step(ctx context.Context, now time.Time, report *ready.Report) {
	switch since := now.Sub(p.looked); {
	case p.done:
	case report != nil && report.Ready:
		p.done = p.box.Prove(p.on.ID, p.on.Revision) == nil
	case since < lastsFor:
	case !p.better(ctx, report):
		p.looked = now
		if !p.excused {
			p.excused = p.box.Excuse() == nil
		}
	default:
		p.looked = now
		p.against += since
		p.count(report)
	}
}

// count notes that the configuration still has not made the terminal ready, and gives it up once that is so for proveWithin.
func (p *proving) count(report *ready.Report) {
	if p.against < proveWithin {
		if !p.lasted {
			p.lasted = p.box.Lasted("the terminal was not ready, "+whyNot(report)) == nil
		}
		return
	}
	why := fmt.Sprintf("the terminal was not ready with it within %v, the last cause: %s", proveWithin, whyNot(report))
	did, err := p.box.GiveUp(p.on.ID, p.on.Revision, why)
	if p.done = err == nil; did {
		p.log.Warn("the configuration is given up", "revision", p.on.Revision, "why", why)
	}
}

// revisionBefore is the configuration that the terminal would go back to; false = there is none, or it cannot be used any more.
func revisionBefore(c *call, on enrol.Active) (config.Config, bool) {
	box := enrolment(c)
	s, err := box.Summary()
	if err != nil || s.Previous == 0 {
		return config.Config{}, false
	}
	rev, err := box.RevisionOf(s.Previous)
	if err != nil {
		return config.Config{}, false
	}
	cfg, err := configWith(c, rev.Number, rev.Text, on.Certificate)
	return cfg, err == nil && !cfg.Sandbox()
}

// better returns whether the terminal would do better with the revision before: it changes what keeps the terminal from being ready, or
// its backend answers.
func (r *running) better(ctx context.Context, report *ready.Report) bool {
	was, ok := revisionBefore(r.c, r.on)
	switch {
	case !ok:
		return false
	case report == nil || report.NotReady == nil:
		return true
	}
	switch whose(report.NotReady.Cause) {
	case ofBox:
		return false
	case ofLines:
		return slices.ContainsFunc(was.Differences(r.cfg), func(d config.Difference) bool {
			return strings.HasPrefix(d.Key, "ecr") || strings.HasPrefix(d.Key, "port.")
		})
	}
	return reached(ctx, r.c, was) == nil
}

// startsBetter returns whether a start that a fault has ended might not have ended with the revision before. The journal and its key are
// the same with each, and so may be the address that another program has taken.
func startsBetter(c *call, fault error) bool {
	var e *exit
	if errors.As(fault, &e) && e.Code == exitDamaged {
		return false
	}
	on, err := enrolment(c).Active()
	if err != nil {
		return true
	}
	was, ok := revisionBefore(c, on)
	return !ok || takenAddresses(c, was) == nil
}

// cure is what may end a cause that keeps a terminal from being ready.
type cure int

const (
	ofBackend cure = iota // other settings of the way to it
	ofLines               // other settings of the registers
	ofBox                 // no setting
)

// whose returns what may end a cause.
func whose(cause ready.Cause) cure {
	switch cause {
	case ready.Replaced, ready.NotConfirmed, ready.DiskFull, ready.ReadOnly, ready.Journal, ready.Locked, ready.Displaced:
		return ofBox
	case ready.NoLine, ready.LineGone, ready.LinePulled, ready.LineStuck, ready.LineAltered, ready.LineDenied, ready.LineBusy, ready.LineNoTTY, ready.LineFailed, ready.LineAddress, ready.PortAddress, ready.Starting:
		return ofLines
	}
	return ofBackend
}
