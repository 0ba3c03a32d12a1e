package exam_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
)

// facts are what the checks of these tests look at.
type facts struct{ names []string }

// Fill implements exam.Facts.
func (f *facts) Fill(text string) string { return strings.NewReplacer(f.names...).Replace(text) }

// Check is a row of a table of these tests.
type Check = exam.Check[*facts]

// check makes a check with one answer.
func check(id string, status exam.Status, after ...string) Check {
	return Check{ID: id, After: after, Look: func(context.Context, *facts) exam.Finding { return exam.Finding{Status: status} }}
}

// outcome is what the examination of checks came to, by id: the status, and the id a skipped one waits for.
func outcome(t *testing.T, list []Check, l exam.Limits) map[string]string {
	t.Helper()
	got := map[string]string{}
	for i, r := range exam.Examine(t.Context(), list, &facts{}, l) {
		require.Equal(t, list[i].ID, r.ID, "the order of the table")
		got[r.ID] = string(r.Status) + r.Evidence[exam.WaitsFor]
	}
	return got
}

// TestOneCauseIsOneFailure is the rule, shape by shape: what stands behind a failure is skipped and names it, however far behind.
func TestOneCauseIsOneFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		list []Check
		want map[string]string
	}{
		"a chain": {
			[]Check{check("a", exam.Pass), check("b", exam.Fail, "a"), check("c", exam.Fail, "b"), check("d", exam.Fail, "c")},
			map[string]string{"a": "pass", "b": "fail", "c": "skipb", "d": "skipb"},
		},
		"a warning stops nothing": {
			[]Check{check("a", exam.Warn), check("b", exam.Fail, "a")},
			map[string]string{"a": "warn", "b": "fail"},
		},
		"nothing to look at stops nothing": {
			[]Check{check("a", exam.Skip), check("b", exam.Fail, "a")},
			map[string]string{"a": "skip", "b": "fail"},
		},
		"two causes are two failures": {
			[]Check{check("a", exam.Fail), check("b", exam.Fail), check("c", exam.Pass, "b", "a")},
			map[string]string{"a": "fail", "b": "fail", "c": "skipb"},
		},
		"a diamond": {
			[]Check{check("a", exam.Fail), check("b", exam.Pass, "a"), check("c", exam.Pass, "a"), check("d", exam.Pass, "b", "c"), check("e", exam.Pass)},
			map[string]string{"a": "fail", "b": "skipa", "c": "skipa", "d": "skipa", "e": "pass"},
		},
		"the second dependency fails": {
			[]Check{check("a", exam.Pass), check("b", exam.Fail), check("c", exam.Pass, "a", "b")},
			map[string]string{"a": "pass", "b": "fail", "c": "skipb"},
		},
	} {
		for _, parallel := range []int{1, 4} {
			require.Equal(t, tc.want, outcome(t, tc.list, exam.Limits{Each: time.Minute, All: time.Minute, Parallel: parallel}), name)
		}
	}
}

// TestASkippedCheckDoesNotRun: a check behind a failure touches nothing.
func TestASkippedCheckDoesNotRun(t *testing.T) {
	ran := false
	list := []Check{check("a", exam.Fail), {ID: "b", After: []string{"a"}, Look: func(context.Context, *facts) exam.Finding {
		ran = true
		return exam.Finding{Status: exam.Pass}
	}}}
	require.Equal(t, map[string]string{"a": "fail", "b": "skipa"}, outcome(t, list, exam.Usual()))
	require.False(t, ran)
}

// TestACheckThatPanicsFailsAlone: the others go on.
func TestACheckThatPanicsFailsAlone(t *testing.T) {
	list := []Check{
		{ID: "a", Look: func(context.Context, *facts) exam.Finding { panic("what") }},
		check("b", exam.Pass), check("c", exam.Pass, "a"),
	}
	require.Equal(t, map[string]string{"a": "fail", "b": "pass", "c": "skipa"}, outcome(t, list, exam.Usual()))
	r := exam.Examine(t.Context(), list[:1], &facts{}, exam.Usual())[0]
	require.Equal(t, "the check itself failed: what", r.Evidence["seen"])
	require.Equal(t, "posagent version", r.Remedy.Command)
}

// TestAnExaminationEndsInTime: a check that hangs fails by itself, and the whole ends before ten seconds, however many hang.
func TestAnExaminationEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		hangs := func(id string, after ...string) Check {
			return Check{ID: id, After: after, Look: func(context.Context, *facts) exam.Finding { // deaf to its context
				<-free
				return exam.Finding{Status: exam.Pass}
			}}
		}
		began := time.Now()
		require.Equal(t, map[string]string{"a": "fail", "b": "skipa", "c": "pass"},
			outcome(t, []Check{hangs("a"), check("b", exam.Pass, "a"), check("c", exam.Pass)}, exam.Usual()))
		require.Equal(t, 5*time.Second, time.Since(began))

		began = time.Now()
		list := []Check{hangs("a"), hangs("b"), hangs("c"), hangs("d"), hangs("e"), hangs("f"), hangs("g"), hangs("h"), hangs("i"), hangs("j")}
		got := outcome(t, list, exam.Usual())
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
		var list []Check
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
			list = append(list, Check{ID: id, Look: func(context.Context, *facts) exam.Finding {
				count(1)
				defer count(-1)
				time.Sleep(2 * time.Second)
				return exam.Finding{Status: exam.Pass}
			}})
		}
		outcome(t, list, exam.Usual())
		require.Equal(t, 4, most)
	})
}

// TestADependencyStandsBefore: a table in another order is a mistake of its author.
func TestADependencyStandsBefore(t *testing.T) {
	require.PanicsWithValue(t, "exam: a depends on b, which does not stand before it", func() {
		exam.Examine(t.Context(), []Check{check("a", exam.Pass, "b"), check("b", exam.Pass)}, &facts{}, exam.Usual())
	})
}

// TestChosen: a choice brings what it depends on, and shows what was chosen.
func TestChosen(t *testing.T) {
	list := []Check{check("PA-CFG-001", exam.Pass), check("PA-NET-001", exam.Pass, "PA-CFG-001"), check("PA-NET-002", exam.Pass, "PA-NET-001"), check("PA-QUE-001", exam.Pass)}
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
		run, shown, unknown := exam.Chosen(list, tc.names)
		require.Empty(t, unknown, name)
		var ids []string
		for _, c := range run {
			ids = append(ids, c.ID)
		}
		require.Equal(t, tc.run, ids, name)
		require.Equal(t, tc.shown, shown, name)
	}
	for _, bad := range []string{"NETS", "PA-NET-009", "PA", "001"} {
		_, _, unknown := exam.Chosen(list, []string{"NET", bad})
		require.Equal(t, bad, unknown)
	}
}

// TestOutcome: the worst status counts.
func TestOutcome(t *testing.T) {
	for want, list := range map[exam.Status][][]exam.Status{
		exam.Pass: {{}, {exam.Pass}, {exam.Skip, exam.Pass}},
		exam.Warn: {{exam.Warn}, {exam.Pass, exam.Warn, exam.Skip}},
		exam.Fail: {{exam.Fail}, {exam.Warn, exam.Fail, exam.Pass}},
	} {
		for _, statuses := range list {
			var results []exam.Result
			for _, s := range statuses {
				results = append(results, exam.Result{Status: s})
			}
			require.Equal(t, want, exam.Outcome(results), statuses)
		}
	}
}

// TestHoldDown: a check that flips is shown for ten minutes, with the time since when it stands; one failure alone is over when it is over.
func TestHoldDown(t *testing.T) {
	began := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	held := map[string]exam.Held(nil)
	for _, step := range []struct {
		after time.Duration // since the beginning
		found exam.Status
		shown exam.Status
		since time.Duration
		flips string
	}{
		{0, exam.Pass, exam.Pass, 0, ""},
		{time.Minute, exam.Pass, exam.Pass, 0, ""},
		{2 * time.Minute, exam.Fail, exam.Fail, 2 * time.Minute, ""},
		{3 * time.Minute, exam.Fail, exam.Fail, 2 * time.Minute, ""},
		{4 * time.Minute, exam.Pass, exam.Pass, 4 * time.Minute, ""},
		{5 * time.Minute, exam.Fail, exam.Fail, 5 * time.Minute, ""},
		{6 * time.Minute, exam.Pass, exam.Warn, 6 * time.Minute, "passes now, and failed 08:02:00 to 08:05:00 UTC again and again"},
		{7 * time.Minute, exam.Skip, exam.Skip, 7 * time.Minute, ""},
		{8 * time.Minute, exam.Pass, exam.Warn, 6 * time.Minute, "passes now, and failed 08:02:00 to 08:05:00 UTC again and again"},
		{13 * time.Minute, exam.Pass, exam.Pass, 6 * time.Minute, ""},
	} {
		results := []exam.Result{{ID: "x", Status: step.found, Evidence: exam.Evidence{}}}
		held = exam.Hold(held, results, began.Add(step.after))
		require.Equal(t, step.shown, results[0].Status, step.after)
		require.Equal(t, began.Add(step.since), results[0].Since, step.after)
		require.Equal(t, step.flips, results[0].Evidence["flips"], step.after)
	}
}

// TestAWarningThatFlipsHasARemedy: the one of the check's failures.
func TestAWarningThatFlipsHasARemedy(t *testing.T) {
	status := exam.Fail
	list := []Check{{ID: "PA-SER-001", Text: exam.Text{Title: "the cable", Do: "push the cable in"}, Command: "ls {device}",
		Look: func(context.Context, *facts) exam.Finding { return exam.Finding{Status: status} }}}
	began := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	var held map[string]exam.Held
	var results []exam.Result
	for i, found := range []exam.Status{exam.Fail, exam.Pass, exam.Fail, exam.Pass} {
		status = found
		results = exam.Examine(t.Context(), list, &facts{[]string{"{device}", "/dev/ttyUSB0"}}, exam.Usual())
		held = exam.Hold(held, results, began.Add(time.Duration(i)*time.Minute))
	}
	require.Equal(t, exam.Warn, results[0].Status)
	require.Equal(t, "push the cable in", results[0].Remedy.Text)
	require.NotEmpty(t, results[0].Remedy.Command)
}

// TestHoldAfterTheClockWentBack: a time in the future is none since when something stands.
func TestHoldAfterTheClockWentBack(t *testing.T) {
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	results := []exam.Result{{ID: "x", Status: exam.Pass, Evidence: exam.Evidence{}}}
	exam.Hold(map[string]exam.Held{"x": {Status: exam.Pass, Since: now.Add(time.Hour), Bad: []time.Time{now.Add(time.Hour), now.Add(2 * time.Hour)}}}, results, now)
	require.Equal(t, exam.Pass, results[0].Status)
	require.Equal(t, now, results[0].Since)
}

// TestHeldFile: it is private, replaced as a whole, and one that cannot be read is none.
func TestHeldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "exam.json")
	require.Nil(t, exam.ReadHeld(path))
	at := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	want := map[string]exam.Held{"x": {Status: exam.Fail, Since: at, Bad: []time.Time{at}}}
	require.NoError(t, exam.WriteHeld(path, want))
	require.Equal(t, want, exam.ReadHeld(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, os.WriteFile(path, []byte("{half"), 0o600))
	require.Nil(t, exam.ReadHeld(path))
	require.ErrorIs(t, exam.WriteHeld(filepath.Join(t.TempDir(), "not", "there"), want), os.ErrNotExist)
}

// TestWireForm is posagent.doctor/1: fields may be added, none is renamed.
func TestWireForm(t *testing.T) {
	list := []Check{
		{ID: "PA-NET-003", Text: exam.Text{Title: "the backend's name exists", Do: "correct {config}"}, Severity: exam.Critical, Command: "getent hosts {name}",
			Look: func(context.Context, *facts) exam.Finding {
				return exam.Finding{Status: exam.Fail, Saw: []string{"seen", "no\x1b[2J such name", "empty", ""}}
			}},
		{ID: "PA-NET-005", Text: exam.Text{Title: "b"}, Severity: exam.Minor, After: []string{"PA-NET-003"}},
	}
	f := &facts{[]string{"{name}", "pay.example", "{config}", "/etc/c.toml"}}
	results := exam.Examine(t.Context(), list, f, exam.Usual())
	exam.Hold(nil, results, time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	results[0].DurationMS = 7
	data, err := json.Marshal(results)
	require.NoError(t, err)
	require.JSONEq(t, `[
{"id":"PA-NET-003","title":"the backend's name exists","status":"fail","severity":"critical","evidence":{"seen":"no [2J such name"},
 "remedy":{"text":"correct /etc/c.toml","command":"getent hosts pay.example","url":""},"depends_on":[],"since":"2026-11-22T08:00:00Z","duration_ms":7},
{"id":"PA-NET-005","title":"b","status":"skip","severity":"minor","evidence":{"waits_for":"PA-NET-003"},
 "remedy":{"text":"","command":"","url":""},"depends_on":["PA-NET-003"],"since":"2026-11-22T08:00:00Z","duration_ms":0}]`, string(data))
}
