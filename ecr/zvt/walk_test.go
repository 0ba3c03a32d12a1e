package zvt

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
	schememoney "posagent/schemes/money"
)

func euro(t testing.TB) schememoney.Currency {
	c, ok := schememoney.Lookup("EUR")
	require.True(t, ok)
	return c
}

// world plays the shell, the desk and the register against a machine, in any order, and keeps
// count.
type world struct {
	m       *Machine
	waiting []ecr.Event // answers of desk, till, memory and transport that have not come yet
	timers  [timers]int

	commands, replies int
	delivered         map[string]int
	begun             map[string]bool // sales with an outcome not yet delivered, as the desk sees it
	sales             int
}

func newWorld() *world {
	cfg := testConfig()
	cfg.Prints = true
	return &world{m: New(cfg, nil), delivered: map[string]int{}, begun: map[string]bool{}}
}

type failer interface{ Fatalf(string, ...any) }

func (w *world) step(t failer, ev ecr.Event) {
	for _, a := range w.m.Step(ev) {
		switch a := a.(type) {
		case ecr.Send:
			msg, err := apdu.Decode(a.Data)
			if err != nil {
				t.Fatalf("sent % x: %v", a.Data, err)
			}
			if msg.Cmd.IsReply() {
				w.replies++
			}
			w.waiting = append(w.waiting, ecr.Sent{Seq: a.Seq, OK: true})
		case ecr.StartTimer:
			w.timers[a.Timer] = a.Seq
		case ecr.StopTimer:
			w.timers[a.Timer] = 0
		case ecr.Begin:
			w.sales++
			id := fmt.Sprintf("s%d", w.sales)
			w.begun[id] = true
			if w.sales%3 == 0 {
				w.waiting = append(w.waiting, ecr.Held{Gen: a.Gen})
			}
			w.waiting = append(w.waiting, ecr.Begun{Gen: a.Gen, Sale: id}, w.outcome(a.Gen, id))
		case ecr.Last:
			if w.sales == 0 {
				w.waiting = append(w.waiting, ecr.NotBegun{Gen: a.Gen})
				continue
			}
			id := fmt.Sprintf("s%d", w.sales)
			w.waiting = append(w.waiting, ecr.Begun{Gen: a.Gen, Sale: id}, w.outcome(a.Gen, id))
		case ecr.Abort:
			w.waiting = append(w.waiting, ecr.AbortDecided{Gen: a.Gen, Done: w.sales%2 == 0})
		case ecr.Deliver:
			w.delivered[a.Sale]++
			if a.Gen != 0 {
				out := w.outcome(0, a.Sale).Outcome
				if a.Delivery == ecr.Refused {
					out.Result, out.Code = ecr.Aborted, ecr.AbortedByUser
				}
				w.waiting = append(w.waiting, ecr.Recorded{Gen: a.Gen, Outcome: out, OK: true})
			}
		case ecr.CloseBatch:
			w.waiting = append(w.waiting, ecr.Totalled{Gen: a.Gen, Totals: testTotals, Code: ecr.OK})
		case ecr.Turnover:
			w.waiting = append(w.waiting, ecr.Totalled{Gen: a.Gen, Totals: testTotals, Code: ecr.EODImpossible})
		case ecr.Check:
			w.waiting = append(w.waiting, ecr.Checked{Gen: a.Gen, OK: true})
		case ecr.Report:
			w.waiting = append(w.waiting, ecr.Checked{Gen: a.Gen, OK: true})
		case ecr.Notify:
			w.waiting = append(w.waiting, ecr.Noticed{Gen: a.Gen, Pressed: ecr.Pressed{Key: ecr.KeyConfirm, Digits: "42"}, Code: ecr.OK})
		case ecr.Print:
			w.waiting = append(w.waiting, ecr.Printed{Gen: a.Gen, Code: ecr.OK})
		case ecr.Save:
			if a.Gen != 0 {
				w.waiting = append(w.waiting, ecr.Saved{Gen: a.Gen})
			}
		}
	}
}

// superseded: what waits for its answer never gets one, because the register starts again or is
// gone.
func (w *world) superseded() {
	w.commands -= len(w.m.aborting.ids)
	switch cmd := w.m.d.msg.Cmd; {
	case w.m.phase == asking && !w.m.d.acked, w.m.phase == prompting:
		w.commands--
	case w.m.phase == working && (cmd == apdu.DisplayText || cmd == apdu.PrintLine || cmd == apdu.PrintBlock):
		w.commands--
	}
}

func (w *world) outcome(gen int, id string) ecr.Ended {
	out := outcomeNamed([]string{"approved", "declined", "aborted"}[len(id)%3*w.sales%3])
	out.Sale = id
	return ecr.Ended{Gen: gen, Outcome: out}
}

// TestWalk: whatever the register sends and in whatever order answers come, every command is
// answered exactly once, and every sale's outcome is delivered.
func TestWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		joins := 0
		steps := rapid.IntRange(1, 60).Draw(t, "steps")
		var cmds []apdu.Command
		for c := range table {
			cmds = append(cmds, c)
		}
		// rapid wants a stable order
		for i := range cmds {
			for j := i + 1; j < len(cmds); j++ {
				if cmds[j] < cmds[i] {
					cmds[i], cmds[j] = cmds[j], cmds[i]
				}
			}
		}
		for range steps {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				cmd := rapid.SampledFrom(cmds).Draw(t, "command")
				if cmd == apdu.RepeatReceipt {
					joins++
				}
				w.commands++
				switch r := table[cmd][w.m.phase]; {
				case r == restart, r == take, r == join:
					w.superseded()
				}
				w.step(t, ecr.Received{Data: unhexString(sampleCommands[cmd])})
			case 3, 4:
				w.step(t, ecr.Received{Data: rapid.SampledFrom([][]byte{{0x80, 0, 0}, {0x80, 0, 0}, {0x84, 0, 0}, {0x84, 0x9C, 0}, {0x84, 0x66, 0}}).Draw(t, "reply")})
			case 5:
				timer := rapid.SampledFrom([]ecr.Timer{TimerReply, TimerAnswer, TimerProgress, TimerAskAgain, TimerPaper}).Draw(t, "timer")
				w.step(t, ecr.Fired{Timer: timer, Seq: w.timers[timer]})
			default:
				if len(w.waiting) > 0 {
					ev := w.waiting[0]
					w.waiting = w.waiting[1:]
					w.step(t, ev)
				}
			}
		}
		for len(w.waiting) > 0 { // everybody answers in the end, and the cable is pulled
			ev := w.waiting[0]
			w.waiting = w.waiting[1:]
			w.step(t, ev)
		}
		w.superseded()
		w.step(t, ecr.Gone{})
		for len(w.waiting) > 0 {
			ev := w.waiting[0]
			w.waiting = w.waiting[1:]
			w.step(t, ev)
		}
		if w.replies != w.commands {
			t.Fatalf("%d commands, %d answers", w.commands, w.replies)
		}
		if !w.m.Settled() || w.m.Holds() {
			t.Fatalf("not settled in %v, %d orphans", w.m.phase, len(w.m.orphans))
		}
		for id := range w.begun {
			if n := w.delivered[id]; n < 1 || n > 1+joins {
				t.Fatalf("sale %s was delivered %d times with %d repetitions", id, n, joins)
			}
		}
	})
}

func unhexString(s string) []byte {
	var b []byte
	for len(s) > 0 {
		var x byte
		_, _ = fmt.Sscanf(s[:2], "%X", &x)
		b = append(b, x)
		s = s[min(3, len(s)):]
	}
	return b
}

// FuzzStep feeds arbitrary APDUs, cut by length bytes, in several phases: no panic, at most one
// answer each, and everything sent can be decoded.
func FuzzStep(f *testing.F) {
	for _, c := range sampleCommands {
		b := unhexString(c)
		f.Add(byte(0), append([]byte{byte(len(b))}, b...))
		f.Add(byte(2), append([]byte{byte(len(b))}, b...))
	}
	f.Add(byte(1), []byte{3, 0x84, 0x9C, 0, 3, 0x80, 0, 0, 9, 0x06, 0x00, 0x06, 0x12, 0x34, 0x56, 0x0E, 0x09, 0x78})
	f.Add(byte(4), []byte{3, 0x80, 0, 0, 2, 0x06, 0x01, 0, 5, 0x06, 0x01, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, start byte, data []byte) {
		w := newWorld()
		if p := phase(start % byte(elsewhere)); p != idle {
			w.m = inPhase(t, p).m
		}
		for len(data) > 0 {
			n := min(int(data[0]), len(data)-1)
			one := data[1 : 1+n]
			data = data[1+n:]
			before := w.replies
			w.step(t, ecr.Received{Data: one, Elsewhere: n%7 == 0, OpenSale: "s1"})
			if w.replies > before+1+len(w.m.aborting.ids)+4 {
				t.Fatalf("% x was answered %d times", one, w.replies-before)
			}
			for range n % 4 {
				if len(w.waiting) > 0 {
					ev := w.waiting[0]
					w.waiting = w.waiting[1:]
					w.step(t, ev)
				}
			}
		}
	})
}
