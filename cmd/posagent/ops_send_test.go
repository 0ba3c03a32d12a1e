package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/outbox"
	"posagent/agent/view"
)

// told is the event of an operation that came to state.
func told(t *testing.T, ref string, state outbox.State, amount int64) view.Event {
	body, err := json.Marshal(view.Change{State: state, Kind: "payments.create", Amount: amount, Currency: "EUR", Reason: "why"})
	require.NoError(t, err)
	return view.Event{Source: view.OfOperation, Ref: ref, Event: "operation." + strings.ToLower(string(state)), Body: body}
}

// On a terminal each change draws the bar anew, with what is done, left and accepted; elsewhere each is a line.
func TestProgress(t *testing.T) {
	for _, tty := range []bool{true, false} {
		var out strings.Builder
		d := &drain{c: &call{std: std{err: &out}}, tty: tty, began: time.Now().Add(-time.Second), v: drained{Remaining: 4}}
		d.draw()
		d.event(told(t, "a", outbox.Sent, 1250))
		d.event(told(t, "a", outbox.Done, 1250))
		d.event(told(t, "b", outbox.Failed, 100))
		d.event(view.Event{Source: view.OfSale, Ref: "s"})
		d.event(told(t, "c", outbox.Doubt, 100))
		d.event(told(t, "d", outbox.Done, 5))
		d.clear()
		if !tty {
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			require.Len(t, lines, 5)
			require.Regexp(t, `^\S+ sent      a payments.create 12.50 EUR: why \(4 left\)$`, lines[0])
			require.Regexp(t, `^\S+ done      a payments.create 12.50 EUR \(3 left\)$`, lines[1])
			require.Regexp(t, `^\S+ doubt     c payments.create 1.00 EUR: why \(1 left\)$`, lines[3])
			require.NotContains(t, out.String(), "\x1b")
			continue
		}
		require.NotContains(t, out.String(), "\n")
		bars := strings.Split(out.String(), "\r\x1b[K")[1:]
		require.Len(t, bars, 7, "%q", bars)
		for i, want := range []string{
			`^\[\.{24}\] 0/4  0\.0/s  4 left$`, `^\[\.{24}\] 0/4 .* 4 left$`, `^\[#{6}\.{18}\] 1/4  [01]\.\d/s  3 left  payments\.create 12\.50 EUR accepted$`,
			`^\[#{12}\.{12}\] 2/4 .* 2 left  payments\.create 12\.50 EUR accepted$`, `^\[#{18}\.{6}\] 3/4 .* 1 left`, `^\[#{24}\] 4/4 .* 0 left  payments\.create 12\.55 EUR accepted$`, `^$`,
		} {
			require.Regexp(t, want, bars[i])
		}
	}
}

// TestField_U1AnEndThatWasCountedIsToldOnceMore: the journal is counted after two operations have ended and before their
// events are there. They were subtracted a second time, and the watch ended with one operation still waiting.
func TestField_U1AnEndThatWasCountedIsToldOnceMore(t *testing.T) {
	var out strings.Builder
	seen := make(chan view.Event, 3)
	seen <- told(t, "a", outbox.Done, 1)
	seen <- told(t, "b", outbox.Done, 2)
	d := &drain{c: &call{std: std{err: &out}}, moved: time.Now(), v: drained{Due: 3}}
	counted := []int{1, 1, 0}
	err := d.follow(t.Context(), func() error {
		d.v.Remaining, counted = counted[0], counted[1:]
		if len(counted) == 1 { // the third is sent while the second count is made
			seen <- told(t, "c", outbox.Done, 3)
		}
		return nil
	}, seen, make(chan error), time.Minute)
	require.NoError(t, err)
	require.EqualValues(t, 3, d.ended)
	require.Zero(t, d.v.Remaining)
	require.Empty(t, counted)
}
