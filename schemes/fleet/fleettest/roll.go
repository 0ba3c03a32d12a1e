package fleettest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/wire"
)

// Says reports which configuration the device works with.
func (d *Device) Says(t *testing.T, is fleet.Applied) {
	t.Helper()
	_, err := d.Report(t, fleet.ReportRequest{Version: "1.0.0", Configuration: is})
	require.NoError(t, err)
}

// Takes fetches the newest configuration, and says that the device works with it. It returns the configuration.
func (d *Device) Takes(t *testing.T) fleet.Revision {
	t.Helper()
	rev, err := d.Configuration(t)
	require.NoError(t, err)
	_, err = d.Confirm(t, rev.Number)
	require.NoError(t, err)
	d.Says(t, fleet.Applied{Revision: rev.Number, Proven: true})
	return rev
}

// Start begins a roll-out of a setting and lets the service give it out.
func (f Fixture) Start(t *testing.T, req fleet.StartRequest) fleet.Roll {
	t.Helper()
	if req.Settings == nil {
		req.Settings = []fleet.Setting{{Key: "offline.max_count", Value: "50"}}
	}
	made, err := f.Desk.Start(t.Context(), "", req)
	require.NoError(t, err)
	return f.Roll(t, made.ID)
}

// Roll lets the service take its roll-out on, and returns what the operator sees.
func (f Fixture) Roll(t *testing.T, id string) fleet.Roll {
	t.Helper()
	require.NoError(t, f.Advance(t.Context()))
	got, err := f.Desk.Rolls(t.Context())
	require.NoError(t, err)
	for _, r := range got.Rolls {
		if r.ID == id {
			return r
		}
	}
	require.Fail(t, "the roll-out is not in the list")
	panic("unreachable")
}

// Move moves a roll-out and lets the service take it on.
func (f Fixture) Move(t *testing.T, id string, m fleet.Move) fleet.Roll {
	t.Helper()
	_, err := f.Desk.Move(t.Context(), "", fleet.MoveRequest{ID: id, Move: m})
	require.NoError(t, err)
	return f.Roll(t, id)
}

// alone revokes every terminal from before, and enrols some.
func (f Fixture) alone(t *testing.T, boxes int, configuration wire.Secret) []*Device {
	t.Helper()
	got, err := f.Desk.List(t.Context(), fleet.ListRequest{State: fleet.Confirmed})
	require.NoError(t, err)
	for _, e := range got.Enrolments {
		_, err := f.Desk.Revoke(t.Context(), "", fleet.RevokeRequest{ID: e.ID})
		require.NoError(t, err)
	}
	list := make([]*Device, boxes)
	for i := range list {
		list[i] = f.Device(t, f.serial())
		require.NoError(t, list[i].Redeem(t, f.Code(t, fleet.CodeRequest{Configuration: configuration}).Code))
		_, err := list[i].Confirm(t, 1)
		require.NoError(t, err)
	}
	return list
}

// given are the devices for which there is a newer configuration than they have, and the others.
func given(t *testing.T, list []*Device, has int64) (newer, not []*Device) {
	t.Helper()
	for _, d := range list {
		rev, err := d.Configuration(t)
		require.NoError(t, err)
		if rev.Number > has {
			newer = append(newer, d)
		} else {
			not = append(not, d)
		}
	}
	return newer, not
}

const (
	ownText   = "[terminal]\nbax_id = \"B1\"\n[offline]\nmax_count = 20 # few\nmax_age = \"24h\"\n"
	givenText = "[terminal]\nbax_id = \"B1\"\n[offline]\nmax_count = 50 # few\nmax_age = \"24h\"\n"
)

// rolls: settings go out in stages, are paused by failures and by the operator, and are taken back.
func (f Fixture) rolls(t *testing.T) {
	boxes := f.alone(t, 4, ownText)
	at := f.Now().UTC().Format(time.RFC3339)
	key := wire.NewKey()
	req := fleet.StartRequest{Settings: []fleet.Setting{{Key: "offline.max_count", Value: "50"}}, Stages: []int32{25, 100}, Enough: 100, SoakSeconds: 600}
	made, err := f.Desk.Start(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, fleet.Roll{
		ID: made.ID, State: fleet.Running, Settings: req.Settings, Stages: req.Stages, Stage: 1, Enough: 100, SoakSeconds: 600, SilenceSeconds: 3600,
		Boxes: 4, StartedAt: at, StageAt: at,
	}, made)
	again, err := f.Desk.Start(t.Context(), key, req)
	require.NoError(t, err)
	require.Equal(t, made, again)
	_, err = f.Desk.Start(t.Context(), "", req)
	refused(t, err, wire.Conflict, fleet.RollOpen)

	// One terminal has it, and the next stage waits until that one was healthy for the time.
	require.EqualValues(t, 1, f.Roll(t, made.ID).Given)
	first, others := given(t, boxes, 1)
	require.Len(t, first, 1)
	rev := first[0].Takes(t)
	require.EqualValues(t, 2, rev.Number)
	require.Equal(t, wire.Secret(givenText), rev.Text)
	seen := f.at(t, first[0].Got.EnrolmentID)
	require.Equal(t, []int64{2, 2}, []int64{seen.Revision, seen.ConfirmedRevision})
	f.Pass(9 * time.Minute)
	first[0].Says(t, fleet.Applied{Revision: 2, Proven: true})
	now := f.Roll(t, made.ID)
	require.Equal(t, []int32{1, 1, 1, 0}, []int32{now.Stage, now.Given, now.Taken, now.Healthy}, "it was healthy for nine minutes")
	f.Pass(time.Minute)
	first[0].Says(t, fleet.Applied{Revision: 2, Proven: true})
	now = f.Roll(t, made.ID)
	require.Equal(t, []int32{2, 4, 1, 1}, []int32{now.Stage, now.Given, now.Taken, now.Healthy})

	// Two refuse it: that pauses it, and the last one is given nothing.
	for i, d := range others[:2] {
		d.Says(t, fleet.Applied{Revision: 1, Proven: true, Refused: 2, Reason: "revision 2: offline.max_count: 50 is too much"})
		now = f.Roll(t, made.ID)
		require.EqualValues(t, i+1, now.Failed)
		require.Equal(t, i == 1, now.State == fleet.Paused, "one failure of many pauses nothing: %+v", now)
	}
	require.Equal(t, "2 of 3 terminals refused it or went back, 0 are silent: revision 2: offline.max_count: 50 is too much", now.Reason)
	seen = f.at(t, others[0].Got.EnrolmentID)
	require.Equal(t, []int64{2, 1, 2}, []int64{seen.Revision, seen.ConfirmedRevision, seen.RefusedRevision})
	require.Equal(t, "revision 2: offline.max_count: 50 is too much", seen.Refusal)
	rev, err = others[2].Configuration(t)
	require.NoError(t, err)
	require.EqualValues(t, 1, rev.Number, "a roll-out that is paused is handed to no other terminal")

	// The operator lets it go on; what failed before does not count any more, and one of them works with it now.
	now = f.Move(t, made.ID, fleet.Resume)
	require.Equal(t, fleet.Running, now.State)
	require.Empty(t, now.Reason)
	require.Zero(t, now.Failed)
	others[0].Takes(t)
	others[2].Takes(t)
	require.EqualValues(t, 3, f.Roll(t, made.ID).Taken)
	require.Zero(t, f.at(t, others[0].Got.EnrolmentID).RefusedRevision)
	now = f.Move(t, made.ID, fleet.Pause)
	require.Equal(t, fleet.Paused, now.State)
	require.Equal(t, "by the operator", now.Reason)
	f.Pass(10 * time.Minute)
	others[0].Says(t, fleet.Applied{Revision: 2, Proven: true})
	others[2].Says(t, fleet.Applied{Revision: 2, Proven: true})
	require.Equal(t, fleet.Paused, f.Roll(t, made.ID).State)
	now = f.Move(t, made.ID, fleet.Resume)
	require.Equal(t, fleet.Done, now.State, "all that are counted are healthy")
	require.EqualValues(t, 3, now.Healthy)
	require.Equal(t, f.Now().UTC().Format(time.RFC3339), now.EndedAt)
	for _, m := range []fleet.Move{fleet.Pause, fleet.Resume} {
		_, err = f.Desk.Move(t.Context(), "", fleet.MoveRequest{ID: made.ID, Move: m})
		refused(t, err, wire.Conflict, fleet.RollEnded)
	}

	// It is taken back by a newer number; what was configured since stays.
	const since = "[offline]\nmax_count = 60\n"
	_, err = f.Desk.Configure(t.Context(), "", fleet.ConfigureRequest{ID: others[2].Got.EnrolmentID, Configuration: since})
	require.NoError(t, err)
	now = f.Move(t, made.ID, fleet.TakeBack)
	require.Equal(t, fleet.Back, now.State)
	require.EqualValues(t, 4, now.Back)
	require.NotEmpty(t, now.EndedAt)
	for _, d := range []*Device{first[0], others[0], others[1]} {
		rev = d.Takes(t)
		require.EqualValues(t, 3, rev.Number, "a number never goes down")
		require.Equal(t, wire.Secret(ownText), rev.Text)
	}
	rev = others[2].Takes(t)
	require.EqualValues(t, 3, rev.Number)
	require.Equal(t, wire.Secret(since), rev.Text)
	require.Equal(t, now, f.Move(t, made.ID, fleet.TakeBack), "taken back again is the same")
	f.badRolls(t)
}

// paused: silence and a way back count as failures, and a terminal that goes back counts though it had taken the settings.
func (f Fixture) paused(t *testing.T) {
	boxes := f.alone(t, 4, ownText)
	made := f.Start(t, fleet.StartRequest{Stages: []int32{100}, Enough: 50, SilenceSeconds: 600})
	for _, d := range boxes {
		d.Takes(t)
	}
	f.Pass(10 * time.Minute)
	for _, d := range boxes[2:] {
		d.Says(t, fleet.Applied{Revision: 2})
	}
	now := f.Roll(t, made.ID)
	require.Equal(t, fleet.Paused, now.State)
	require.EqualValues(t, 2, now.Silent)
	require.Equal(t, "0 of 4 terminals refused it or went back, 2 are silent", now.Reason)
	require.Equal(t, fleet.Running, f.Move(t, made.ID, fleet.Resume).State)

	// Half of them are healthy, which is enough; but two went back.
	f.Pass(20 * time.Minute)
	for _, d := range boxes[:2] {
		d.Says(t, fleet.Applied{Revision: 2, Proven: true})
	}
	for _, d := range boxes[2:] {
		_, err := d.Confirm(t, 1)
		require.NoError(t, err)
	}
	now = f.Roll(t, made.ID)
	require.Equal(t, fleet.Paused, now.State, "a stage ends only while failures are below the bound: %+v", now)
	require.Equal(t, []int32{2, 2}, []int32{now.Healthy, now.Failed})
	require.Equal(t, fleet.Back, f.Move(t, made.ID, fleet.TakeBack).State)
}

// badRolls: what breaks a rule changes nothing.
func (f Fixture) badRolls(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*fleet.StartRequest)
	}{
		{"settings", func(r *fleet.StartRequest) { r.Settings = nil }},
		{"settings", func(r *fleet.StartRequest) { r.Settings = make([]fleet.Setting, 21) }},
		{"settings[0].key", func(r *fleet.StartRequest) { r.Settings[0].Key = "max_count" }},
		{"settings[0].key", func(r *fleet.StartRequest) { r.Settings[0].Key = "offline." }},
		{"settings[0].key", func(r *fleet.StartRequest) { r.Settings[0].Key = "offline.a = 1\n[upstream]\nbase" }},
		{"settings[0].key", func(r *fleet.StartRequest) { r.Settings[0].Key = "terminal.terminal_id" }},
		{"settings[0].key", func(r *fleet.StartRequest) { r.Settings[0].Key = "ecr.password" }},
		{"settings[0].key", func(r *fleet.StartRequest) { r.Settings[0].Key = "upstream.auth.bearer" }},
		{"settings[1].key", func(r *fleet.StartRequest) { r.Settings = append(r.Settings, r.Settings[0]) }},
		{"settings[0].value", func(r *fleet.StartRequest) { r.Settings[0].Value = "" }},
		{"settings[0].value", func(r *fleet.StartRequest) { r.Settings[0].Value = "5\n[upstream]" }},
		{"settings[0].value", func(r *fleet.StartRequest) { r.Settings[0].Value = "\"open" }},
		{"settings[0].value", func(r *fleet.StartRequest) { r.Settings[0].Value = "5 # five" }},
		{"settings[0].value", func(r *fleet.StartRequest) { r.Settings[0].Value = strings.Repeat("1", 1001) }},
		{"stages", func(r *fleet.StartRequest) { r.Stages = []int32{0, 100} }},
		{"stages", func(r *fleet.StartRequest) { r.Stages = []int32{50, 50, 100} }},
		{"stages", func(r *fleet.StartRequest) { r.Stages = []int32{50} }},
		{"stages", func(r *fleet.StartRequest) { r.Stages = []int32{100, 200} }},
		{"stages", func(r *fleet.StartRequest) { r.Stages = []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100} }},
		{"enough", func(r *fleet.StartRequest) { r.Enough = 101 }},
		{"soakSeconds", func(r *fleet.StartRequest) { r.SoakSeconds = 59 }},
		{"silenceSeconds", func(r *fleet.StartRequest) { r.SilenceSeconds = -1 }},
	} {
		req := fleet.StartRequest{Settings: []fleet.Setting{{Key: "offline.max_count", Value: "50"}}}
		c.change(&req)
		_, err := f.Desk.Start(t.Context(), "", req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", c.field, err)
		require.ErrorContains(t, err, c.field)
	}
	_, err := f.Desk.Move(t.Context(), "", fleet.MoveRequest{ID: "none", Move: fleet.Pause})
	refused(t, err, wire.NotFound, "")
	_, err = f.Desk.Move(t.Context(), "", fleet.MoveRequest{ID: "none", Move: fleet.Finish})
	refused(t, err, wire.Invalid, "")
	f.alone(t, 0, "")
	_, err = f.Desk.Start(t.Context(), "", fleet.StartRequest{Settings: []fleet.Setting{{Key: "offline.max_count", Value: "50"}}})
	refused(t, err, wire.Invalid, "")
	require.ErrorContains(t, err, "no terminal is enrolled")
}
