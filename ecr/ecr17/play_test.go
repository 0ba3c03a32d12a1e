package ecr17

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// Requests of register 00000001, as registers write them.
var (
	pay      = asked("P", "00000001", "00000"+"00001250")
	payMore  = asked("P", "00000001", "00000"+"00007777")
	payX     = asked("X", "00000001", "00000"+"00001250")
	payOther = asked("P", "00000002", "00000"+"00001250")
	payTags  = asked("P", "00000001", "10000"+"00001250")
	payZero  = asked("P", "00000001", "00000"+"00000000")
	undo     = "123456780S00000001" + "000000" + "00"
	undo103  = "123456780S00000001" + "000103" + "00"
	again1   = "123456780G00000001" + "0000"
	again2   = "123456780G00000002" + "0000"
	total    = "123456780T00000001" + "00000000"
	dayEnd   = "123456780C00000001" + "00000000"
	hello    = "123456780s"
	paper    = "123456780E1"
	noPaper  = "123456780E0"
	reprint1 = "123456780R1" + "00000000000"
	tag      = "123456780U000000" + "62" + "DF8D01  " + "0000000000" + "EC0TRK\x1B"
)

func asked(code, till, fields string) string {
	return "123456780" + code + till + fields + strings.Repeat(" ", 128) + "00000000"
}

// play gives a dialogue events by name and returns what it does, in words.
type play struct {
	t    testing.TB
	d    *Dialogue
	kind ecr.Kind // of the sale that ends
}

func begin(t testing.TB, cfg Config) *play {
	return &play{t, New(cfg, "tcp", false, nil), ecr.Payment}
}

// outcome is that of a sale of 12.50.
func (p *play) outcome(result ecr.Result, code ecr.Code) ecr.Outcome {
	out := ecr.Outcome{Sale: "s1", Kind: p.kind, Result: result, Code: code}
	if result == ecr.Approved {
		out.Amount, out.Receipt, out.Trace, out.TransactionID = 1250, 7, 101, "7001"
		out.Time = time.Date(2026, 11, 22, 10, 22, 0, 0, time.UTC)
	}
	return out
}

func (p *play) step(name string) string {
	p.t.Helper()
	d := p.d
	var ev ecr.Event
	word, rest, _ := strings.Cut(name, " ")
	ended := func(result ecr.Result, code ecr.Code) ecr.Event {
		return ecr.Ended{Gen: d.run.gen, Outcome: p.outcome(result, code)}
	}
	switch word {
	case "ask":
		ev = ecr.Received{Data: []byte(rest)}
	case "elsewhere":
		ev = ecr.Received{Data: []byte(rest), Elsewhere: true, OpenSale: "s0"}
	case "beside": // the line runs a sale that no connection is in the middle of
		ev = ecr.Received{Data: []byte(rest), OpenSale: "s1"}
	case "saved":
		ev = ecr.Saved{Gen: d.run.gen}
	case "begun":
		ev = ecr.Begun{Gen: d.run.gen, Sale: "s1"}
	case "orphanBegun":
		ev = ecr.Begun{Gen: p.orphan(), Sale: "s1"}
	case "refused":
		ev = ecr.NotBegun{Gen: d.run.gen, Code: ecr.Code(rest)}
	case "approved":
		ev = ended(ecr.Approved, ecr.OK)
	case "old":
		out := p.outcome(ecr.Approved, ecr.OK)
		out.ToldFor = 3*time.Minute + 1
		ev = ecr.Ended{Gen: d.run.gen, Outcome: out}
	case "told":
		out := p.outcome(ecr.Approved, ecr.OK)
		out.ToldFor = 3 * time.Minute
		ev = ecr.Ended{Gen: d.run.gen, Outcome: out}
	case "aged": // told in another boot, and no true time is known
		out := p.outcome(ecr.Approved, ecr.OK)
		out.ToldFor, out.ToldLeast = time.Minute, true
		ev = ecr.Ended{Gen: d.run.gen, Outcome: out}
	case "wrong":
		out := p.outcome(ecr.Approved, ecr.OK)
		out.Amount = 1251
		ev = ecr.Ended{Gen: d.run.gen, Outcome: out}
	case "declined":
		ev = ended(ecr.Declined, ecr.RejectedByScheme)
	case "aborted":
		ev = ended(ecr.Aborted, ecr.AbortedByUser)
	case "running":
		ev = ended(ecr.InProgress, ecr.StillRunning)
	case "orphanApproved":
		ev = ecr.Ended{Gen: p.orphan(), Outcome: p.outcome(ecr.Approved, ecr.OK)}
	case "heard", "unheard":
		ev = ecr.Sent{Seq: d.awaited, OK: word == "heard"}
	case "recorded":
		ev = ecr.Recorded{Gen: d.run.gen, OK: true}
	case "totalled":
		ev = ecr.Totalled{Gen: d.run.gen, Code: ecr.OK, Totals: ecr.Totals{Net: 12345}}
	case "below":
		ev = ecr.Totalled{Gen: d.run.gen, Code: ecr.OK, Totals: ecr.Totals{Net: -1}}
	case "open":
		ev = ecr.Totalled{Gen: d.run.gen, Code: ecr.EODImpossible}
	case "checked":
		ev = ecr.Checked{Gen: d.run.gen, OK: true, Health: ecr.Health{Ready: rest == "", Time: time.Date(2026, 11, 22, 11, 10, 0, 0, time.UTC)}}
	case "unanswered":
		ev = ecr.Fired{Timer: timerAck, Seq: d.timers[timerAck]}
	case "late":
		ev = ecr.Fired{Timer: timerEnd, Seq: d.timers[timerEnd]}
	case "beat":
		ev = ecr.Fired{Timer: timerBeat, Seq: d.timers[timerBeat]}
	case "forgets":
		ev = ecr.Fired{Timer: timerRepeats, Seq: d.timers[timerRepeats]}
	case "scan":
		ev = ecr.Progressed{Gen: d.run.gen, Progress: ecr.Progress{Step: ecr.StepShowCode}}
	case "freed":
		ev = ecr.Freed{}
	case "gone":
		ev = ecr.Gone{}
	default:
		require.Fail(p.t, "no event", name)
	}
	return p.words(d.Step(ev))
}

// orphan is the one sale that the register does not wait for.
func (p *play) orphan() int {
	require.Len(p.t, p.d.orphans, 1)
	for gen := range p.d.orphans {
		return gen
	}
	return 0
}

func (p *play) words(actions []ecr.Action) string {
	var out []string
	for _, a := range actions {
		switch a := a.(type) {
		case ecr.Send:
			out = append(out, said(p.t, a.Data))
		case ecr.Begin:
			require.Equal(p.t, "tcp/0000000", a.Request.Line[:11])
			out = append(out, fmt.Sprintf("begin %s %d%s at %s", a.Request.Kind, a.Request.Amount, a.Request.Original, a.Request.Line[11:]))
			require.Empty(p.t, a.Request.Sequence)
		case ecr.Last:
			out = append(out, "last of "+a.Line[11:])
		case ecr.Abort:
			require.Equal(p.t, "s1", a.Sale)
			out = append(out, "abort")
		case ecr.Deliver:
			require.Equal(p.t, "s1", a.Sale)
			out = append(out, string(a.Delivery))
		case ecr.Save:
			q := New(Config{}, "tcp", false, a.Profile)
			out = append(out, "save "+q.marks[len(q.marks)-1].Code)
		case ecr.CloseBatch:
			out = append(out, "close")
		case ecr.DayTold:
			require.Equal(p.t, "tcp/0000000", a.Line[:11])
			out = append(out, fmt.Sprintf("day %d told at %s", a.Batch, a.Line[11:]))
		case ecr.Turnover:
			out = append(out, "turnover")
		case ecr.Report:
			out = append(out, "health")
		case ecr.StartTimer:
			if a.Timer == timerEnd {
				out = append(out, fmt.Sprintf("%d s", a.After/time.Second))
			}
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

// said is a message of the terminal in words.
func said(t testing.TB, data []byte) string {
	s := string(data)
	switch {
	case s == "\x06":
		return "ack"
	case s == "\x15":
		return "nak"
	case s[0] == 1:
		require.Len(t, s, 22)
		require.Equal(t, byte(4), s[21])
		return "..."
	}
	require.Equal(t, "123456780", s[:9])
	switch s[9] {
	case 'E':
		require.Contains(t, []int{71, 84, 92}, len(s))
		if s[10:12] == "00" {
			return fmt.Sprintf("E 00 %s %s %d", s[34:40], s[59:65], len(s))
		}
		require.Equal(t, "000000", s[59:65], "what is not done has no number")
		return fmt.Sprintf("E %s %s %d", s[10:12], strings.TrimSpace(s[12:36]), len(s))
	case 'T':
		require.Len(t, s, 34)
		return "T " + s[10:12] + " " + s[12:28]
	case 'C':
		require.Len(t, s, 44)
		if s[10:12] == "00" {
			require.Equal(t, s[12:28], s[28:])
			return "C 00 " + s[12:28]
		}
		return "C " + s[10:12] + " " + strings.TrimSpace(s[12:31])
	case 's':
		return "s " + s[20:31]
	case 'S':
		require.LessOrEqual(t, len(s), 210)
		return "ticket"
	}
	require.Fail(t, "not a message of the terminal", s)
	return ""
}
