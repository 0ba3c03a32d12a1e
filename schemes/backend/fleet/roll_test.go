package fleet_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	room "posagent/schemes/backend/fleet"
	"posagent/schemes/fleet"
	"posagent/schemes/fleet/fleettest"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// Several processes on one database take one roll-out on: each terminal gets one revision, and no stage is passed over.
func TestProcessesAdvanceOnce(t *testing.T) {
	db, c := storetest.Open(t, steps()...), start()
	_, f := desk(t, db, c, nil)
	others := make([]*room.Fleet, 4)
	for i := range others {
		others[i], _ = desk(t, db, c, nil)
	}
	boxes := make([]*fleettest.Device, 10)
	for i := range boxes {
		boxes[i] = f.Enrolled(t)
	}
	atOnce := func() {
		done := make(chan error, len(others))
		for _, o := range others {
			go func() { done <- o.Advance(t.Context()) }()
		}
		for range others {
			require.NoError(t, <-done)
		}
	}
	made, err := f.Desk.Start(t.Context(), wire.NewKey(), fleet.StartRequest{
		Settings: []fleet.Setting{{Key: "offline.max_count", Value: "50"}}, Stages: []int32{10, 20, 30, 100}, SoakSeconds: 60,
	})
	require.NoError(t, err)
	for stage, given := range []int{1, 2, 3, 10} {
		atOnce()
		require.Equal(t, given, count(t, db, `SELECT COUNT(*) FROM fleet_revision WHERE number = 2`))
		require.Zero(t, count(t, db, `SELECT COUNT(*) FROM fleet_revision WHERE number > 2`))
		require.Equal(t, stage+1, count(t, db, `SELECT stage FROM fleet_roll`))
		atOnce()
		require.Equal(t, stage+1, count(t, db, `SELECT stage FROM fleet_roll`), "nothing was heard since")
		for range 2 {
			for _, d := range boxes {
				if rev, err := d.Configuration(t); err == nil && rev.Number == 2 {
					d.Takes(t)
				}
			}
			c.pass(time.Minute)
		}
	}
	atOnce()
	require.Equal(t, fleet.Done, f.Roll(t, made.ID).State)
	_, err = f.Desk.Move(t.Context(), wire.NewKey(), fleet.MoveRequest{ID: made.ID, Move: fleet.TakeBack})
	require.NoError(t, err)
	atOnce()
	require.Equal(t, 10, count(t, db, `SELECT COUNT(*) FROM fleet_revision WHERE number = 3`))
	require.Equal(t, 30, count(t, db, `SELECT COUNT(*) FROM fleet_revision`))
	require.EqualValues(t, 10, f.Roll(t, made.ID).Back)
}

// A terminal has one rank in a roll-out, and another one in the next: no terminal is always the first.
func TestEachRollOutStartsElsewhere(t *testing.T) {
	db, c := storetest.Open(t, steps()...), start()
	_, f := desk(t, db, c, nil)
	boxes := map[string]bool{}
	for range 8 {
		boxes[f.Enrolled(t).Got.EnrolmentID] = true
	}
	first := map[string]bool{}
	for n := range 12 {
		made := f.Start(t, fleet.StartRequest{Settings: []fleet.Setting{{Key: "offline.max_count", Value: fmt.Sprint(n)}}, Stages: []int32{1, 100}})
		require.EqualValues(t, 1, made.Given, "of eight terminals a hundredth is one")
		require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error {
			ids, err := store.Column[string](rd, `SELECT enrolment FROM fleet_roll_box WHERE roll = ? AND place = 1`, made.ID)
			first[ids[0]] = true
			return err
		}))
		require.NotEmpty(t, f.Move(t, made.ID, fleet.TakeBack).EndedAt)
	}
	require.Greater(t, len(first), 1)
	for id := range first {
		require.True(t, boxes[id])
	}
}

// A stage of one terminal that fails would be waited for for ever: it pauses the roll-out. So does one whose other terminals are healthy,
// where they are not enough.
func TestAStageThatCannotEnd(t *testing.T) {
	c := start()
	_, f := desk(t, storetest.Open(t, steps()...), c, nil)
	boxes := []*fleettest.Device{f.Enrolled(t), f.Enrolled(t), f.Enrolled(t), f.Enrolled(t)}
	made := f.Start(t, fleet.StartRequest{Stages: []int32{1, 100}, SoakSeconds: 600})
	var others []*fleettest.Device
	for _, d := range boxes {
		if rev, err := d.Configuration(t); err == nil && rev.Number == 2 {
			d.Says(t, fleet.Applied{Revision: 1, Proven: true, Refused: 2, Reason: "no"})
		} else {
			others = append(others, d)
		}
	}
	require.Len(t, others, 3)
	now := f.Roll(t, made.ID)
	require.Equal(t, fleet.Paused, now.State)
	require.Equal(t, "1 of 1 terminals refused it or went back, 0 are silent: no", now.Reason)
	require.EqualValues(t, 1, now.Given)

	now = f.Move(t, made.ID, fleet.Resume)
	require.Equal(t, []int32{2, 4}, []int32{now.Stage, now.Given}, "what failed does not count any more")
	for _, d := range others[:2] {
		d.Takes(t)
	}
	c.pass(10 * time.Minute)
	for _, d := range others[:2] {
		d.Says(t, fleet.Applied{Revision: 2, Proven: true})
	}
	require.Equal(t, fleet.Running, f.Roll(t, made.ID).State, "one may still take it")
	others[2].Says(t, fleet.Applied{Revision: 1, Proven: true, Refused: 2, Reason: "not here"})
	now = f.Roll(t, made.ID)
	require.Equal(t, fleet.Paused, now.State)
	require.Equal(t, "1 of 3 terminals refused it or went back, 0 are silent: not here", now.Reason)
	require.Equal(t, fleet.Done, f.Move(t, made.ID, fleet.Resume).State)
}

// A program from before says no configuration: its confirmation and its reports stand for it. A report that says nothing new is not
// written.
func TestATerminalFromBefore(t *testing.T) {
	c := start()
	asked := &counting{DB: storetest.Open(t, steps()...)}
	_, f := desk(t, asked, c, nil)
	d := f.Enrolled(t)
	made := f.Start(t, fleet.StartRequest{Stages: []int32{100}, SoakSeconds: 600})
	says := func() {
		_, err := d.Report(t, fleet.ReportRequest{Version: "1.0.0"})
		require.NoError(t, err)
	}
	says()
	require.Zero(t, f.Roll(t, made.ID).Taken)
	_, err := d.Confirm(t, 2)
	require.NoError(t, err)
	says()
	asked.calls = nil
	c.pass(5 * time.Minute)
	says()
	require.NotContains(t, asked.calls, "write")
	c.pass(10 * time.Minute)
	says()
	require.Equal(t, fleet.Done, f.Roll(t, made.ID).State)
}

// A roll-out goes when it has ended for the retention, and not before.
func TestARollOutThatHasEndedIsPurged(t *testing.T) {
	db, c := storetest.Open(t, steps()...), start()
	_, f := desk(t, db, c, nil)
	f.Enrolled(t)
	for range 2 {
		made := f.Start(t, fleet.StartRequest{})
		require.NotEmpty(t, f.Move(t, made.ID, fleet.TakeBack).EndedAt)
		c.pass(80 * 24 * time.Hour)
	}
	c.pass(20 * 24 * time.Hour)
	seen := &wrote{DB: db, once: make(chan struct{}, 1)}
	again, _ := desk(t, seen, c, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- again.Run(ctx) }()
	<-seen.once
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Equal(t, 0, count(t, db, `SELECT COUNT(*) FROM fleet_roll WHERE id NOT IN (SELECT roll FROM fleet_roll_box)`))
	require.Equal(t, 0, count(t, db, `SELECT COUNT(*) FROM fleet_roll`))
	f.Start(t, fleet.StartRequest{})
}
