package caisseap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

const (
	pay    = "CZ0040300CJ012012345678901CA00201CE003978BF0010CD0010CB0041250"
	refund = "CZ0040300CJ012012345678901CA00201CE003978BF0010CD0011CB0041250"
)

// outcomes of a sale of 12.50.
func outcome(result ecr.Result, code ecr.Code) ecr.Outcome {
	out := ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: result, Code: code}
	if result == ecr.Approved {
		out.Amount, out.Receipt = 1250, 7
	}
	return out
}

// play gives a dialogue events by name and returns what it does, in words.
type play struct {
	t testing.TB
	d *dialogue
}

func begin(t testing.TB, cfg Config) play { return play{t, New(cfg, "tcp").(*dialogue)} }

func (p play) step(name string) string {
	p.t.Helper()
	var ev ecr.Event
	switch word, rest, _ := strings.Cut(name, " "); word {
	case "ask":
		ev = ecr.Received{Data: []byte(rest)}
	case "elsewhere":
		ev = ecr.Received{Data: []byte(rest), Elsewhere: true, OpenSale: "s0"}
	case "begun":
		ev = ecr.Begun{Gen: gen, Sale: "s1"}
	case "held":
		ev = ecr.Held{Gen: gen}
	case "refused":
		ev = ecr.NotBegun{Gen: gen, Code: ecr.Code(rest)}
	case "approved":
		ev = ecr.Ended{Gen: gen, Outcome: outcome(ecr.Approved, ecr.OK)}
	case "wrong":
		out := outcome(ecr.Approved, ecr.OK)
		out.Amount = 1251
		ev = ecr.Ended{Gen: gen, Outcome: out}
	case "declined":
		ev = ecr.Ended{Gen: gen, Outcome: outcome(ecr.Declined, ecr.RejectedByScheme)}
	case "aborted":
		ev = ecr.Ended{Gen: gen, Outcome: outcome(ecr.Aborted, ecr.AbortedByUser)}
	case "running":
		ev = ecr.Ended{Gen: gen, Outcome: outcome(ecr.InProgress, ecr.StillRunning)}
	case "closed", "unread":
		ev = ecr.Sent{Seq: p.d.seq, OK: word == "closed"}
	case "recorded":
		ev = ecr.Recorded{Gen: gen, OK: true}
	case "late":
		ev = ecr.Fired{}
	case "gone":
		ev = ecr.Gone{}
	case "tooLate":
		ev = ecr.AbortDecided{Gen: gen}
	default:
		require.Fail(p.t, "no event", name)
	}
	return p.words(p.d.Step(ev))
}

func (p play) words(actions []ecr.Action) string {
	var out []string
	for _, a := range actions {
		switch a := a.(type) {
		case ecr.Send:
			m, err := Decode(a.Data)
			if len(a.Data) == 0 {
				out = append(out, "hang up")
				continue
			}
			require.NoError(p.t, err)
			out = append(out, strings.TrimSpace(m.Get("AE")+" "+m.Get("AF")))
		case ecr.Begin:
			require.Equal(p.t, "tcp/01", a.Request.Line)
			out = append(out, "begin "+string(a.Request.Kind)+strings.TrimRight(" "+a.Request.Sequence, " "))
		case ecr.Abort:
			require.Equal(p.t, "s1", a.Sale)
			out = append(out, "abort")
		case ecr.Deliver:
			require.Equal(p.t, "s1", a.Sale)
			out = append(out, string(a.Delivery))
		case ecr.StartTimer:
			out = append(out, fmt.Sprintf("%d s", a.After/time.Second))
		case ecr.StopTimer:
		default:
			require.Fail(p.t, "no word", "%T", a)
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ", ")
}

// into brings a dialogue to a phase by the shortest way.
var into = map[string][]string{
	"idle": nil, "asking": {"ask " + pay}, "running": {"ask " + pay, "begun"}, "answering": {"ask " + pay, "begun", "approved"},
	"recording": {"ask " + pay, "begun", "approved", "closed"}, "leaving": {"ask " + pay, "begun", "gone"},
	"over": {"ask " + pay, "begun", "approved", "closed", "recorded"},
}

// grid is what each event does in each phase, by hand. A payment of 12.50 is on its way; in answering
// its approval is. ">" is the phase after it.
const grid = `
event     | idle          | asking            | running            | answering         | recording   | leaving     | over
ask       | begin >asking | - >asking         | abort >running     | - >answering      | - >recording | - >leaving | - >over
begun     | - >idle       | - >running        | - >running         | - >answering      | - >recording | - >leaving | - >over
held      | - >idle       | - >asking         | - >running         | - >answering      | - >recording | - >leaving | - >over
refused   | - >idle       | 01 10 >answering  | hang up >answering | - >answering      | - >recording | - >over    | - >over
approved  | - >idle       | - >asking         | 10 >answering      | lost >answering   | - >recording | lost >over | - >over
declined  | - >idle       | - >asking         | 01 04 >answering   | lost >answering   | - >recording | lost >over | - >over
closed    | - >idle       | - >asking         | - >running         | told >recording   | - >recording | - >leaving | - >over
unread    | - >idle       | - >asking         | - >running         | lost >recording   | - >recording | - >leaving | - >over
recorded  | - >idle       | - >asking         | - >running         | - >answering      | - >over     | - >leaving  | - >over
late      | - >idle       | 01 08 >answering  | 01 08, abort >answering | - >answering | - >recording | - >leaving | - >over
gone      | - >over       | - >leaving        | abort >leaving     | - >answering      | - >recording | - >leaving | - >over
`

// TestMatrix walks every event through every phase.
func TestMatrix(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(grid), "\n")
	columns := strings.Split(rows[0], "|")[1:]
	require.Len(t, columns, int(phases), "a phase without a column")
	require.Len(t, rows[1:], int(happenings)+2, "an event without a row") // two ends of a sale, two of an answer
	for _, row := range rows[1:] {
		cells := strings.Split(row, "|")
		event := strings.TrimSpace(cells[0])
		require.Len(t, cells[1:], len(columns), event)
		for i, cell := range cells[1:] {
			name := strings.TrimSpace(columns[i])
			t.Run(event+"/"+name, func(t *testing.T) {
				p := begin(t, Config{})
				for _, e := range into[name] {
					p.step(e)
				}
				require.Equal(t, name, p.d.phase.String())
				require.Equal(t, p.d.phase >= asking && p.d.phase <= recording, p.d.Holds())
				require.Equal(t, name == "idle" || name == "over", p.d.Settled())
				arg := map[string]string{"ask": pay, "refused": string(ecr.NoMethod)}[event]
				got := p.step(strings.TrimSpace(event + " " + arg))
				got = strings.TrimSuffix(strings.TrimPrefix(got, "80 s, "), " payment")
				require.Equal(t, strings.TrimSpace(cell), got+" >"+p.d.phase.String())
			})
		}
	}
}

// TestDialogues are the ways a request goes, event by event.
func TestDialogues(t *testing.T) {
	identified := Config{Identified: true}
	const cf = "CF004a-17"
	for name, c := range map[string]struct {
		cfg   Config
		steps []string // "event => actions"
	}{
		"a sale": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "approved => 10", "gone => -", "closed => told", "recorded => -"}},
		"an answer that was not read": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "approved => 10", "gone => -", "unread => lost",
			"recorded => -"}},
		"MONEY F.5: a register that left hears nothing": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "gone => abort",
			"aborted => lost"}},
		"a register that left, and the approval was first": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "gone => abort",
			"tooLate => -", "approved => lost"}},
		"a register that left before the sale was there": {steps: []string{"ask " + pay + " => 80 s, begin payment", "gone => -", "begun => abort", "approved => lost"}},
		"MONEY A.4: an approval after the deadline is undone": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "late => 01 08, abort",
			"approved => refused", "closed => -"}},
		"the same, the answer left before": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "late => 01 08, abort", "closed => -",
			"approved => refused"}},
		"a journal that hangs": {steps: []string{"ask " + pay + " => 80 s, begin payment", "late => 01 08", "closed => -", "begun => abort", "approved => refused"}},
		"MONEY A.2: no final no while the journal is taken up": {steps: []string{"ask " + pay + " => 80 s, begin payment", "held => -", "late => hang up",
			"unread => -", "begun => abort", "aborted => lost"}},
		"a refund that goes on": {steps: []string{"ask " + refund + " => 80 s, begin refund", "begun => -", "running => 01 07 EN COURS, NE PAS REPETER",
			"closed => interim", "recorded => -"}},
		"a refund at the deadline": {steps: []string{"ask " + refund + " => 80 s, begin refund", "begun => -", "late => 01 07 EN COURS, NE PAS REPETER",
			"closed => -", "approved => lost"}},
		"bytes behind the request": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "ask CC00300C => abort", "aborted => 01 09",
			"closed => told", "recorded => -"}},
		"bytes behind it, and the approval was first": {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "ask CC00300C => abort",
			"approved => refused", "recorded => 01 09", "closed => -"}},
		"bytes behind it before the sale was there": {steps: []string{"ask " + pay + " => 80 s, begin payment", "ask CC00300C => -", "begun => abort", "aborted => 01 09"}},
		"never another amount":                      {steps: []string{"ask " + pay + " => 80 s, begin payment", "begun => -", "wrong => refused", "recorded => 01 09", "closed => -"}},
		"another sale runs":                         {steps: []string{"elsewhere " + pay + " => 01 11", "closed => -"}},
		"identification beside a sale":              {steps: []string{"elsewhere CZ0040300CJ012012345678901CA00201CD001I => 10", "closed => -"}},
		"without names a CF is none":                {steps: []string{"ask " + pay + cf + " => 80 s, begin payment"}},
		"MONEY F.2: a purchase with a name":         {cfg: identified, steps: []string{"ask " + pay + cf + " => 80 s, begin payment a-17"}},
		"a name that is used for another amount":    {cfg: identified, steps: []string{"ask " + pay + cf + " => 80 s, begin payment a-17", "refused processing_error => 01 09"}},
		"MONEY F.3: what may be paid is not denied": {cfg: identified, steps: []string{"ask " + pay + cf + " => 80 s, begin payment a-17", "refused not_ready => hang up", "unread => -"}},
		"the same at the deadline":                  {cfg: identified, steps: []string{"ask " + pay + cf + " => 80 s, begin payment a-17", "late => hang up"}},
		"patience":                                  {cfg: Config{Patience: 50 * time.Second}, steps: []string{"ask " + pay + " => 50 s, begin payment"}},
		"a refusal":                                 {steps: []string{"ask " + pay + " => 80 s, begin payment", "refused not_stored => 01 08", "closed => -"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, c.cfg)
			for _, step := range c.steps {
				event, want, _ := strings.Cut(step, " => ")
				require.Equal(t, want, p.step(event), step)
			}
		})
	}
}
