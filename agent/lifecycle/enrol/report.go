package enrol

import (
	"context"
	"time"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// rejectedFor is how long a revision has failed its trials when the service is told: a backend that is away for a moment is no reason.
const rejectedFor = 3 * time.Minute

// applied is which configuration the terminal works with.
func (r *record) applied(now time.Time) fleet.Applied {
	is := fleet.Applied{Revision: r.Active, Proven: r.Proven && !r.Waits}
	if no := r.Rejected; no != nil && no.Number > r.Active {
		if since, err := time.Parse(time.RFC3339, no.Since); err != nil || now.Sub(since).Abs() >= rejectedFor {
			is.Refused, is.Reason = no.Number, fleet.Reason(no.Why)
		}
	}
	return is
}

// Report tells the service which program the terminal runs, how its last update ended (the zero value = none has), and which
// configuration it works with. It returns the versions that the service holds, and changes nothing on the box. ErrNone, or the service's error: wire.NotFound of a service that takes
// no reports.
func (b *Box) Report(ctx context.Context, d Driver, last fleet.Outcome) ([]fleet.Hold, error) {
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	if r.Now == nil || r.Now.Revoked != "" {
		return nil, ErrNone
	}
	key, err := r.Now.signer()
	if err != nil {
		return nil, err
	}
	last.Reason = wire.MaskPANs(last.Reason) // a technician may have typed it
	req := fleet.ReportRequest{Version: d.Version, Configuration: r.applied(b.now())}
	if last.Sound() { // without it the service still says what it holds
		req.Update = last
	}
	svc, err := d.Service(r.Now.URL)
	if err != nil {
		return nil, err
	}
	for {
		var got fleet.ReportReply
		err := d.proven(b.now(), func(at time.Time) error {
			proof, err := fleet.ProveReport(key, r.Now.ID, at, req)
			if err == nil {
				got, err = svc.Report(ctx, wire.NewKey(), proof, req)
			}
			return err
		})
		if wire.CodeOf(err) == wire.Invalid && req.Configuration != (fleet.Applied{}) { // a service from before does not know the field
			req.Configuration = fleet.Applied{}
			continue
		}
		return got.Held, err
	}
}
