package jsonl

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// A script is one dialogue. Inputs: "E" a message of the register, "E+" the same while another
// connection of the line is in a request, "X" one that no schema describes, "<" an event of the
// desk, "T" a timer. Outputs, compared in order: "P" a line of the terminal, ">" an action.
type script struct {
	d     *Dialogue
	gen   int // of the last question to the desk
	abort int
	told  int // of the last Deliver
	aside int
	saved []byte
	timer [timers]int
	out   []string
}

func newScript(cfg Config) *script { return &script{d: New(cfg, nil)} }

func testConfig() Config {
	return Config{Line: "tcp", TerminalID: "52500038", Currency: "EUR", MerchantName: "Shop", Language: "en", Version: "1.2.3", Sandbox: true}
}

var noon = time.Date(2026, 11, 21, 12, 34, 56, 0, time.UTC)

func outcomeNamed(name string) ecr.Outcome {
	out := ecr.Outcome{Sale: "s1", Sequence: "7", Kind: ecr.Payment, Result: ecr.Approved, Code: ecr.OK, Amount: 1250, Currency: "EUR", Receipt: 7,
		Trace: 42, Time: noon, TerminalID: "52500038", TransactionID: "9007199254740993", Method: "TWINT", Label: "TWINT"}
	bad := func(r ecr.Result, c ecr.Code) ecr.Outcome {
		return ecr.Outcome{Sale: "s1", Sequence: "7", Kind: ecr.Payment, Result: r, Code: c, Amount: 1250, Currency: "EUR"}
	}
	switch name {
	case "approved":
	case "other":
		out.Amount = 1300
	case "declined":
		return bad(ecr.Declined, ecr.RejectedByScheme)
	case "aborted":
		return bad(ecr.Aborted, ecr.AbortedByUser)
	case "settling":
		out = bad(ecr.Aborted, ecr.AbortedByUser)
		out.Settling = true
	case "in_progress":
		out = bad(ecr.InProgress, ecr.StillRunning)
		out.Kind, out.Amount = ecr.Refund, 500
	default:
		panic("no outcome " + name)
	}
	return out
}

var testTotals = ecr.Totals{Batch: 3, FirstReceipt: 1, LastReceipt: 7, Trace: 42, Time: noon, Currency: "EUR", Count: 7, Net: 8750,
	Methods: []ecr.MethodTotal{{Method: "TWINT", Label: "TWINT", Currency: "EUR", Payments: 6, PaymentSum: 9000, Refunds: 1, RefundSum: 250}}}

func (s *script) step(ev ecr.Event) {
	for _, a := range s.d.Step(ev) {
		switch a := a.(type) {
		case ecr.StartTimer:
			s.timer[a.Timer] = a.Seq
			continue
		case ecr.StopTimer:
			s.timer[a.Timer] = 0
			continue
		case ecr.Begin:
			s.gen = a.Gen
		case ecr.Last:
			s.gen = a.Gen
		case ecr.CloseBatch:
			s.gen = a.Gen
		case ecr.Turnover:
			s.gen = a.Gen
		case ecr.Abort:
			s.abort = a.Gen
		case ecr.Deliver:
			s.told = a.Gen
		case ecr.Report:
			s.aside = a.Gen
		case ecr.Save:
			s.saved = a.Profile
		}
		s.out = append(s.out, render(a))
	}
}

func render(a ecr.Action) string {
	switch a := a.(type) {
	case ecr.Send:
		return "P " + string(a.Data)
	case ecr.Begin:
		r := a.Request
		text := fmt.Sprintf("> begin %s %d%s %s id=%s", r.Kind, r.Amount, r.Currency, r.Line, r.Sequence)
		for _, more := range []string{r.Original, r.Reference, r.Method, r.ConsumerID} {
			if more != "" {
				text += " " + more
			}
		}
		if r.Receipt != 0 {
			text += fmt.Sprint(" receipt ", r.Receipt)
		}
		if len(r.Lines) > 0 {
			text += fmt.Sprintf(" %+v", r.Lines)
		}
		if !r.Progress || r.Patience != 0 || r.Keep {
			text += " WRONG PATIENCE"
		}
		return text
	case ecr.Last:
		return strings.TrimSpace("> find " + a.Line + " " + a.Sequence)
	case ecr.Abort:
		return "> abort " + a.Sale
	case ecr.Deliver:
		return fmt.Sprintf("> %s %s", a.Delivery, a.Sale)
	case ecr.CloseBatch:
		return "> close"
	case ecr.Turnover:
		return "> turnover"
	case ecr.Report:
		return "> report"
	case ecr.Save:
		return "> save"
	}
	return fmt.Sprintf("> %T", a)
}

var timerNames = map[string]ecr.Timer{"progress": timerProgress, "tell": timerTell, "look": timerLook}

func (s *script) input(t testing.TB, line string) {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "E", "E+", "X":
		if kind != "X" {
			require.NoError(t, loadSchema(t).check("register", rest))
		}
		s.step(ecr.Received{Data: []byte(rest), Elsewhere: kind == "E+"})
	case "T":
		timer, ok := timerNames[rest]
		require.True(t, ok && s.timer[timer] != 0, "timer %s does not run", rest)
		seq := s.timer[timer]
		s.timer[timer] = 0
		s.step(ecr.Fired{Timer: timer, Seq: seq})
	case "<":
		s.event(t, strings.Fields(rest))
	default:
		t.Fatalf("no input: %s", line)
	}
}

func (s *script) event(t testing.TB, w []string) {
	word := append(w, "", "", "")[1]
	switch w[0] {
	case "begun":
		s.step(ecr.Begun{Gen: s.gen, Sale: "s1"})
	case "held":
		s.step(ecr.Held{Gen: s.gen})
	case "none":
		s.step(ecr.NotBegun{Gen: s.gen})
	case "refused":
		s.step(ecr.NotBegun{Gen: s.gen, Code: ecr.Code(word), Text: strings.Join(w[2:], " ")})
	case "progress":
		s.step(ecr.Progressed{Gen: s.gen, Progress: ecr.Progress{Step: ecr.Step(word), Text: strings.Join(w[2:], " ")}})
	case "outcome":
		s.step(ecr.Ended{Gen: s.gen, Outcome: outcomeNamed(word)})
	case "stopped":
		s.step(ecr.AbortDecided{Gen: s.abort, Done: word == "yes"})
	case "recorded":
		if word == "error" {
			s.step(ecr.Recorded{Gen: s.told})
			return
		}
		s.step(ecr.Recorded{Gen: s.told, Outcome: outcomeNamed(word), OK: true})
	case "totals":
		code := ecr.OK
		if word != "" {
			code = ecr.Code(word)
		}
		s.step(ecr.Totalled{Gen: s.gen, Totals: testTotals, Code: code})
	case "saved":
		s.step(ecr.Saved{Gen: s.d.ask.gen})
	case "health":
		s.step(ecr.Checked{Gen: s.aside, Health: ecr.Health{Ready: word == "ready"}, OK: true})
	case "gone":
		s.step(ecr.Gone{})
	case "undoing":
		s.step(ecr.Undoing{})
	case "password":
		s.d = New(Config{Line: "tcp", Currency: "EUR", TerminalID: "52500038", Password: word}, nil)
	case "cable":
		s.d.cfg.Cable = true
	case "restart":
		s.d = New(s.d.cfg, s.saved)
	default:
		t.Fatalf("no event: %v", w)
	}
}

// TestDialogues plays conversations that were written by hand, and holds every line of the terminal
// to the schema.
func TestDialogues(t *testing.T) {
	data, err := os.ReadFile("testdata/dialogues.script")
	require.NoError(t, err)
	schema := loadSchema(t)
	for part := range strings.SplitSeq(strings.TrimPrefix(string(data), "== "), "\n== ") {
		title, body, _ := strings.Cut(part, "\n")
		t.Run(title, func(t *testing.T) {
			s := newScript(testConfig())
			var got []string
			for line := range strings.Lines(body) {
				line = strings.TrimSpace(line)
				if line == "" || line[0] == 'P' || line[0] == '>' {
					continue
				}
				s.out = nil
				s.input(t, line)
				got = append(append(got, line), s.out...)
			}
			require.Equal(t, strings.TrimSpace(body), strings.Join(got, "\n"))
			for _, line := range got {
				if said, ok := strings.CutPrefix(line, "P "); ok {
					require.NoError(t, schema.check("terminal", said), said)
				}
			}
		})
	}
}
