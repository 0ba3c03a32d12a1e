package update

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/lifecycle/rollout"
)

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.10.0", "1.9.9", true},
		{"1.9.9", "1.10.0", false},
		{"1.2.0", "1.2", false},
		{"1.2.1", "1.2", true},
		{"v2.0.0", "1.99.0", true},
		{"2.0.0", "2.0.0", false},
		{"2026.11.23-0123456789ab", "2026.11.22-ba9876543210", true},
		{"2026.11.23-0123456789ab", "2026.11.23-ba9876543210", false},
		{"1.0.0+changed", "1.0.0", false},
	} {
		got, err := newer(c.a, c.b)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s after %s", c.a, c.b)
	}
	for _, bad := range []string{"", "dev", "x1.2", "1..2", ".1", "99999999999999999999.0"} {
		_, err := newer(bad, "1.0.0")
		require.Error(t, err, "%q", bad)
		_, err = newer("1.0.0", bad)
		require.Error(t, err, "%q", bad)
	}
}

// A share of 20 % is about a fifth of the boxes, and another fifth for the next version.
func TestShare(t *testing.T) {
	both, first := 0, 0
	for i := range 10_000 {
		box := fmt.Sprint("box", i)
		a, b := share(box, "1.0.0") < 20, share(box, "1.1.0") < 20
		if a {
			first++
		}
		if a && b {
			both++
		}
		require.Equal(t, share(box, "1.0.0"), share(box, "1.0.0"))
		require.Less(t, share(box, "1.0.0"), 100)
	}
	require.InDelta(t, 2000, first, 200)
	require.InDelta(t, 400, both, 100)
}

// What makes the terminal worse is a cause that it did not have, and what it could do and cannot.
func TestWorse(t *testing.T) {
	well := condition{Serves: true, Ready: true, Answered: true}
	offline := condition{Serves: true, Ready: true, Causes: []string{"backend_unreachable"}}
	for _, c := range []struct {
		before, now condition
		want        string
	}{
		{well, well, ""},
		{offline, offline, ""},
		{offline, well, ""},
		{condition{}, well, ""},
		{well, offline, "it says backend_unreachable, which it did not say before"},
		{well, condition{Serves: true, Answered: true}, "it is not ready"},
		{well, condition{Serves: true, Ready: true}, "its backend has not answered yet"},
		{well, condition{Ready: true, Answered: true}, "it does not serve"},
		{condition{Serves: true, Causes: []string{"line_gone"}}, condition{Serves: true, Causes: []string{"line_gone", "line_denied"}}, "it says line_denied, which it did not say before"},
	} {
		require.Equal(t, c.want, c.now.worse(c.before))
	}
}

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	r, err := load(dir)
	require.NoError(t, err)
	require.Equal(t, Idle, r.State)
	r.State, r.Seen.Targets = Trial, 7
	require.NoError(t, r.save(dir))
	again, err := load(dir)
	require.NoError(t, err)
	require.Equal(t, r, again)
	path := filepath.Join(dir, recordName)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := range text { // a spoilt byte is no other state
		spoilt := append([]byte{}, text...)
		spoilt[at] ^= 0x20
		require.NoError(t, os.WriteFile(path, spoilt, 0o600))
		if r, err := load(dir); err == nil {
			require.Equal(t, Trial, r.State, "%s", spoilt)
		} else {
			require.ErrorIs(t, err, ErrRecord, "%s", spoilt)
		}
	}
}

// TestALookChangesNothing: who only looks is told of an update that was cut off, and leaves it to those who go on with it.
func TestALookChangesNothing(t *testing.T) {
	dir := t.TempDir()
	r, err := load(dir)
	require.NoError(t, err)
	r.State, r.From.Version, r.To.Version = Trial, "1.0.0", "2.0.0"
	require.NoError(t, r.save(dir))
	before, err := os.ReadFile(filepath.Join(dir, recordName))
	require.NoError(t, err)
	d := Driver{Dir: dir, Place: Place{Program: filepath.Join(dir, "none")}, Now: time.Now, Say: t.Logf}
	res, err := d.Update(t.Context(), Options{OnlyLook: true})
	require.NoError(t, err)
	require.Contains(t, res.Why, "an update from 1.0.0 to 2.0.0 was cut off in TRIAL")
	require.Contains(t, res.Why, "posagent-update resume")
	after, err := os.ReadFile(filepath.Join(dir, recordName))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

// TestAPlaceIsNeverEmpty: at each moment of a change there is a whole program in place, and it is the one before or the new one.
func TestAPlaceIsNeverEmpty(t *testing.T) {
	dir := t.TempDir()
	p := Place{Program: filepath.Join(dir, "posagent")}
	staged := filepath.Join(dir, "fetched")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o755)) }
	write(p.Program, "the one before")
	write(staged, "the new one")
	from, err := sum(p.Program)
	require.NoError(t, err)
	to, err := sum(staged)
	require.NoError(t, err)
	before, after := program{"1.0.0", from}, program{"2.0.0", to}

	require.ErrorIs(t, p.put(staged, program{"2.0.0", from}), ErrUntrusted, "what was copied is what was signed")
	require.NoFileExists(t, p.Program+".new")
	is, err := sum(p.Program)
	require.NoError(t, err)
	require.Equal(t, from, is)

	running, err := os.Open(p.Program) // as a process that runs it
	require.NoError(t, err)
	defer running.Close()
	require.NoError(t, p.put(staged, after))
	is, err = sum(p.Program)
	require.NoError(t, err)
	require.Equal(t, to, is)
	require.FileExists(t, p.trial())
	text := make([]byte, 14)
	_, err = running.ReadAt(text, 0)
	require.NoError(t, err)
	require.Equal(t, "the one before", string(text), "it was replaced, not written over")

	for range 2 { // a way back that was cut off is gone again
		require.NoError(t, p.back(before))
		is, err = sum(p.Program)
		require.NoError(t, err)
		require.Equal(t, from, is)
	}
	require.NoError(t, p.endTrial())
	require.NoFileExists(t, p.trial())

	require.NoError(t, p.put(staged, after))
	write(p.previous(), "another one")
	require.ErrorIs(t, p.back(before), ErrNoWay, "what is put back is what was there")
	is, err = sum(p.Program)
	require.NoError(t, err)
	require.Equal(t, to, is)
}

// TestField2_D4AClockThatWasAheadBarsNoVersion: when a version was taken back is known by the box's clock alone. Where that was ahead, it is
// not known how long ago that is, and the version is tried again.
func TestField2_D4AClockThatWasAheadBarsNoVersion(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	d := Driver{Terminal: Terminal{State: t.TempDir()}, Now: func() time.Time { return now }, Times: DefaultTimes()}
	not := func(last time.Time) string {
		r := record{Box: "a box", Tries: map[string]try{"2.0.0": {Count: 1, Last: last, Reason: "it printed nothing"}}}
		why, err := d.reasonNot(r, Release{Version: "2.0.0", Percent: 100}, "1.0.0", Options{})
		require.NoError(t, err)
		return why
	}
	require.Equal(t, "2.0.0 was taken back because it printed nothing; it is tried again in 23h0m0s", not(now.Add(-time.Hour)))
	require.Empty(t, not(now.Add(-24*time.Hour)))
	require.Empty(t, not(now.Add(5*24*time.Hour)), "the clock was ahead")
}

// TestWhereARepositoryMayBe: the channel is authenticated too, unless it is this machine.
func TestWhereARepositoryMayBe(t *testing.T) {
	for _, bad := range []string{"", "http://updates.example/p", "ftp://127.0.0.1/", "https://user:word@updates.example/", "https://updates.example/?x", "file:///etc", "http://localhost/"} {
		s := Source{URL: bad}
		_, err := s.open()
		require.ErrorIs(t, err, ErrUntrusted, bad)
	}
	for _, good := range []string{"https://updates.example/posagent", "http://127.0.0.1:8080/", "http://[::1]:8080/p"} {
		s := Source{URL: good}
		_, err := s.open()
		require.NoError(t, err, good)
	}
}

// TestAHeldVersionIsNotTaken: what the fleet holds is not taken by itself, and is where a person wishes it.
func TestAHeldVersionIsNotTaken(t *testing.T) {
	d := Driver{Terminal: Terminal{State: t.TempDir()}, Now: time.Now, Times: DefaultTimes()}
	require.NoError(t, os.Mkdir(filepath.Join(d.Terminal.State, "enrolment"), 0o700))
	not := func(o Options) string {
		why, err := d.reasonNot(record{Box: "a box"}, Release{Version: "2.0.0", Percent: 100}, "1.0.0", o)
		require.NoError(t, err)
		return why
	}
	require.Empty(t, not(Options{}))
	require.NoError(t, rollout.Keep(d.Terminal.State, []rollout.Hold{{Version: "2.0.0", TakenBack: 3, Tried: 40}}))
	require.Equal(t, "2.0.0 is held: 3 of 40 boxes took it back (the operator of the fleet lifts that; --again takes it all the same)", not(Options{}))
	require.Empty(t, not(Options{Again: true}))
	require.NoError(t, rollout.Keep(d.Terminal.State, []rollout.Hold{{Version: "1.9.0", TakenBack: 3, Tried: 40}}))
	require.Empty(t, not(Options{}), "another version")
	held := filepath.Join(d.Terminal.State, "enrolment", "held.json")
	require.NoError(t, os.WriteFile(held, []byte("spoilt"), 0o600))
	require.Contains(t, not(Options{}), "2.0.0 is held: what the fleet holds cannot be read in "+held)
}

// TestTheEndOfAnUpdateIsLeft: the terminal finds how an update ended, and nothing of a program that never ran. A disk that takes no file
// changes nothing of the update.
func TestTheEndOfAnUpdateIsLeft(t *testing.T) {
	at := time.Date(2026, 11, 23, 11, 0, 0, 0, time.FixedZone("CET", 3600))
	rig := func(unbegun bool) (*Driver, *record) {
		dir := t.TempDir()
		program := filepath.Join(dir, "posagent")
		d := &Driver{
			Dir: dir, Place: Place{Program: program}, Terminal: Terminal{Program: program, State: dir}, Now: func() time.Time { return at }, Say: t.Logf,
		}
		require.NoError(t, os.WriteFile(d.Place.Program, []byte("the one before"), 0o755))
		from, err := sum(d.Place.Program)
		require.NoError(t, err)
		r := &record{Schema: recordSchema, Box: "a box", Unbegun: unbegun}
		r.From.Version, r.From.SHA256, r.To.Version, r.To.SHA256 = "1.0.0", from, "2.0.0", "x"
		return d, r
	}
	last := func(d *Driver) rollout.Outcome {
		o, err := rollout.Last(d.Place.Program)
		require.NoError(t, err)
		return o
	}
	d, r := rig(false)
	r.State = Confirming
	require.NoError(t, d.keep(r))
	require.Equal(t, rollout.Outcome{Schema: "posagent.update-outcome/1", Version: "2.0.0", Kept: true, At: "2026-11-23T10:00:00Z"}, last(d))

	r.State, r.Reason = Returning, "it did not start\n"
	require.ErrorIs(t, d.giveBack(t.Context(), r, hurry), ErrReturned)
	require.Equal(t, rollout.Outcome{Schema: "posagent.update-outcome/1", Version: "2.0.0", Reason: "it did not start?", At: "2026-11-23T10:00:00Z"}, last(d))

	d, r = rig(true)
	r.State, r.Reason = Returning, "a sale is open"
	require.ErrorIs(t, d.giveBack(t.Context(), r, hurry), ErrReturned)
	require.Equal(t, rollout.Outcome{}, last(d), "the version was not tried")
	require.Equal(t, try{Last: at, Reason: "a sale is open"}, r.Tries["2.0.0"], "it is tried again later")

	d, r = rig(false)
	require.NoError(t, os.Mkdir(d.Place.Program+".outcome", 0o755)) // no file can be put there
	require.NoError(t, os.WriteFile(filepath.Join(d.Place.Program+".outcome", "x"), nil, 0o644))
	r.State = Confirming
	require.NoError(t, d.keep(r))
	require.Equal(t, Idle, r.State)
}
