package zvt

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

var update = flag.Bool("update", false, "write what the machine does into the scripts")

// A script is one dialogue. Inputs: "E hex" from the register ("E@sale hex": while another
// connection runs that sale), "< event", "T timer". Outputs, compared in order: "P hex" to the
// register, "> action". Every P is acknowledged by the link at once, unless "< fail" or "< keep"
// stands before the input that causes it.
type script struct {
	m     *Machine
	gen   map[string]int
	timer [timers]int
	after [timers]time.Duration
	fail  bool
	out   []string
}

func testConfig() Config {
	series := 0
	return Config{Series: func() string { series++; return strconv.Itoa(series) }, Line: "serial", TerminalID: "52500038", Currency: "EUR", MerchantName: "Café Müller", Device: "posagent",
		Version: "1.0", Serial: "42", Language: "en"}
}

var noon = time.Date(2026, 11, 21, 12, 34, 56, 0, time.UTC)

func outcomeNamed(name string) ecr.Outcome {
	out := ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: ecr.Approved, Code: ecr.OK, Amount: 1250, Currency: "EUR", Receipt: 7,
		Trace: 42, Time: noon, TerminalID: "52500038", TransactionID: "9007199254740993", Method: "TWINT", Label: "TWINT"}
	bad := func(r ecr.Result, c ecr.Code, text string) ecr.Outcome {
		return ecr.Outcome{Sale: "s1", Kind: ecr.Payment, Result: r, Code: c, Text: text, Time: noon, TerminalID: "52500038"}
	}
	switch name {
	case "approved":
	case "told":
		out.ToldFor = time.Minute
	case "bluecode":
		out.Method, out.Label = "BLUECODE", "Bluecode"
	case "merchant":
		out.MerchantCopy = true
	case "text":
		out.Text = "Danke schön"
	case "reversed":
		out.Kind, out.OriginalTrace, out.Trace, out.Receipt = ecr.Reversal, 42, 43, 8
	case "declined":
		return bad(ecr.Declined, ecr.RejectedByScheme, "Declined by wallet")
	case "aborted":
		return bad(ecr.Aborted, ecr.AbortedByUser, "")
	case "noconnection":
		return bad(ecr.Aborted, ecr.NoConnection, "no connection")
	case "b5":
		return bad(ecr.Aborted, ecr.NotReversible, "")
	case "b4":
		return bad(ecr.Aborted, ecr.AlreadyReversed, "")
	case "inprogress":
		o := bad(ecr.InProgress, ecr.StillRunning, "")
		o.Kind = ecr.Refund
		return o
	default:
		panic("no outcome " + name)
	}
	return out
}

var testTotals = ecr.Totals{Batch: 3, FirstReceipt: 1, LastReceipt: 7, Trace: 42, Time: noon, Currency: "EUR", Count: 7, Net: 8750,
	Methods:    []ecr.MethodTotal{{Method: "TWINT", Label: "TWINT", Currency: "EUR", Payments: 6, PaymentSum: 9000, Refunds: 1, RefundSum: 250}},
	Exceptions: []string{"receipt 0003 still settling"}}

func (s *script) step(t testing.TB, ev ecr.Event) {
	queue := []ecr.Event{ev}
	for len(queue) > 0 {
		actions := s.m.Step(queue[0])
		queue = queue[1:]
		for _, a := range actions {
			switch a := a.(type) {
			case ecr.StartTimer:
				s.timer[a.Timer], s.after[a.Timer] = a.Seq, a.After
				continue
			case ecr.StopTimer:
				s.timer[a.Timer] = 0
				continue
			case ecr.Send:
				queue = append(queue, ecr.Sent{Seq: a.Seq, OK: !s.fail})
			}
			s.note(a)
			s.out = append(s.out, render(a))
		}
	}
	s.fail = false
}

func (s *script) note(a ecr.Action) {
	switch a := a.(type) {
	case ecr.Begin:
		s.gen["sale"] = a.Gen
	case ecr.Last:
		s.gen["sale"] = a.Gen
	case ecr.Abort:
		s.gen["abort"] = a.Gen
	case ecr.Deliver:
		s.gen["deliver"] = a.Gen
	case ecr.CloseBatch:
		s.gen["till"] = a.Gen
	case ecr.Turnover:
		s.gen["till"] = a.Gen
	case ecr.Check:
		s.gen["till"] = a.Gen
	case ecr.Report:
		s.gen["till"] = a.Gen
	case ecr.Notify:
		s.gen["panel"] = a.Gen
	case ecr.Print:
		s.gen["panel"] = a.Gen
	case ecr.Save:
		s.gen["save"] = a.Gen
	}
}

func render(a ecr.Action) string {
	switch a := a.(type) {
	case ecr.Send:
		return "P " + spaced(a.Data)
	case ecr.Begin:
		r := a.Request
		out := fmt.Sprintf("> begin %s %d %s", r.Kind, r.Amount, r.Currency)
		for _, x := range []struct {
			is   bool
			text string
		}{
			{r.Line != "serial", "line=" + r.Line}, {r.Sequence != "", "id=" + r.Sequence}, {r.CardType != 0, fmt.Sprint("card=", r.CardType)},
			{r.Receipt != 0, fmt.Sprint("receipt=", r.Receipt)}, {r.Original != "", "original=" + r.Original}, {r.Part, "part"}, {r.Progress, "progress"},
		} {
			if x.is {
				out += " " + x.text
			}
		}
		if r.LastReceipt != nil {
			out += fmt.Sprint(" last=", *r.LastReceipt)
		}
		return out
	case ecr.Last:
		if a.Receipt > 0 {
			return fmt.Sprintf("> last %d", a.Receipt)
		}
		return "> last"
	case ecr.Abort:
		return "> abort " + a.Sale
	case ecr.Deliver:
		return fmt.Sprintf("> %s %s", a.Delivery, a.Sale)
	case ecr.CloseBatch:
		return "> close"
	case ecr.DayTold:
		return "> day told"
	case ecr.Turnover:
		return "> turnover"
	case ecr.Check:
		return "> check"
	case ecr.Report:
		return "> report"
	case ecr.Save:
		return "> save"
	case ecr.Notify:
		n := a.Notice
		return fmt.Sprintf("> notify %s %s digits %d to %d masked %t: %s", []string{"text", "key", "number"}[n.Wants], n.For, n.Min, n.Max, n.Masked, strings.Join(n.Lines, " | "))
	case ecr.EndNotice:
		return "> end notice"
	case ecr.Print:
		out := "> print"
		for _, l := range a.Lines {
			out += fmt.Sprintf(" [%s]", l.Text)
			for _, x := range []struct {
				is   bool
				text string
			}{{l.Centre, "centre"}, {l.Double, "double"}, {l.Feed > 0, fmt.Sprint("feed ", l.Feed)}} {
				if x.is {
					out += " " + x.text
				}
			}
		}
		return out
	}
	if w, ok := a.(ecr.Waits); ok {
		return "> waits " + w.Sale
	}
	return fmt.Sprintf("> %T", a)
}

func spaced(b []byte) string { return strings.ToUpper(fmt.Sprintf("% x", b)) }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err, s)
	return b
}

var timerNames = map[string]ecr.Timer{"reply": TimerReply, "answer": TimerAnswer, "progress": TimerProgress, "again": TimerAskAgain, "free": TimerFree, "paper": TimerPaper}

func (s *script) input(t testing.TB, line string) {
	kind, rest, _ := strings.Cut(line, " ")
	switch {
	case kind == "E":
		s.step(t, ecr.Received{Data: unhex(t, rest)})
	case strings.HasPrefix(kind, "E@"):
		s.step(t, ecr.Received{Data: unhex(t, rest), Elsewhere: true, OpenSale: kind[2:]})
	case kind == "T":
		timer, ok := timerNames[rest]
		require.True(t, ok, line)
		require.NotZero(t, s.timer[timer], "timer %s is not running", rest)
		seq := s.timer[timer]
		s.timer[timer] = 0
		s.step(t, ecr.Fired{Timer: timer, Seq: seq})
	case kind == "<":
		s.event(t, strings.Fields(rest))
	default:
		t.Fatalf("no input: %s", line)
	}
}

func (s *script) event(t testing.TB, w []string) {
	gen := s.gen["sale"]
	if n := len(w); n > 1 && strings.HasPrefix(w[n-1], "gen=") {
		_, err := fmt.Sscanf(w[n-1], "gen=%d", &gen)
		require.NoError(t, err)
		w = w[:n-1]
	}
	word := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	switch w[0] {
	case "fail":
		s.fail = true
	case "config":
		for _, one := range w[1:] {
			key, value, _ := strings.Cut(one, "=")
			switch key {
			case "charset":
				s.m.cfg.Charset, _ = apdu.ParseCharset(value)
			case "password":
				s.m.cfg.Password = value
			case "language":
				s.m.cfg.Language = value
			case "prints":
				s.m.cfg.Prints = value == "yes"
			case "contract":
				s.m.cfg.Contract = value
			case "manner":
				m, ok := ParseManner(value)
				require.True(t, ok, value)
				s.m.cfg.Manner = m
				s.m.adopt(s.m.said)
			default:
				t.Fatal(one)
			}
		}
	case "begun":
		s.step(t, ecr.Begun{Gen: gen, Sale: word(1)})
	case "refused":
		s.step(t, ecr.NotBegun{Gen: gen, Code: ecr.Code(word(1)), Text: strings.Join(w[min(2, len(w)):], " ")})
	case "progress":
		s.step(t, ecr.Progressed{Gen: gen, Progress: ecr.Progress{Step: ecr.Step(word(1)), Text: strings.Join(w[2:], " ")}})
	case "outcome":
		s.step(t, ecr.Ended{Gen: gen, Outcome: outcomeNamed(word(1))})
	case "aborted":
		s.step(t, ecr.AbortDecided{Gen: s.gen["abort"], Done: word(1) == "yes"})
	case "recorded":
		if word(1) == "error" {
			s.step(t, ecr.Recorded{Gen: s.gen["deliver"]})
		} else {
			s.step(t, ecr.Recorded{Gen: s.gen["deliver"], Outcome: outcomeNamed(word(1)), OK: true})
		}
	case "totals":
		code := ecr.OK
		if len(w) > 1 {
			code = ecr.Code(word(1))
		}
		s.step(t, ecr.Totalled{Gen: s.gen["till"], Totals: testTotals, Code: code})
	case "health":
		h := map[string]ecr.Health{"ready": {Ready: true, Lines: []string{"12 methods"}}, "busy": {Ready: true, Busy: true}, "starting": {},
			"nomethods": {NoMethods: true}, "dead": {Offline: true},
			"offline": {Ready: true, Offline: true}}[word(1)]
		s.step(t, ecr.Checked{Gen: s.gen["till"], Health: h, OK: word(1) != "dead"})
	case "noticed":
		ev := ecr.Noticed{Gen: s.gen["panel"], Code: ecr.OK}
		keys := map[string]ecr.PanelKey{"confirm": ecr.KeyConfirm, "correct": ecr.KeyCorrect, "stop": ecr.KeyStop, "timeout": ecr.KeyTimeout, "": ecr.KeyNone}
		if key, ok := keys[word(1)]; ok {
			ev.Pressed = ecr.Pressed{Key: key, Digits: word(2)}
		} else {
			ev.Code = ecr.Code(word(1))
		}
		s.step(t, ev)
	case "printed":
		ev := ecr.Printed{Gen: s.gen["panel"], Code: ecr.OK}
		if len(w) > 1 {
			ev.Code = ecr.Code(word(1))
		}
		s.step(t, ev)
	case "held":
		s.step(t, ecr.Held{Gen: gen})
	case "saved":
		s.step(t, ecr.Saved{Gen: s.gen["save"]})
	case "unsaved":
		s.step(t, ecr.Saved{Gen: s.gen["save"], Failed: true})
	case "restart": // the process starts again, with what was saved
		s.m = New(s.m.cfg, s.m.said.encode())
	case "gone":
		s.step(t, ecr.Gone{})
	case "freed":
		s.step(t, ecr.Freed{})
	default:
		t.Fatalf("no event: %v", w)
	}
}

// play runs a script and returns it with what the machine really did.
func play(t testing.TB, text string) (transcript string, s *script) {
	s = &script{m: New(testConfig(), nil), gen: map[string]int{}}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "P ") || strings.HasPrefix(line, "> ") {
			continue
		}
		b.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		s.out = nil
		s.input(t, line)
		for _, o := range s.out {
			b.WriteString(o + "\n")
		}
	}
	return b.String(), s
}

// TestDialogues plays the golden scripts: whole conversations, byte for byte.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var played []string
		for part := range strings.SplitSeq(string(data), "\n== ") {
			part = strings.TrimPrefix(part, "== ")
			title, body, _ := strings.Cut(part, "\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".script")+"/"+title, func(t *testing.T) {
				got, s := play(t, body)
				require.True(t, s.m.phase < phases)
				if *update {
					played = append(played, "== "+title+"\n"+strings.TrimSpace(got)+"\n")
					return
				}
				require.Equal(t, strings.TrimSpace(body), strings.TrimSpace(got))
			})
		}
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(played, "\n")), 0o644))
		}
	}
}
