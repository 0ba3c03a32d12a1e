package ecr17

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// into brings a dialogue to a phase by the shortest way.
var into = map[string][]string{
	"idle": nil, "waiting": {"elsewhere " + again1}, "tagging": {"ask " + payTags}, "asking": {"ask " + pay},
	"clearing": {"beside " + pay, "refused busy"}, "running": {"ask " + pay, "begun"}, "telling": {"ask " + pay, "begun", "approved"},
	"recording": {"ask " + pay, "begun", "approved", "heard"}, "working": {"ask " + dayEnd},
}

// grid is what each event does in each phase, by hand. A payment of 12.50 of till 1 is on its way, in
// telling its approval is, and in working an end of the day. "same" is the request that brought the
// dialogue there, "more" another payment of that till. ">" is the phase after it.
const grid = `
event      | idle | waiting | tagging | asking | clearing | running | telling | recording | working
same       | begin payment 1250 at 1 >asking | - >waiting | ack >tagging | - >asking | - >clearing | ack >running | - >telling | - >recording | ack >working
more       | begin payment 7777 at 1 >asking | nak >waiting | save -, save P >asking | nak >asking | nak >clearing | begin payment 7777 at 1 >asking | - >telling | - >recording | nak >working
g          | last of 1 >asking | - >waiting | save -, ack, E 01 NON ESEGUITO 71 >telling | nak >asking | nak >clearing | ack, ..., 50 s >running | - >telling | - >recording | nak >working
total      | ack, 50 s, turnover >working | nak >waiting | save -, ack, 50 s, turnover >working | nak >asking | nak >clearing | ack, 50 s, turnover >working | - >telling | - >recording | nak >working
tag        | nak >idle | nak >waiting | ack, save -, E 09 DATI NON PREVISTI 71 >telling | nak >asking | nak >clearing | nak >running | nak >telling | nak >recording | nak >working
begun      | - >idle | - >waiting | - >tagging | ack, 50 s, ... >running | last, nak >idle | - >running | - >telling | - >recording | - >working
refused    | - >idle | - >waiting | - >tagging | save -, ack, E 01 NESSUN METODO 71 >telling | nak >idle | - >idle | - >telling | - >recording | - >working
approved   | - >idle | - >waiting | - >tagging | - >asking | lost, begin payment 1250 at 1 >asking | E 00 T07001 000101 71 >telling | - >telling | - >recording | - >working
heard      | - >idle | - >waiting | - >tagging | - >asking | - >clearing | - >running | told >recording | - >recording | - >working
unheard    | - >idle | - >waiting | - >tagging | - >asking | - >clearing | - >running | lost >recording | - >recording | - >working
recorded   | - >idle | - >waiting | - >tagging | - >asking | - >clearing | - >running | - >telling | - >idle | - >working
totalled   | - >idle | - >waiting | - >tagging | - >asking | - >clearing | - >running | - >telling | - >recording | C 00 0000000000012345 >telling
unanswered | - >idle | nak >idle | - >tagging | nak >asking | nak >clearing | - >running | - >telling | - >recording | - >working
late       | - >idle | - >waiting | save -, E 01 DATI NON PREVISTI 71 >telling | - >asking | - >clearing | abort, E 01 TEMPO SCADUTO 71 >telling | - >telling | - >recording | - >idle
beat       | - >idle | - >waiting | - >tagging | - >asking | - >clearing | ... >running | - >telling | - >recording | ... >working
freed      | - >idle | last of 1 >asking | - >tagging | - >asking | - >clearing | - >running | - >telling | - >recording | - >working
gone       | - >idle | - >idle | save - >idle | - >asking | - >clearing | - >idle | - >telling | - >recording | - >idle
`

// TestMatrix walks every event through every phase.
func TestMatrix(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(grid), "\n")
	columns := strings.Split(rows[0], "|")[1:]
	require.Len(t, columns, int(phases), "a phase without a column")
	require.Len(t, rows[1:], int(happenings), "an event without a row") // saved has dialogues of its own, a telling two ends
	for _, row := range rows[1:] {
		cells := strings.Split(row, "|")
		event := strings.TrimSpace(cells[0])
		require.Len(t, cells[1:], len(columns), event)
		for i, cell := range cells[1:] {
			name := strings.TrimSpace(columns[i])
			t.Run(event+"/"+name, func(t *testing.T) {
				event := event
				p := begin(t, Config{})
				for _, e := range into[name] {
					p.step(e)
				}
				require.Equal(t, name, p.d.phase.String())
				require.Equal(t, name == "waiting", p.d.Waits())
				require.Equal(t, name == "idle", p.d.Settled())
				require.Equal(t, name != "idle" && name != "waiting" && name != "working", p.d.Holds())
				switch event {
				case "same":
					event = "ask " + map[string]string{"waiting": again1, "tagging": payTags, "working": dayEnd}[name]
					if event == "ask " {
						event += pay
					}
				case "more":
					event = "ask " + payMore
				case "g":
					event = "ask " + again1
				case "total":
					event = "ask " + total
				case "tag":
					event = "ask " + tag
				case "refused":
					event = "refused no_method"
				}
				if event == "begun" && name == "clearing" { // of another till's sale
					got := p.words(p.d.Step(ecr.Begun{Gen: p.d.run.gen, Sale: "s7"}))
					require.Equal(t, "nak", got)
					require.Equal(t, idle, p.d.phase)
					return
				}
				got := p.step(event)
				require.Equal(t, strings.TrimSpace(cell), got+" >"+p.d.phase.String())
			})
		}
	}
}

// TestDialogues are the ways a request goes, event by event.
func TestDialogues(t *testing.T) {
	const approval = "approved => E 00 T07001 000101 71"
	sold := []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", approval, "heard => told", "recorded => -"}
	unheard := []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", approval, "unheard => lost", "recorded => -"}
	join := func(lists ...[]string) (out []string) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	for name, c := range map[string]struct {
		cfg   Config
		cable bool
		kind  ecr.Kind
		steps []string // "event => actions"
	}{
		"a sale":          {steps: sold},
		"two equal sales": {steps: join(sold, sold)},
		"the customer's way": {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "scan => -", "beat => ...", "scan => -",
			"declined => E 01 RIFIUTATO 71", "heard => told"}},
		"4.3.1: sent again before it is stored": {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "ask " + pay + " => -", "begun => ack, 50 s, ...",
			"ask " + pay + " => ack", approval, "ask " + pay + " => -", "heard => told"}},
		"NAK, then the same again":                     {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "unanswered => nak", "ask " + pay + " => -", "begun => ack, 50 s, ...", approval}},
		"NAK means that nothing comes of it":           {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "unanswered => nak", "begun => abort", "orphanApproved => refused"}},
		"NAK, and the register has gone":               {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "unanswered => nak", "gone => -", "begun => abort"}},
		"F.5: unheard, then G":                         {steps: join(unheard, []string{"ask " + again1 + " => last of 1", "begun => ack, 50 s, ...", approval, "heard => told", "recorded => -"})},
		"F.4: never another till's":                    {steps: join(unheard, []string{"ask " + again2 + " => last of 2", "refused => ack, E 01 NESSUNA OPERAZIONE 71"})},
		"F.4: told 3 minutes ago":                      {steps: []string{"ask " + again1 + " => last of 1", "begun => ack, 50 s, ...", "told => E 00 T07001 000101 71"}},
		"F.4: told in another boot, nobody knows when": {steps: []string{"ask " + again1 + " => last of 1", "begun => ack, 50 s, ...", "aged => lost", "ask " + again1 + " => last of 1"}},
		"F.4: told longer ago":                         {steps: []string{"ask " + again1 + " => last of 1", "begun => ack, 50 s, ...", "old => lost, E 01 NESSUN ESITO RECENTE 71", "heard => -"}},
		"in doubt it says nothing false":               {steps: []string{"ask " + again1 + " => last of 1", "refused not_ready => nak", "ask " + again1 + " => last of 1", "refused system_error => nak"}},
		"in doubt for too long":                        {steps: []string{"ask " + again1 + " => last of 1", "unanswered => nak", "begun => -", "orphanApproved => lost"}},
		"4.3.4: the register left, and asks":           {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "gone => -", "orphanApproved => lost"}},
		"the register left before the sale was there":  {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "gone => -", "begun => -", "orphanApproved => lost"}},
		"4.3.4: it left, forgot and sells anew": {steps: []string{"beside " + pay + " => begin payment 1250 at 1", "refused busy => last of 1", "begun => abort",
			"aborted => lost, begin payment 1250 at 1", "begun => ack, 50 s, ..."}},
		"the same, and it does not wait": {steps: []string{"beside " + pay + " => begin payment 1250 at 1", "refused busy => last of 1", "begun => abort", "unanswered => nak",
			"aborted => lost"}},
		"another till's sale runs":            {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "refused busy => nak"}},
		"another connection is in the middle": {steps: []string{"elsewhere " + pay + " => nak"}},
		"G while another connection is":       {steps: []string{"elsewhere " + again1 + " => -", "freed => last of 1", "begun => ack, 50 s, ..."}},
		"G while it runs":                     {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "ask " + again1 + " => ack, ..., 50 s", approval, "heard => told"}},
		"another till's G while it runs": {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "ask " + again2 + " => last of 2",
			"orphanApproved => lost"}},
		"A.4: an approval after the deadline is undone": {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "late => abort, E 01 TEMPO SCADUTO 71",
			"orphanApproved => refused", "heard => -"}},
		"a journal that hangs":    {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "unanswered => nak", "unanswered => -"}},
		"never another amount":    {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "wrong => refused, E 01 NON ESEGUITO 71", "heard => -"}},
		"an extended payment":     {steps: []string{"ask " + payX + " => save X", "saved => begin payment 1250 at 1", "begun => ack, 50 s, ...", "approved => E 00 T07001 000101 92"}},
		"and G of it is the same": {steps: []string{"ask " + payX + " => save X", "saved => begin payment 1250 at 1", "begun => ack, 50 s, ...", "gone => -", "orphanApproved => lost", "ask " + again1 + " => last of 1", "begun => ack, 50 s, ...", "approved => E 00 T07001 000101 92"}},
		"a reversal": {kind: ecr.Reversal, steps: []string{"ask " + undo + " => save S", "saved => begin reversal 0L at 1", "begun => ack, 50 s, ...", "approved => E 00 000000 000101 84",
			"heard => told"}},
		"a reversal of a payment by its number": {kind: ecr.Reversal, steps: []string{"ask " + undo103 + " => save S", "saved => begin reversal 0L103 at 1",
			"refused not_reversible => save -, ack, E 01 NON STORNABILE 84"}},
		"a reversal that goes on": {kind: ecr.Reversal, steps: []string{"ask " + undo + " => save S", "saved => begin reversal 0L at 1", "begun => ack, 50 s, ...",
			"running => E 01 IN CORSO NON RIPETERE 84", "heard => interim"}},
		"a reversal at the deadline": {kind: ecr.Reversal, steps: []string{"ask " + undo + " => save S", "saved => begin reversal 0L at 1", "begun => ack, 50 s, ...",
			"late => E 01 IN CORSO NON RIPETERE 84", "orphanApproved => lost"}},
		"a reversal that the desk takes its time for": {kind: ecr.Reversal, steps: []string{"ask " + undo + " => save S", "saved => begin reversal 0L at 1", "unanswered => ack, 50 s",
			"begun => ...", "approved => E 00 000000 000101 84"}},
		"no amount": {steps: []string{"ask " + payZero + " => save -, ack, E 01 IMPORTO NON VALIDO 71", "heard => -"}},
		"4.3.5: G after a refusal does not tell an older sale": {steps: join(sold, []string{"ask " + pay + " => begin payment 1250 at 1", "refused no_method => save -, ack, E 01 NESSUN METODO 71",
			"heard => -", "ask " + again1 + " => ack, E 01 NON ESEGUITO 71", "heard => -", "ask " + pay + " => save P", "saved => begin payment 1250 at 1", "refused busy => nak, save -"})},
		"a reversal that was not begun leaves the till's last payment": {steps: []string{"ask " + payX + " => save X", "saved => begin payment 1250 at 1", "begun => ack, 50 s, ...", "gone => -", "orphanApproved => lost",
			"ask " + undo + " => save S", "saved => begin reversal 0L at 1", "refused busy => nak, save X"}},
		"receipts are for one request": {steps: []string{"ask " + paper + " => ack", "ask " + payZero + " => save -, ack, E 01 IMPORTO NON VALIDO 71", "heard => -", "ask " + pay + " => save P", "saved => begin payment 1250 at 1",
			"begun => ack, 50 s, ...", "approved => E 00 T07001 000101 71"}},
		"tags":              {steps: []string{"ask " + payTags + " => ack, 5 s", "ask " + tag + " => ack, save -, E 09 DATI NON PREVISTI 71"}},
		"tags do not come":  {steps: []string{"ask " + payTags + " => ack, 5 s", "late => save -, E 01 DATI NON PREVISTI 71"}},
		"totals":            {steps: []string{"ask " + total + " => ack, 50 s, turnover", "totalled => T 00 0000000000012345", "heard => -"}},
		"totals below zero": {steps: []string{"ask " + total + " => ack, 50 s, turnover", "below => T 01 0000000000000000"}},
		"the end of the day while a sale is open": {steps: []string{"ask " + dayEnd + " => ack, 50 s, ..., close", "open => C 01 VENDITA IN CORSO", "heard => -"}},
		"status":                         {steps: []string{"ask " + hello + " => ack, 50 s, health", "checked => s 22112611102", "heard => -"}},
		"status of a terminal not ready": {steps: []string{"ask " + hello + " => ack, 50 s, health", "checked no => s 22112611101"}},
		"receipts before the result, once": {steps: join([]string{"ask " + paper + " => ack", "ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "approved => ticket",
			"heard => ticket", "heard => E 00 T07001 000101 71", "heard => told", "recorded => -"}, sold)},
		"a receipt that is not acknowledged": {steps: []string{"ask " + paper + " => ack", "ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", "approved => ticket",
			"unheard => lost"}},
		"receipts at the terminal":                      {steps: join([]string{"ask " + paper + " => ack", "ask " + noPaper + " => ack"}, sold)},
		"a receipt once more":                           {steps: join(sold, []string{"ask " + reprint1 + " => ack, ticket", "heard => ticket", "heard => -"})},
		"F.4: another till's receipt":                   {steps: join(sold, []string{"ask " + again2 + " => last of 2", "refused => ack, E 01 NESSUNA OPERAZIONE 71", "heard => -", "ask " + reprint1 + " => nak"})},
		"a receipt of nothing":                          {steps: []string{"ask " + reprint1 + " => nak"}},
		"the next one is there already":                 {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", approval, "ask " + payMore + " => -", "heard => told", "recorded => begin payment 7777 at 1"}},
		"the next one, too long":                        {steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 50 s, ...", approval, "ask " + payMore + " => -", "unanswered => nak", "heard => told", "recorded => -"}},
		"a cable: sent again, the result was not heard": {cable: true, steps: join(unheard, []string{"ask " + pay + " => ack", "ask " + again1 + " => last of 1"})},
		"a cable: keyed in again":                       {cable: true, steps: join(unheard, []string{"forgets => -", "ask " + pay + " => begin payment 1250 at 1"})},
		"patience":                                      {cfg: Config{Patience: 30 * time.Second}, steps: []string{"ask " + pay + " => begin payment 1250 at 1", "begun => ack, 30 s, ..."}},
		"another terminal":                              {cfg: Config{TerminalID: "00000009"}, steps: []string{"ask " + pay + " => nak"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, c.cfg)
			p.d.cable = c.cable
			if c.kind != "" {
				p.kind = c.kind
			}
			for _, step := range c.steps {
				event, want, _ := strings.Cut(step, " => ")
				require.Equal(t, want, p.step(event), step)
			}
		})
	}
}

// TestMemoryOfTheTills: another connection, and the program after a restart, know what the last one
// knew; the tills that are remembered are bounded.
func TestMemoryOfTheTills(t *testing.T) {
	var profile []byte
	q := New(Config{}, "tcp", false, nil)
	for _, a := range q.Step(ecr.Received{Data: []byte(payX)}) {
		if s, ok := a.(ecr.Save); ok {
			profile = s.Profile
		}
	}
	require.JSONEq(t, `{"v":1,"tills":[{"till":"00000001","code":"X"}]}`, string(profile))
	require.Equal(t, "X", New(Config{}, "tcp", false, profile).markOf("00000001"))
	other := New(Config{}, "tcp", false, nil)
	other.Step(ecr.Learned{Profile: profile})
	require.Equal(t, []string{"X", "P"}, []string{other.markOf("00000001"), other.markOf("00000002")})
	for _, damaged := range []string{"", "{", `{"v":2,"tills":[{"till":"00000001","code":"X"}]}`} {
		require.Equal(t, "P", New(Config{}, "tcp", false, []byte(damaged)).markOf("00000001"))
	}
	for range 3 * maxMarks {
		other.mark("till", void, 0)
		other.mark(strings.Repeat("x", len(other.marks)+1), void, 0)
	}
	require.LessOrEqual(t, len(other.marks), maxMarks)
}

// TestField2_M14AMarkThatIsNotStoredRefusesTheRequest: after a restart G would be answered with the
// end of another kind of request.
func TestField2_M14AMarkThatIsNotStoredRefusesTheRequest(t *testing.T) {
	d := New(Config{}, "tcp", false, nil)
	gen := 0
	for _, a := range d.Step(ecr.Received{Data: []byte(payX)}) {
		if s, ok := a.(ecr.Save); ok {
			require.True(t, s.Must)
			gen = s.Gen
		}
	}
	require.NotZero(t, gen)
	for _, a := range d.Step(ecr.Saved{Gen: gen, Failed: true}) {
		_, begins := a.(ecr.Begin)
		require.False(t, begins)
	}
	require.Equal(t, telling, d.phase, "it is told")
	require.Equal(t, void, d.markOf("00000001"), "the till's last request was refused")
}
