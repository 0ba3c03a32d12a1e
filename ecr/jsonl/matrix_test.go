package jsonl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inPhase is a dialogue brought to a phase by the shortest exchange that gets there. Its request has
// the id 7.
func inPhase(t testing.TB, p string) *script {
	sale := `E {"op":"sale","id":"7","amount":1250}`
	lines, ok := map[string][]string{
		"idle":      {},
		"asking":    {sale},
		"running":   {sale, "< begun"},
		"telling":   {sale, "< begun", "< outcome approved"},
		"recording": {sale, "< begun", "< outcome approved", `E {"op":"ack","id":"7"}`},
		"working":   {`E {"op":"totals","id":"7"}`},
	}[p]
	require.True(t, ok, p)
	s := newScript(testConfig())
	for _, l := range lines {
		s.input(t, l)
	}
	require.Equal(t, p, phaseNames[s.d.phase])
	s.out = nil
	return s
}

// sample is a message of the matrix with another id than the one that runs, and what it sets off
// when it is taken.
var samples = map[string]struct{ message, begins string }{
	"hello":   {`{"op":"hello"}`, "> report"},
	"health":  {`{"op":"status"}`, "> report"},
	"sale":    {`{"op":"sale","id":"8","amount":1250}`, "> begin payment 1250 tcp id=8"},
	"refund":  {`{"op":"refund","id":"8","amount":1250,"original":"R17"}`, "> begin refund 1250 tcp id=8 R17"},
	"reverse": {`{"op":"reverse","id":"8","receipt":17}`, "> begin reversal 0 tcp id=8 receipt 17"},
	"status":  {`{"op":"status","id":"8"}`, "> find tcp 8"},
	"last":    {`{"op":"last","id":"8"}`, "> find tcp"},
	"abort":   {`{"op":"abort","id":"8"}`, "> find tcp 8"},
	"ack":     {`{"op":"ack","id":"8"}`, ""},
	"totals":  {`{"op":"totals","id":"8"}`, "> turnover"},
}

// grid is what a register sees of each message in each phase, written out by hand; "=" names the id
// of what runs, which is a sale, or totals in working.
//
//	begin   it is begun
//	report  it is answered beside what runs
//	busy    outcome refused, busy; nothing is begun
//	error   error busy; nothing is begun
//	used    outcome refused, because the id has another body; nothing is begun
//	going   accepted, once more
//	tell    the outcome, once more
//	-       nothing; its answer is on its way
//	soon    nothing; the sale is aborted as soon as it is there
//	stop    the desk is asked to abort
//	late    abort too_late
//	first   the outcome that is being told is lost, and the message begun once that is recorded
//	rejoin  the message is begun; the outcome of what ran is lost for this connection
//	later   it is begun once the desk has recorded the ack
//	told    the desk records that the outcome is told
//	no      error not_told
const grid = `
          idle    asking  running telling recording working
hello     report  report  report  report  report    report
health    report  report  report  report  report    report
sale      begin   busy    busy    first   later     busy
sale=     begin   -       going   tell    later     busy
refund    begin   busy    busy    first   later     busy
refund=   begin   used    used    used    later     busy
reverse   begin   busy    busy    first   later     busy
reverse=  begin   used    used    used    later     busy
status    begin   error   error   error   later     error
status=   begin   -       going   tell    later     error
last      begin   error   rejoin  first   later     error
last=     begin   error   rejoin  first   later     error
abort     begin   error   error   error   later     error
abort=    begin   soon    stop    late    late      error
ack       no      no      no      no      no        no
ack=      no      no      no      told    -         no
totals    begin   error   error   error   later     error
totals=   begin   error   error   error   later     error
`

// TestTheMatrix walks every message through every phase and holds the dialogue to the grid.
func TestTheMatrix(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(grid), "\n")
	columns := strings.Fields(rows[0])
	require.Len(t, columns, int(phases), "a phase without a column")
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		words := strings.Fields(row)
		require.Len(t, words, 1+len(columns), row)
		name, same := strings.CutSuffix(words[0], "=")
		one, ok := samples[name]
		require.True(t, ok, row)
		seen[words[0]] = true
		message, begins := one.message, one.begins
		if same {
			message, begins = strings.Replace(message, `"8"`, `"7"`, 1), strings.Replace(begins, "8", "7", 1)
		}
		for n, p := range columns {
			t.Run(words[0]+"/"+p, func(t *testing.T) { play(t, inPhase(t, p), p, words[1+n], message, begins) })
		}
	}
	require.Len(t, seen, 2*len(samples)-2, "each message with the id that runs and with another; hello and status of the terminal have none")
	require.Len(t, samples, int(ops))
}

func play(t *testing.T, s *script, p, want, message, begins string) {
	s.input(t, "E "+message)
	out := strings.Join(s.out, "\n")
	next := func(input string) string {
		s.out = nil
		s.input(t, input)
		return strings.Join(s.out, "\n")
	}
	still := func() { require.Equal(t, p, phaseNames[s.d.phase], "what runs goes on") }
	switch want {
	case "begin":
		require.Equal(t, begins, out)
		require.True(t, s.d.Holds())
	case "report":
		require.Equal(t, "> report", out)
		still()
	case "busy":
		require.Contains(t, out, `"outcome":"refused","code":"busy"`)
		require.NotContains(t, out, "> ")
		still()
	case "error":
		require.Contains(t, out, `"error":{"code":"busy"`)
		require.NotContains(t, out, "> ")
		require.NotContains(t, out, "outcome")
		still()
	case "used":
		require.Contains(t, out, `"outcome":"refused","code":"processing_error"`)
		require.NotContains(t, out, "> ")
		still()
	case "going":
		require.Equal(t, `P {"id":"7","accepted":true}`, out)
		still()
	case "tell":
		require.Contains(t, out, `P {"id":"7","outcome":"approved"`)
		require.NotContains(t, out, "> ")
		still()
	case "-":
		require.Empty(t, out)
		still()
	case "soon":
		require.Empty(t, out)
		require.Contains(t, next("< begun"), "> abort s1")
	case "stop":
		require.Equal(t, "> abort s1", out)
		require.Empty(t, next("E "+message), "once")
	case "late":
		require.Equal(t, `P {"id":"7","abort":"too_late"}`, out)
		still()
	case "first":
		require.Equal(t, "> lost s1", out)
		require.NotContains(t, next(`E {"op":"ack","id":"7"}`), "> told", "it confirms nothing any more")
		require.Equal(t, begins, next("< recorded approved"))
	case "rejoin":
		require.Equal(t, begins, out)
		s.gen = 1 // of the sale that ran
		require.Equal(t, "> lost s1", next("< outcome approved"))
	case "later":
		require.Empty(t, out)
		require.Contains(t, next("< recorded approved"), begins)
	case "told":
		require.Equal(t, "> told s1", out)
	case "no":
		require.Contains(t, out, `"error":{"code":"not_told"`)
		require.NotContains(t, out, "> ")
		still()
	default:
		t.Fatalf("no such word: %s", want)
	}
}

// TestAGoneRegisterIsToldNothing: in every phase the dialogue ends with the connection, and what it
// was in the middle of telling is lost.
func TestAGoneRegisterIsToldNothing(t *testing.T) {
	for p, want := range map[string]string{"idle": "", "asking": "", "running": "", "telling": "> lost s1", "recording": "", "working": ""} {
		s := inPhase(t, p)
		s.input(t, "< gone")
		require.Equal(t, want, strings.Join(s.out, "\n"), p)
		require.False(t, s.d.Holds(), p)
		if p == "asking" || p == "running" {
			require.False(t, s.d.Settled(), p)
			s.out = nil
			s.input(t, "< outcome approved")
			require.Equal(t, []string{"> lost s1"}, s.out, p)
		}
		require.True(t, s.d.Settled(), p)
	}
}
