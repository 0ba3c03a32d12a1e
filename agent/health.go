package agent

import (
	"context"
	"os"

	"posagent/agent/control"
	"posagent/agent/ready"
	"posagent/agent/records/audit"
	"posagent/agent/view"
	"posagent/schemes/wire"
)

// Rest is drive.Rest.
func (a *Agent) Rest(ctx context.Context) (bool, error) { return a.drive.Rest(ctx) }

// health is what an update compares: asked of the program before, and of the one on trial. It comes after each loop has taken another
// turn.
func (a *Agent) health(ctx context.Context) (control.Health, error) {
	if err := a.Progress(ctx); err != nil {
		return control.Health{}, err
	}
	h := control.NewHealth(a.o.Drive.Version, os.Getpid())
	report := a.Judge(ctx)
	h.Ready = report.Ready
	if report.NotReady != nil {
		h.Add(report.NotReady.Cause)
	}
	if report.Offline != nil {
		h.Add(report.Offline.Cause)
	}
	if l := a.o.Local; l.Live != nil && a.o.Port != nil { // an older program without a port names none of these
		for _, t := range l.Live().Troubles {
			switch t.Cause {
			case ready.ServiceRefused, ready.PageUnseen, ready.ConfigChanged, ready.Zone, ready.Unmarked: // a question that an older program does not ask, a browser that comes back by itself, a file that it has not read, the box's own
			default:
				h.Add(t.Cause)
			}
		}
	}
	h.Answered = a.o.Ways.Answered != nil && a.o.Ways.Answered()
	return h, nil
}

// opens says whether the first judgement of this run is still to be made.
func (a *Agent) opens(still bool) {
	a.judged.mu.Lock()
	defer a.judged.mu.Unlock()
	a.judged.first = still
}

// live is what only the running terminal knows, judged now.
func (a *Agent) live(ctx context.Context) view.Live {
	var v view.Live
	if known := a.o.Local.Live; known != nil {
		v = known()
	}
	v.Lines, v.Report = a.Lines(), a.Judge(ctx)
	return v
}

// restart ends the run where no sale is open.
func (a *Agent) restart(ctx context.Context) error {
	if a.o.Restart == nil {
		return wire.Errorf(wire.Conflict, "", "this terminal cannot be restarted from outside")
	}
	rests, err := a.drive.Rest(ctx)
	if err != nil {
		return err
	}
	if !rests {
		return wire.Errorf(wire.Conflict, "", "a sale is open, or the end of day runs")
	}
	err = a.note(ctx, audit.Deed{Deed: "terminal.restart"})
	a.o.Restart() // no sale begins any more, whether or not the deed could be noted
	return err
}
