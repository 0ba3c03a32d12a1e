package zvt

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// telling is a machine whose 04 0F says approved and is still on its way, while an earlier 04 FF
// was never answered.
func tellingLate(t *testing.T, sale string, answers ...bool) (m *Machine, seq int) {
	t.Helper()
	m = New(testConfig(), nil)
	m.answers = len(answers) > 0
	last := func(actions []ecr.Action) (seq, timer int) {
		for _, a := range actions {
			switch a := a.(type) {
			case ecr.Send:
				seq = a.Seq
			case ecr.StartTimer:
				if a.Timer == TimerReply {
					timer = a.Seq
				}
			}
		}
		return seq, timer
	}
	ok := unhex(t, "80 00 00")
	m.Step(ecr.Received{Data: unhex(t, "06 00 06 00 00 00 8E 09 78")})
	seq, _ = last(m.Step(ecr.Saved{Gen: m.gen}))
	m.Step(ecr.Sent{Seq: seq, OK: true})
	m.Step(ecr.Received{Data: ok})
	m.Step(ecr.Received{Data: unhex(t, "06 01 07 04 00 00 00 00 12 50")})
	m.Step(ecr.Begun{Gen: m.gen, Sale: sale})
	seq, _ = last(m.Step(ecr.Progressed{Gen: m.gen, Progress: ecr.Progress{Step: ecr.StepStarting}}))
	_, timer := last(m.Step(ecr.Sent{Seq: seq, OK: true}))
	m.Step(ecr.Fired{Timer: TimerReply, Seq: timer})
	seq, _ = last(m.Step(ecr.Ended{Gen: m.gen, Outcome: outcomeNamed("approved")}))
	require.Equal(t, telling, m.phase)
	return m, seq
}

func deliveries(actions []ecr.Action) (out []ecr.Delivery) {
	for _, a := range actions {
		if d, ok := a.(ecr.Deliver); ok {
			out = append(out, d.Delivery)
		}
	}
	return out
}

// The late answer to a 04 FF does not acknowledge a 04 0F that never arrived, or that the register
// refuses.
func TestMoneyA3_ALateReplyIsNoAcknowledgement(t *testing.T) {
	ok := ecr.Received{Data: unhex(t, "80 00 00")}
	for name, c := range map[string]struct {
		events []ecr.Event
		want   []ecr.Delivery
	}{
		"the link loses it":         {[]ecr.Event{ok, ecr.Sent{OK: false}}, []ecr.Delivery{ecr.Lost}},
		"the register refuses it":   {[]ecr.Event{ok, ecr.Sent{OK: true}, ecr.Received{Data: unhex(t, "84 66 00")}}, []ecr.Delivery{ecr.Refused}},
		"refuses it after a while":  {[]ecr.Event{ecr.Sent{OK: true}, ok, ecr.Received{Data: unhex(t, "84 66 00")}}, []ecr.Delivery{ecr.Refused}},
		"acknowledges it":           {[]ecr.Event{ecr.Sent{OK: true}, ok, ok}, []ecr.Delivery{ecr.Told}},
		"acknowledges this alone":   {[]ecr.Event{ecr.Sent{OK: true}, ok, ecr.Fired{Timer: TimerReply}}, []ecr.Delivery{ecr.Told}},
		"early, and this alone":     {[]ecr.Event{ok, ecr.Sent{OK: true}, ecr.Fired{Timer: TimerReply}}, []ecr.Delivery{ecr.Told}},
		"says nothing for too long": {[]ecr.Event{ecr.Sent{OK: true}, ecr.Fired{Timer: TimerReply}}, []ecr.Delivery{ecr.Lost}},
	} {
		t.Run(name, func(t *testing.T) {
			m, seq := tellingLate(t, "s1")
			var got []ecr.Delivery
			for _, ev := range c.events {
				require.Empty(t, got)
				switch e := ev.(type) {
				case ecr.Sent:
					e.Seq = seq
					ev = e
				case ecr.Fired:
					e.Seq = m.timers[TimerReply]
					ev = e
				}
				got = append(got, deliveries(m.Step(ev))...)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A register that starts again is not told of the sale it has given up by a 04 0F that was still to
// be sent: its acknowledgement would be heard by nobody.
func TestMoneyA3_WhatIsUnsentEndsWithItsDialogue(t *testing.T) {
	for _, command := range []string{"06 00 06 00 00 00 8E 09 78", "06 20 05 00 00 00 03 01"} {
		m, seq := tellingLate(t, "s1")
		actions := m.Step(ecr.Received{Data: unhex(t, command)})
		unsend := slices.Index(actions, ecr.Action(ecr.Unsend{Through: seq}))
		require.GreaterOrEqual(t, unsend, 0, command)
		for _, a := range actions[:unsend] {
			_, sends := a.(ecr.Send)
			require.False(t, sends)
		}
		require.Empty(t, m.Step(ecr.Sent{Seq: seq}))
	}
	m, seq := tellingLate(t, "s1")
	m.Step(ecr.Sent{Seq: seq, OK: true})
	for m.leaving > 0 { // the answers to the two commands
		m.Step(ecr.Sent{Seq: -1, OK: true})
	}
	for _, a := range m.Step(ecr.Received{Data: unhex(t, "06 00 06 00 00 00 8E 09 78")}) {
		_, unsends := a.(ecr.Unsend)
		require.False(t, unsends)
	}
}

// A completion that was answered before the link heard its acknowledgement is not repeated once the
// register has gone on: it would be the end of the next dialogue.
func TestMoneyA3_WhatIsAnsweredIsNotRepeated(t *testing.T) {
	for _, acknowledged := range []bool{false, true} {
		m := New(testConfig(), nil)
		m.Step(ecr.Received{Data: unhex(t, "06 00 06 00 00 00 8E 09 78")})
		m.Step(ecr.Saved{Gen: m.gen})
		require.Equal(t, ending, m.phase)
		for m.leaving > 1 {
			m.Step(ecr.Sent{Seq: -1, OK: true})
		}
		end := ecr.Unsend{Through: m.seq}
		if acknowledged {
			m.Step(ecr.Sent{Seq: m.seq, OK: true})
		}
		m.Step(ecr.Received{Data: unhex(t, "80 00 00")})
		require.Equal(t, idle, m.phase)
		actions := m.Step(ecr.Received{Data: unhex(t, "06 01 07 04 00 00 00 00 12 50")})
		require.Equal(t, !acknowledged, slices.Contains(actions, ecr.Action(end)))
	}
}

// A register that answers 04 FF is told once more where its one answer may have been to an older
// message.
func TestMoneyA3_ADoubtfulAnswerIsAskedForAgain(t *testing.T) {
	ok := ecr.Received{Data: unhex(t, "80 00 00")}
	for name, c := range map[string]struct {
		then ecr.Event
		want ecr.Delivery
	}{
		"it has it":            {ok, ecr.Told},
		"it does not want it":  {ecr.Received{Data: unhex(t, "84 66 00")}, ecr.Refused},
		"it was switched off":  {ecr.Fired{Timer: TimerReply}, ecr.Lost},
		"the link has lost it": {ecr.Sent{}, ecr.Lost},
	} {
		t.Run(name, func(t *testing.T) {
			m, seq := tellingLate(t, "s1", true)
			m.Step(ecr.Sent{Seq: seq, OK: true})
			require.Empty(t, deliveries(m.Step(ok)))
			actions := m.Step(ecr.Fired{Timer: TimerReply, Seq: m.timers[TimerReply]})
			require.Empty(t, deliveries(actions))
			again, is := actions[len(actions)-1].(ecr.Send)
			require.True(t, is)
			require.Equal(t, "04 0F", spaced(again.Data[:2]))
			switch e := c.then.(type) {
			case ecr.Sent:
				c.then = ecr.Sent{Seq: again.Seq}
			case ecr.Fired:
				m.Step(ecr.Sent{Seq: again.Seq, OK: true})
				c.then = ecr.Fired{Timer: e.Timer, Seq: m.timers[TimerReply]}
			}
			require.Equal(t, []ecr.Delivery{c.want}, deliveries(m.Step(c.then)))
		})
	}
}

// 06 20 after a lost journal: neither 83 nor the two messages of a failed sale.
func TestARepeatThatCannotBeAnsweredLooksLikeNoFailedSale(t *testing.T) {
	m := New(Config{Currency: "EUR"}, nil)
	m.Step(ecr.Received{Data: []byte{0x06, 0x20, 0x00}})
	var sent [][]byte
	for _, a := range m.Step(ecr.NotBegun{Gen: m.gen, Code: ecr.SystemError, Text: "the journal was replaced"}) {
		if s, ok := a.(ecr.Send); ok {
			sent = append(sent, s.Data)
		}
	}
	require.Equal(t, [][]byte{{0x80, 0, 0}, {0x06, 0x1E, 0x01, 0xFF}}, sent)
}
