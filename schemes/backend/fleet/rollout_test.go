package fleet_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/schemes/fleet"
	"posagent/schemes/fleet/fleettest"
	"posagent/schemes/wire"
	"posagent/store"
	"posagent/store/storetest"
)

// Two of forty-two are under 5 %, three of forty-three are not.
func TestAFewOfManyHoldNothing(t *testing.T) {
	var log bytes.Buffer
	_, f := desk(t, storetest.Open(t, steps()...), start(), slog.New(slog.NewTextHandler(&log, nil)))
	for range 40 {
		require.Nil(t, f.Enrolled(t).Kept(t, "2.0.0"))
	}
	for range 2 {
		require.Nil(t, f.Enrolled(t).TookBack(t, "2.0.0"))
	}
	require.NotContains(t, log.String(), "a version is held")
	require.Equal(t, &fleet.Hold{Version: "2.0.0", TakenBack: 3, Tried: 43}, f.Enrolled(t).TookBack(t, "2.0.0"))
	require.Contains(t, log.String(), `"a version is held: boxes took it back" sys=fleet version=2.0.0 taken_back=3 kept=40`)
	for range 40 {
		require.NotNil(t, f.Enrolled(t).Kept(t, "2.0.0"), "a hold ends by the operator, not by others that keep the version")
	}
}

// A box that is enrolled again is the same box; another one of the same terminal is not.
func TestABoxCountsOnce(t *testing.T) {
	_, f := desk(t, storetest.Open(t, steps()...), start(), nil)
	enrolled := func(serial string) *fleettest.Device {
		d := f.Device(t, serial)
		require.NoError(t, d.Redeem(t, f.Code(t, fleet.CodeRequest{Slot: fleet.Slot{MerchantID: "M1", TerminalID: "T1"}}).Code))
		_, err := d.Confirm(t, 1)
		require.NoError(t, err)
		return d
	}
	require.Nil(t, enrolled("PA-1").TookBack(t, "2.0.0"))
	require.Nil(t, enrolled("PA-1").TookBack(t, "2.0.0"), "enrolled again")
	require.Equal(t, &fleet.Hold{Version: "2.0.0", TakenBack: 2, Tried: 2}, enrolled("PA-2").TookBack(t, "2.0.0"), "the one before it is revoked, and was a box")
}

// TestField2_A7AMerchantsBoxesAreOneWord: two boxes of one merchant held a version that no box ever ran, for every merchant, and again
// after the operator's lift. The kind: who counts (a merchant's boxes count once, for all others), where a hold reaches, what a lift
// forgets (a repeat with another time, the box enrolled again, one that has reported other versions meanwhile), and what is pushed out.
func TestField2_A7AMerchantsBoxesAreOneWord(t *testing.T) {
	f, fix := desk(t, storetest.Open(t, steps()...), start(), nil)
	enrolled := func(merchant, serial string) *fleettest.Device {
		d := fix.Device(t, serial)
		require.NoError(t, d.Redeem(t, fix.Code(t, fleet.CodeRequest{Slot: fleet.Slot{MerchantID: merchant, TerminalID: "T-" + serial}}).Code))
		_, err := d.Confirm(t, 1)
		require.NoError(t, err)
		return d
	}
	holds := func(d *fleettest.Device, version string) bool {
		got, err := d.Report(t, fleet.ReportRequest{Version: "1.0.0"})
		require.NoError(t, err)
		return slices.ContainsFunc(got.Held, func(h fleet.Hold) bool { return h.Version == version })
	}
	const version = "9.9.9"
	evil := []*fleettest.Device{enrolled("EVIL", "E1"), enrolled("EVIL", "E2"), enrolled("EVIL", "E3")}
	good, other := enrolled("GOOD", "G1"), enrolled("OTHER", "O1")
	for _, d := range evil[:2] {
		d.TookBack(t, version)
	}
	require.True(t, holds(evil[2], version), "a merchant's own boxes: a chain is a fleet of its own")
	require.False(t, holds(good, version), "nobody else's")
	require.False(t, holds(other, version))

	require.Equal(t, &fleet.Hold{Version: version, TakenBack: 3, Tried: 3}, good.TookBack(t, version), "two merchants")
	require.True(t, holds(other, version), "everybody's")

	lift := func() {
		_, err := f.Lift(t.Context(), "", fleet.LiftRequest{Version: version})
		require.NoError(t, err)
		for _, d := range append(evil, good, other) {
			require.False(t, holds(d, version), "lifted")
		}
	}
	lift()
	for i := range 30 { // more than are kept of one box
		evil[0].Kept(t, fmt.Sprintf("1.0.%d", i))
	}
	fix.Pass(time.Minute)
	for _, d := range append(evil[:2:2], good) {
		require.Nil(t, d.TookBack(t, version), "it had reported before")
	}
	evil[0] = enrolled("EVIL", "E1")
	require.Nil(t, evil[0].TookBack(t, version), "the same box, enrolled again")
	require.False(t, holds(other, version))
	require.Nil(t, other.TookBack(t, version), "one merchant")
	require.Equal(t, &fleet.Hold{Version: version, TakenBack: 2, Tried: 2}, evil[2].TookBack(t, version), "two that had not reported before")
	lift()

	other.TookBack(t, "2.0.0")
	require.NotNil(t, good.TookBack(t, "2.0.0"))
	for i := range fleet.MaxHolds + 10 {
		fix.Pass(time.Second)
		evil[1].TookBack(t, fmt.Sprintf("8.%d.0", i))
		evil[2].TookBack(t, fmt.Sprintf("8.%d.0", i))
	}
	require.True(t, holds(good, "2.0.0"), "no merchant's boxes push out what is held for others")
	require.True(t, holds(evil[0], "2.0.0"))
}

// A backend that starts again holds what it held. A report that says nothing new is not written.
func TestAHoldOutlivesTheBackend(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "fleet.db"), start()
	db := storetest.OpenAt(t, path, steps()...)
	asked := &counting{DB: db}
	_, f := desk(t, asked, c, nil)
	a, b := f.Enrolled(t), f.Enrolled(t)
	require.Nil(t, a.TookBack(t, "2.0.0"))
	require.NotNil(t, b.TookBack(t, "2.0.0"))
	asked.calls = nil
	require.NotNil(t, b.TookBack(t, "2.0.0"), "the same again")
	require.NotEmpty(t, asked.calls)
	require.NotContains(t, asked.calls, "write")
	require.NoError(t, db.Close())

	db = storetest.OpenAt(t, path, steps()...)
	_, f = desk(t, db, c, nil)
	require.Equal(t, &fleet.Hold{Version: "2.0.0", TakenBack: 2, Tried: 3}, f.Enrolled(t).Kept(t, "2.0.0"))
}

// What two boxes can make up is bounded, and what is held and what they are known for stays.
func TestReportsAreBounded(t *testing.T) {
	db, c := storetest.Open(t, steps()...), start()
	f, fix := desk(t, db, c, nil)
	a, b := fix.Enrolled(t), fix.Enrolled(t)
	for i := range fleet.MaxHolds + 10 {
		c.pass(time.Second)
		version := fmt.Sprintf("3.%d.0", i)
		require.Nil(t, a.TookBack(t, version))
		require.NotNil(t, b.TookBack(t, version))
		if i == 0 {
			_, err := f.Lift(t.Context(), "", fleet.LiftRequest{Version: version})
			require.NoError(t, err)
		}
	}
	got, err := a.Report(t, fleet.ReportRequest{Version: "1.0.0"})
	require.NoError(t, err)
	require.Len(t, got.Held, 50)
	require.Equal(t, "3.59.0", got.Held[0].Version)
	require.Equal(t, "3.10.0", got.Held[49].Version)
	require.Equal(t, 40, count(t, db, `SELECT COUNT(*) FROM fleet_outcome`), "twenty of each box")
	require.Equal(t, 50, count(t, db, `SELECT COUNT(*) FROM fleet_hold`))
	list, err := f.Versions(t.Context())
	require.NoError(t, err)
	require.Len(t, list.Versions, 50)
	require.Equal(t, "3.59.0", list.Versions[0].Version)
	require.NotEmpty(t, list.Versions[49].HeldAt, "one that no box is known for any more can be lifted still")
}

func count(t *testing.T, db store.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.Read(t.Context(), func(rd store.Reader) error { return rd.QueryRow(query).Scan(&n) }))
	return n
}

// Reports at once, of two boxes about one version: it is held once, and each box counts.
func TestReportsAtOnce(t *testing.T) {
	_, f := desk(t, storetest.Open(t, steps()...), start(), nil)
	const boxes = 8
	done := make(chan error, boxes)
	for i := range boxes {
		d := f.Enrolled(t)
		req := fleet.ReportRequest{Version: "1.0.0", Update: fleet.Outcome{Version: "2.0.0", Kept: i%2 == 0, At: "2026-11-23T10:00:00Z"}}
		by, err := fleet.ProveReport(d.Key, d.Got.EnrolmentID, f.Now(), req)
		require.NoError(t, err)
		go func() {
			_, err := f.Service.Report(t.Context(), wire.NewKey(), by, req)
			done <- err
		}()
	}
	for range boxes {
		require.NoError(t, <-done)
	}
	got, err := f.Desk.Versions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []fleet.Rollout{{Version: "2.0.0", Kept: 4, TakenBack: 4, HeldAt: "2026-11-23T10:00:00Z"}}, got.Versions)
}
