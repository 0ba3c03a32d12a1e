package zvt

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// telling is a machine whose 04 0F says approved and is still on its way, while an earlier 04 FF was never answered.
func tellingLate(t *testing.T, sale string, answers ...bool) (m *Machine, seq int) {
	t.Helper()
	m = New(testConfig(), nil)
	m.answers = len(answers) > 0
	last := func(actions []Action) (seq, timer int) {
		for _, a := range actions {
			switch a := a.(type) {
			case Send:
				seq = a.Seq
			case StartTimer:
				if a.Timer == TimerReply {
					timer = a.Seq
				}
			}
		}
		return seq, timer
	}
	ok := unhex(t, "80 00 00")
	m.Step(Received{APDU: unhex(t, "06 00 06 00 00 00 8E 09 78")})
	seq, _ = last(m.Step(Saved{Gen: m.gen}))
	m.Step(Sent{Seq: seq, OK: true})
	m.Step(Received{APDU: ok})
	m.Step(Received{APDU: unhex(t, "06 01 07 04 00 00 00 00 12 50")})
	m.Step(Begun{Gen: m.gen, Sale: sale})
	seq, _ = last(m.Step(Progressed{Gen: m.gen, Progress: ecr.Progress{Step: ecr.StepStarting}}))
	_, timer := last(m.Step(Sent{Seq: seq, OK: true}))
	m.Step(Fired{Timer: TimerReply, Seq: timer})
	seq, _ = last(m.Step(Ended{Gen: m.gen, Outcome: outcomeNamed("approved")}))
	require.Equal(t, telling, m.phase)
	return m, seq
}

func deliveries(actions []Action) (out []ecr.Delivery) {
	for _, a := range actions {
		if d, ok := a.(Deliver); ok {
			out = append(out, d.Delivery)
		}
	}
	return out
}

// The late answer to a 04 FF does not acknowledge a 04 0F that never arrived, or that the register refuses (MONEY A.3).
func TestMoneyA3_ALateReplyIsNoAcknowledgement(t *testing.T) {
	ok := Received{APDU: unhex(t, "80 00 00")}
	for name, c := range map[string]struct {
		events []Event
		want   []ecr.Delivery
	}{
		"the link loses it":         {[]Event{ok, Sent{OK: false}}, []ecr.Delivery{ecr.Lost}},
		"the register refuses it":   {[]Event{ok, Sent{OK: true}, Received{APDU: unhex(t, "84 66 00")}}, []ecr.Delivery{ecr.Refused}},
		"refuses it after a while":  {[]Event{Sent{OK: true}, ok, Received{APDU: unhex(t, "84 66 00")}}, []ecr.Delivery{ecr.Refused}},
		"acknowledges it":           {[]Event{Sent{OK: true}, ok, ok}, []ecr.Delivery{ecr.Told}},
		"acknowledges this alone":   {[]Event{Sent{OK: true}, ok, Fired{Timer: TimerReply}}, []ecr.Delivery{ecr.Told}},
		"early, and this alone":     {[]Event{ok, Sent{OK: true}, Fired{Timer: TimerReply}}, []ecr.Delivery{ecr.Told}},
		"says nothing for too long": {[]Event{Sent{OK: true}, Fired{Timer: TimerReply}}, []ecr.Delivery{ecr.Lost}},
	} {
		t.Run(name, func(t *testing.T) {
			m, seq := tellingLate(t, "s1")
			var got []ecr.Delivery
			for _, ev := range c.events {
				require.Empty(t, got)
				switch e := ev.(type) {
				case Sent:
					e.Seq = seq
					ev = e
				case Fired:
					e.Seq = m.timers[TimerReply]
					ev = e
				}
				got = append(got, deliveries(m.Step(ev))...)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A register that starts again is not told of the sale it has given up by a 04 0F that was still to be sent: its acknowledgement
// would be heard by nobody.
func TestMoneyA3_WhatIsUnsentEndsWithItsDialogue(t *testing.T) {
	for _, command := range []string{"06 00 06 00 00 00 8E 09 78", "06 20 05 00 00 00 03 01"} {
		m, seq := tellingLate(t, "s1")
		actions := m.Step(Received{APDU: unhex(t, command)})
		unsend := slices.Index(actions, Action(Unsend{Through: seq}))
		require.GreaterOrEqual(t, unsend, 0, command)
		for _, a := range actions[:unsend] {
			_, sends := a.(Send)
			require.False(t, sends)
		}
		require.Empty(t, m.Step(Sent{Seq: seq}))
	}
	m, seq := tellingLate(t, "s1")
	m.Step(Sent{Seq: seq, OK: true})
	for m.leaving > 0 { // the answers to the two commands
		m.Step(Sent{Seq: -1, OK: true})
	}
	for _, a := range m.Step(Received{APDU: unhex(t, "06 00 06 00 00 00 8E 09 78")}) {
		_, unsends := a.(Unsend)
		require.False(t, unsends)
	}
}

// A completion that was answered before the link heard its acknowledgement is not repeated once the register has gone on: it
// would be the end of the next dialogue.
func TestMoneyA3_WhatIsAnsweredIsNotRepeated(t *testing.T) {
	for _, acknowledged := range []bool{false, true} {
		m := New(testConfig(), nil)
		m.Step(Received{APDU: unhex(t, "06 00 06 00 00 00 8E 09 78")})
		m.Step(Saved{Gen: m.gen})
		require.Equal(t, ending, m.phase)
		for m.leaving > 1 {
			m.Step(Sent{Seq: -1, OK: true})
		}
		end := Unsend{Through: m.seq}
		if acknowledged {
			m.Step(Sent{Seq: m.seq, OK: true})
		}
		m.Step(Received{APDU: unhex(t, "80 00 00")})
		require.Equal(t, idle, m.phase)
		actions := m.Step(Received{APDU: unhex(t, "06 01 07 04 00 00 00 00 12 50")})
		require.Equal(t, !acknowledged, slices.Contains(actions, Action(end)))
	}
}

// A register that answers 04 FF is told once more where its one answer may have been to an older message.
func TestMoneyA3_ADoubtfulAnswerIsAskedForAgain(t *testing.T) {
	ok := Received{APDU: unhex(t, "80 00 00")}
	for name, c := range map[string]struct {
		then Event
		want ecr.Delivery
	}{
		"it has it":            {ok, ecr.Told},
		"it does not want it":  {Received{APDU: unhex(t, "84 66 00")}, ecr.Refused},
		"it was switched off":  {Fired{Timer: TimerReply}, ecr.Lost},
		"the link has lost it": {Sent{}, ecr.Lost},
	} {
		t.Run(name, func(t *testing.T) {
			m, seq := tellingLate(t, "s1", true)
			m.Step(Sent{Seq: seq, OK: true})
			require.Empty(t, deliveries(m.Step(ok)))
			actions := m.Step(Fired{Timer: TimerReply, Seq: m.timers[TimerReply]})
			require.Empty(t, deliveries(actions))
			again, is := actions[len(actions)-1].(Send)
			require.True(t, is)
			require.Equal(t, "04 0F", spaced(again.APDU[:2]))
			switch e := c.then.(type) {
			case Sent:
				c.then = Sent{Seq: again.Seq}
			case Fired:
				m.Step(Sent{Seq: again.Seq, OK: true})
				c.then = Fired{Timer: e.Timer, Seq: m.timers[TimerReply]}
			}
			require.Equal(t, []ecr.Delivery{c.want}, deliveries(m.Step(c.then)))
		})
	}
}
