package enrol

import (
	"context"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Report tells the service which program the terminal runs, and how its last update ended; the zero value = none has. It returns the
// versions that the service holds, and changes nothing on the box. ErrNone, or the service's error: wire.NotFound of a service that takes
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
	for last.Reason != wire.MaskPANs(last.Reason) { // a technician may have typed it
		last.Reason = wire.MaskPANs(last.Reason)
	}
	req := fleet.ReportRequest{Version: d.Version}
	if last.Sound() { // without it the service still says what it holds
		req.Update = last
	}
	proof, err := fleet.ProveReport(key, r.Now.ID, b.now(), req)
	if err != nil {
		return nil, err
	}
	svc, err := d.Service(r.Now.URL)
	if err != nil {
		return nil, err
	}
	got, err := svc.Report(ctx, wire.NewKey(), proof, req)
	return got.Held, err
}
