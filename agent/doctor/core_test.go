package doctor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor"
	"posagent/agent/ready"
)

// check makes a check with one answer.
func check(id string, status doctor.Status, after ...string) doctor.Check {
	return doctor.Check{ID: id, After: after, Look: func(context.Context, *doctor.Facts) doctor.Finding { return doctor.Finding{Status: status} }}
}

// outcome is what the examination of checks came to, by id: the status, and the id a skipped one waits for.
func outcome(t *testing.T, list []doctor.Check, l doctor.Limits) map[string]string {
	t.Helper()
	got := map[string]string{}
	for i, r := range doctor.Examine(t.Context(), list, &doctor.Facts{}, l) {
		require.Equal(t, list[i].ID, r.ID, "the order of the table")
		got[r.ID] = string(r.Status) + r.Evidence[doctor.WaitsFor]
	}
	return got
}

// TestOneCauseIsOneFailure is the rule, shape by shape: what stands behind a failure is skipped and names it, however far behind.
func TestOneCauseIsOneFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		list []doctor.Check
		want map[string]string
	}{
		"a chain": {
			[]doctor.Check{check("a", doctor.Pass), check("b", doctor.Fail, "a"), check("c", doctor.Fail, "b"), check("d", doctor.Fail, "c")},
			map[string]string{"a": "pass", "b": "fail", "c": "skipb", "d": "skipb"},
		},
		"a warning stops nothing": {
			[]doctor.Check{check("a", doctor.Warn), check("b", doctor.Fail, "a")},
			map[string]string{"a": "warn", "b": "fail"},
		},
		"nothing to look at stops nothing": {
			[]doctor.Check{check("a", doctor.Skip), check("b", doctor.Fail, "a")},
			map[string]string{"a": "skip", "b": "fail"},
		},
		"two causes are two failures": {
			[]doctor.Check{check("a", doctor.Fail), check("b", doctor.Fail), check("c", doctor.Pass, "b", "a")},
			map[string]string{"a": "fail", "b": "fail", "c": "skipb"},
		},
		"a diamond": {
			[]doctor.Check{check("a", doctor.Fail), check("b", doctor.Pass, "a"), check("c", doctor.Pass, "a"), check("d", doctor.Pass, "b", "c"), check("e", doctor.Pass)},
			map[string]string{"a": "fail", "b": "skipa", "c": "skipa", "d": "skipa", "e": "pass"},
		},
		"the second dependency fails": {
			[]doctor.Check{check("a", doctor.Pass), check("b", doctor.Fail), check("c", doctor.Pass, "a", "b")},
			map[string]string{"a": "pass", "b": "fail", "c": "skipb"},
		},
	} {
		for _, parallel := range []int{1, 4} {
			require.Equal(t, tc.want, outcome(t, tc.list, doctor.Limits{Each: time.Minute, All: time.Minute, Parallel: parallel}), name)
		}
	}
}

// TestASkippedCheckDoesNotRun: a check behind a failure touches nothing.
func TestASkippedCheckDoesNotRun(t *testing.T) {
	ran := false
	list := []doctor.Check{check("a", doctor.Fail), {ID: "b", After: []string{"a"}, Look: func(context.Context, *doctor.Facts) doctor.Finding {
		ran = true
		return doctor.Finding{Status: doctor.Pass}
	}}}
	require.Equal(t, map[string]string{"a": "fail", "b": "skipa"}, outcome(t, list, doctor.Usual()))
	require.False(t, ran)
}

// TestACheckThatPanicsFailsAlone: the others go on.
func TestACheckThatPanicsFailsAlone(t *testing.T) {
	list := []doctor.Check{
		{ID: "a", Look: func(context.Context, *doctor.Facts) doctor.Finding { panic("what") }},
		check("b", doctor.Pass), check("c", doctor.Pass, "a"),
	}
	require.Equal(t, map[string]string{"a": "fail", "b": "pass", "c": "skipa"}, outcome(t, list, doctor.Usual()))
	r := doctor.Examine(t.Context(), list[:1], &doctor.Facts{}, doctor.Usual())[0]
	require.Equal(t, "the check itself failed: what", r.Evidence["seen"])
	require.Equal(t, "posagent version", r.Remedy.Command)
}

// TestAnExaminationEndsInTime: a check that hangs fails by itself, and the whole ends before ten seconds, however many hang.
func TestAnExaminationEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		hangs := func(id string, after ...string) doctor.Check {
			return doctor.Check{ID: id, After: after, Look: func(context.Context, *doctor.Facts) doctor.Finding { // deaf to its context
				<-free
				return doctor.Finding{Status: doctor.Pass}
			}}
		}
		began := time.Now()
		require.Equal(t, map[string]string{"a": "fail", "b": "skipa", "c": "pass"},
			outcome(t, []doctor.Check{hangs("a"), check("b", doctor.Pass, "a"), check("c", doctor.Pass)}, doctor.Usual()))
		require.Equal(t, 5*time.Second, time.Since(began))

		began = time.Now()
		list := []doctor.Check{hangs("a"), hangs("b"), hangs("c"), hangs("d"), hangs("e"), hangs("f"), hangs("g"), hangs("h"), hangs("i"), hangs("j")}
		got := outcome(t, list, doctor.Usual())
		require.Equal(t, 9*time.Second, time.Since(began))
		count := map[string]int{}
		for _, status := range got {
			count[status]++
		}
		require.Equal(t, map[string]int{"fail": 8, "skip": 2}, count, "four at a time, for five and for four seconds; two were not begun")
		close(free)
	})
}

// TestAtMostFourAtATime: a small box is not flooded.
func TestAtMostFourAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		count := func(by int) {
			mu.Lock()
			defer mu.Unlock()
			running += by
			most = max(most, running)
		}
		var list []doctor.Check
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
			list = append(list, doctor.Check{ID: id, Look: func(context.Context, *doctor.Facts) doctor.Finding {
				count(1)
				defer count(-1)
				time.Sleep(2 * time.Second)
				return doctor.Finding{Status: doctor.Pass}
			}})
		}
		outcome(t, list, doctor.Usual())
		require.Equal(t, 4, most)
	})
}

// TestADependencyStandsBefore: a table in another order is a mistake of its author.
func TestADependencyStandsBefore(t *testing.T) {
	require.PanicsWithValue(t, "doctor: a depends on b, which does not stand before it", func() {
		doctor.Examine(t.Context(), []doctor.Check{check("a", doctor.Pass, "b"), check("b", doctor.Pass)}, &doctor.Facts{}, doctor.Usual())
	})
}

// TestChosen: a choice brings what it depends on, and shows what was chosen.
func TestChosen(t *testing.T) {
	list := []doctor.Check{check("PA-CFG-001", doctor.Pass), check("PA-NET-001", doctor.Pass, "PA-CFG-001"), check("PA-NET-002", doctor.Pass, "PA-NET-001"), check("PA-QUE-001", doctor.Pass)}
	for name, tc := range map[string]struct {
		names []string
		run   []string
		shown map[string]bool
	}{
		"all":     {nil, []string{"PA-CFG-001", "PA-NET-001", "PA-NET-002", "PA-QUE-001"}, map[string]bool{"PA-CFG-001": true, "PA-NET-001": true, "PA-NET-002": true, "PA-QUE-001": true}},
		"an id":   {[]string{"PA-NET-002"}, []string{"PA-CFG-001", "PA-NET-001", "PA-NET-002"}, map[string]bool{"PA-NET-002": true}},
		"a group": {[]string{"NET"}, []string{"PA-CFG-001", "PA-NET-001", "PA-NET-002"}, map[string]bool{"PA-NET-001": true, "PA-NET-002": true}},
		"two":     {[]string{"QUE", "PA-CFG-001"}, []string{"PA-CFG-001", "PA-QUE-001"}, map[string]bool{"PA-CFG-001": true, "PA-QUE-001": true}},
	} {
		run, shown, unknown := doctor.Chosen(list, tc.names)
		require.Empty(t, unknown, name)
		var ids []string
		for _, c := range run {
			ids = append(ids, c.ID)
		}
		require.Equal(t, tc.run, ids, name)
		require.Equal(t, tc.shown, shown, name)
	}
	for _, bad := range []string{"NETS", "PA-NET-009", "PA", "001"} {
		_, _, unknown := doctor.Chosen(list, []string{"NET", bad})
		require.Equal(t, bad, unknown)
	}
}

// TestOutcome: the worst status counts.
func TestOutcome(t *testing.T) {
	for want, list := range map[doctor.Status][][]doctor.Status{
		doctor.Pass: {{}, {doctor.Pass}, {doctor.Skip, doctor.Pass}},
		doctor.Warn: {{doctor.Warn}, {doctor.Pass, doctor.Warn, doctor.Skip}},
		doctor.Fail: {{doctor.Fail}, {doctor.Warn, doctor.Fail, doctor.Pass}},
	} {
		for _, statuses := range list {
			var results []doctor.Result
			for _, s := range statuses {
				results = append(results, doctor.Result{Status: s})
			}
			require.Equal(t, want, doctor.Outcome(results), statuses)
		}
	}
}

// TestHoldDown: a check that flips is shown for ten minutes, with the time since when it stands; one failure alone is over when it is over.
func TestHoldDown(t *testing.T) {
	began := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	held := map[string]doctor.Held(nil)
	for _, step := range []struct {
		after time.Duration // since the beginning
		found doctor.Status
		shown doctor.Status
		since time.Duration
		flips string
	}{
		{0, doctor.Pass, doctor.Pass, 0, ""},
		{time.Minute, doctor.Pass, doctor.Pass, 0, ""},
		{2 * time.Minute, doctor.Fail, doctor.Fail, 2 * time.Minute, ""},
		{3 * time.Minute, doctor.Fail, doctor.Fail, 2 * time.Minute, ""},
		{4 * time.Minute, doctor.Pass, doctor.Pass, 4 * time.Minute, ""},
		{5 * time.Minute, doctor.Fail, doctor.Fail, 5 * time.Minute, ""},
		{6 * time.Minute, doctor.Pass, doctor.Warn, 6 * time.Minute, "passes now, and failed 08:02:00 to 08:05:00 UTC again and again"},
		{7 * time.Minute, doctor.Skip, doctor.Skip, 7 * time.Minute, ""},
		{8 * time.Minute, doctor.Pass, doctor.Warn, 6 * time.Minute, "passes now, and failed 08:02:00 to 08:05:00 UTC again and again"},
		{13 * time.Minute, doctor.Pass, doctor.Pass, 6 * time.Minute, ""},
	} {
		results := []doctor.Result{{ID: "x", Status: step.found, Evidence: doctor.Evidence{}}}
		held = doctor.Hold(held, results, began.Add(step.after))
		require.Equal(t, step.shown, results[0].Status, step.after)
		require.Equal(t, began.Add(step.since), results[0].Since, step.after)
		require.Equal(t, step.flips, results[0].Evidence["flips"], step.after)
	}
}

// TestAWarningThatFlipsHasARemedy: the one of the check's failures.
func TestAWarningThatFlipsHasARemedy(t *testing.T) {
	status := doctor.Fail
	list := []doctor.Check{{ID: "PA-SER-001", Text: doctor.Text{Title: "the cable", Do: "push the cable in"}, Command: "ls {device}",
		Look: func(context.Context, *doctor.Facts) doctor.Finding { return doctor.Finding{Status: status} }}}
	began := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	var held map[string]doctor.Held
	var results []doctor.Result
	for i, found := range []doctor.Status{doctor.Fail, doctor.Pass, doctor.Fail, doctor.Pass} {
		status = found
		results = doctor.Examine(t.Context(), list, &doctor.Facts{Config: doctor.Config{Serial: []string{"/dev/ttyUSB0"}}}, doctor.Usual())
		held = doctor.Hold(held, results, began.Add(time.Duration(i)*time.Minute))
	}
	require.Equal(t, doctor.Warn, results[0].Status)
	require.Equal(t, "push the cable in", results[0].Remedy.Text)
	require.NotEmpty(t, results[0].Remedy.Command)
}

// TestHoldAfterTheClockWentBack: a time in the future is none since when something stands.
func TestHoldAfterTheClockWentBack(t *testing.T) {
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	results := []doctor.Result{{ID: "x", Status: doctor.Pass, Evidence: doctor.Evidence{}}}
	doctor.Hold(map[string]doctor.Held{"x": {Status: doctor.Pass, Since: now.Add(time.Hour), Bad: []time.Time{now.Add(time.Hour), now.Add(2 * time.Hour)}}}, results, now)
	require.Equal(t, doctor.Pass, results[0].Status)
	require.Equal(t, now, results[0].Since)
}

// TestHeldFile: it is private, replaced as a whole, and one that cannot be read is none.
func TestHeldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doctor.json")
	require.Nil(t, doctor.ReadHeld(path))
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	want := map[string]doctor.Held{"x": {Status: doctor.Fail, Since: at, Bad: []time.Time{at}}}
	require.NoError(t, doctor.WriteHeld(path, want))
	require.Equal(t, want, doctor.ReadHeld(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, os.WriteFile(path, []byte("{half"), 0o600))
	require.Nil(t, doctor.ReadHeld(path))
	require.ErrorIs(t, doctor.WriteHeld(filepath.Join(t.TempDir(), "not", "there"), want), os.ErrNotExist)
}

// TestWireForm is posagent.doctor/1: fields may be added, none is renamed.
func TestWireForm(t *testing.T) {
	list := []doctor.Check{
		{ID: "PA-NET-003", Text: doctor.Text{Title: "the backend's name exists", Do: "correct {config}"}, Severity: doctor.Critical, Command: "getent hosts {name}",
			Look: func(context.Context, *doctor.Facts) doctor.Finding {
				return doctor.Finding{Status: doctor.Fail, Saw: []string{"seen", "no\x1b[2J such name", "empty", ""}}
			}},
		{ID: "PA-NET-005", Text: doctor.Text{Title: "b"}, Severity: doctor.Minor, After: []string{"PA-NET-003"}},
	}
	f := &doctor.Facts{Config: doctor.Config{Backend: "https://pay.example:8443/v1"}, Place: ready.Place{Config: "/etc/c.toml"}}
	results := doctor.Examine(t.Context(), list, f, doctor.Usual())
	doctor.Hold(nil, results, time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	results[0].DurationMS = 7
	data, err := json.Marshal(results)
	require.NoError(t, err)
	require.JSONEq(t, `[
{"id":"PA-NET-003","title":"the backend's name exists","status":"fail","severity":"critical","evidence":{"seen":"no [2J such name"},
 "remedy":{"text":"correct /etc/c.toml","command":"getent hosts pay.example","url":""},"depends_on":[],"since":"2026-11-22T08:00:00Z","duration_ms":7},
{"id":"PA-NET-005","title":"b","status":"skip","severity":"minor","evidence":{"waits_for":"PA-NET-003"},
 "remedy":{"text":"","command":"","url":""},"depends_on":["PA-NET-003"],"since":"2026-11-22T08:00:00Z","duration_ms":0}]`, string(data))
}
