package fleettest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Enrolled is a terminal that has confirmed.
func (f Fixture) Enrolled(t *testing.T) *Device {
	t.Helper()
	d := f.Device(t, f.serial())
	require.NoError(t, d.Redeem(t, f.Code(t, fleet.CodeRequest{}).Code))
	_, err := d.Confirm(t, 1)
	require.NoError(t, err)
	return d
}

// Report says which program the device runs, and how its last update ended.
func (d *Device) Report(t *testing.T, req fleet.ReportRequest) (fleet.ReportReply, error) {
	t.Helper()
	by, err := fleet.ProveReport(d.Key, d.Got.EnrolmentID, d.f.Now(), req)
	require.NoError(t, err)
	return d.f.Service.Report(t.Context(), "", by, req)
}

// TookBack reports that the device took a version back, and Kept that it kept one. They return what is held of that version; nil =
// it is not.
func (d *Device) TookBack(t *testing.T, version string) *fleet.Hold {
	t.Helper()
	return d.ended(t, fleet.ReportRequest{Version: "1.0.0", Update: fleet.Outcome{Version: version, Reason: "it did not start", At: d.moment()}})
}

// Kept is TookBack for a version that the device kept.
func (d *Device) Kept(t *testing.T, version string) *fleet.Hold {
	t.Helper()
	return d.ended(t, fleet.ReportRequest{Version: version, Update: fleet.Outcome{Version: version, Kept: true, At: d.moment()}})
}

func (d *Device) moment() string { return d.f.Now().UTC().Format(time.RFC3339) }

func (d *Device) ended(t *testing.T, req fleet.ReportRequest) *fleet.Hold {
	t.Helper()
	got, err := d.Report(t, req)
	require.NoError(t, err)
	require.NotNil(t, got.Held)
	for _, h := range got.Held {
		if h.Version == req.Update.Version {
			return &h
		}
	}
	return nil
}

// release is a version of its own.
func release() string { return "2.0.0-" + string(wire.NewKey()) }

// became is what the operator sees of a version; the zero value where there is none.
func (f Fixture) became(t *testing.T, version string) fleet.Rollout {
	t.Helper()
	got, err := f.Desk.Versions(t.Context())
	require.NoError(t, err)
	for _, v := range got.Versions {
		if v.Version == version {
			return v
		}
	}
	return fleet.Rollout{}
}

// rollouts: what two boxes of a merchant took back is held for all of that merchant, until the operator lifts it.
func (f Fixture) rollouts(t *testing.T) {
	a, b, c := f.Enrolled(t), f.Enrolled(t), f.Enrolled(t)
	bad, good := release(), release()
	got, err := a.Report(t, fleet.ReportRequest{Version: "1.0.1"})
	require.NoError(t, err)
	require.NotNil(t, got.Held)
	seen := f.at(t, a.Got.EnrolmentID)
	require.Equal(t, "1.0.1", seen.Version)
	require.Zero(t, seen.Update, "no update has ended")
	_, err = f.Desk.Lift(t.Context(), "", fleet.LiftRequest{Version: bad})
	refused(t, err, wire.NotFound, "")

	require.Nil(t, a.Kept(t, good))
	require.Nil(t, a.TookBack(t, bad), "one box holds nothing")
	f.Pass(time.Hour)
	require.Nil(t, a.TookBack(t, bad), "it is the same box")
	_, err = f.Desk.Lift(t.Context(), "", fleet.LiftRequest{Version: bad})
	refused(t, err, wire.NotFound, "")
	require.Equal(t, fleet.Rollout{Version: bad, TakenBack: 1}, f.became(t, bad))
	at := f.Now().UTC().Format(time.RFC3339)
	require.Equal(t, &fleet.Hold{Version: bad, TakenBack: 2, Tried: 2}, b.TookBack(t, bad))
	require.Equal(t, &fleet.Hold{Version: bad, TakenBack: 2, Tried: 3}, c.Kept(t, bad), "every box is told")
	require.Equal(t, fleet.Rollout{Version: bad, TakenBack: 2, Kept: 1, HeldAt: at}, f.became(t, bad))
	require.Equal(t, fleet.Rollout{Version: good, Kept: 1}, f.became(t, good))
	seen = f.at(t, b.Got.EnrolmentID)
	require.Equal(t, "1.0.0", seen.Version)
	require.Equal(t, fleet.Outcome{Version: bad, Reason: "it did not start", At: at}, seen.Update)
	seen = f.at(t, c.Got.EnrolmentID)
	require.Equal(t, bad, seen.Version)
	require.Equal(t, fleet.Outcome{Version: bad, Kept: true, At: at}, seen.Update)

	f.Pass(time.Hour)
	at = f.Now().UTC().Format(time.RFC3339)
	key := wire.NewKey()
	lifted, err := f.Desk.Lift(t.Context(), key, fleet.LiftRequest{Version: bad})
	require.NoError(t, err)
	require.Equal(t, fleet.Rollout{Version: bad, LiftedAt: at}, lifted, "none of its boxes counts any more")
	require.Equal(t, lifted, f.became(t, bad))
	f.Pass(time.Minute)
	for _, k := range []wire.Key{key, ""} {
		again, err := f.Desk.Lift(t.Context(), k, fleet.LiftRequest{Version: bad})
		require.NoError(t, err)
		require.Equal(t, lifted, again)
	}
	_, err = f.Desk.Lift(t.Context(), key, fleet.LiftRequest{Version: good})
	require.Equal(t, wire.KeyReused, wire.CodeOf(err), "%v", err)
	got, err = b.Report(t, fleet.ReportRequest{Version: "1.0.0"})
	require.NoError(t, err)
	for _, h := range got.Held {
		require.NotEqual(t, bad, h.Version)
	}
	for _, d := range []*Device{a, b, c} {
		require.Nil(t, d.TookBack(t, bad), "it had reported before")
	}
	require.Nil(t, f.Enrolled(t).TookBack(t, bad), "one box since")
	require.Equal(t, &fleet.Hold{Version: bad, TakenBack: 2, Tried: 2}, f.Enrolled(t).TookBack(t, bad), "it is held again")

	f.badReports(t, a)
}

// badReports: a report that is not the device's, or that breaks a rule, changes nothing.
func (f Fixture) badReports(t *testing.T, d *Device) {
	id, version := d.Got.EnrolmentID, release()
	before := f.at(t, id)
	good := fleet.ReportRequest{Version: "1.0.1", Update: fleet.Outcome{Version: version, Reason: "it has ended 4 times", At: "2026-11-23T10:00:00Z"}}
	other := good
	other.Update.Kept = true
	by, err := fleet.ProveReport(d.Key, id, f.Now(), other)
	require.NoError(t, err)
	late, err := fleet.ProveReport(d.Key, id, f.Now().Add(-6*time.Minute), good)
	require.NoError(t, err)
	elsewhere, err := fleet.ProveConfiguration(d.Key, id, f.Now())
	require.NoError(t, err)
	for name, p := range map[string]fleet.Proof{"none": {}, "of another report": by, "late": late, "of another call": elsewhere} {
		_, err := f.Service.Report(t.Context(), "", p, good)
		require.Equal(t, fleet.NotProven, wire.ReasonOf(err), "%s: %v", name, err)
	}
	for _, c := range []struct {
		field  string
		change func(*fleet.ReportRequest)
	}{
		{"version", func(r *fleet.ReportRequest) { r.Version = "" }},
		{"version", func(r *fleet.ReportRequest) { r.Version = strings.Repeat("1", 65) }},
		{"version", func(r *fleet.ReportRequest) { r.Version = "1.0\x1b[2J" }},
		{"update.version", func(r *fleet.ReportRequest) { r.Update.Version = "" }},
		{"update.version", func(r *fleet.ReportRequest) { r.Update.Version = "1.0é" }},
		{"update.reason", func(r *fleet.ReportRequest) { r.Update.Reason = strings.Repeat("x", 201) }},
		{"update.reason", func(r *fleet.ReportRequest) { r.Update.Reason = "a\nb" }},
		{"update.reason", func(r *fleet.ReportRequest) { r.Update.Reason = "card 4111111111111111" }},
		{"update.at", func(r *fleet.ReportRequest) { r.Update.At = "yesterday" }},
		{"update.at", func(r *fleet.ReportRequest) {
			r.Update.At = "2026-11-23T10:00:00." + strings.Repeat("0", 100) + "Z"
		}},
	} {
		req := good
		c.change(&req)
		_, err := d.Report(t, req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.field, err)
		require.ErrorContains(t, err, c.field)
		require.NotContains(t, err.Error(), "4111")
	}
	_, err = f.Desk.Lift(t.Context(), "", fleet.LiftRequest{Version: "\n"})
	require.Equal(t, wire.Invalid, wire.CodeOf(err), "%v", err)
	require.Equal(t, before, f.at(t, id))
	_, err = f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: id})
	require.NoError(t, err)
	_, err = d.Report(t, good)
	refused(t, err, wire.Forbidden, fleet.CertRevoked)
	require.Zero(t, f.became(t, version))
}
