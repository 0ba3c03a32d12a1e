package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/support/bundle"
	"posagent/agent/view"
)

// Of a long output the beginning and the end are kept, and no line of either in part: half a secret would not be masked.
func TestAClippedOutputHasWholeLines(t *testing.T) {
	line := func(n int) string { return fmt.Sprintf("%05d the secret is canary-%05d\n", n, n) }
	c, all := &clipped{}, 0
	for n := range 20_000 {
		all += len(line(n))
		_, err := c.Write([]byte(line(n)))
		require.NoError(t, err)
	}
	got := string(c.bytes())
	require.Less(t, len(got), 2*clipMost+100)
	kept := 0
	for one := range strings.Lines(got) {
		var n, left int
		if _, err := fmt.Sscanf(one, "[%d bytes are left out]\n", &left); err == nil {
			kept += left
			continue
		}
		_, err := fmt.Sscanf(one, "%05d", &n)
		require.NoError(t, err, one)
		require.Equal(t, line(n), one)
		kept += len(one)
	}
	require.Equal(t, all, kept)

	c = &clipped{}
	for range 300 {
		_, _ = c.Write(bytes.Repeat([]byte("x"), 1000)) // one line, longer than both ends
	}
	require.Equal(t, "[300000 bytes are left out]\n", string(c.bytes()))
	short := &clipped{}
	_, _ = short.Write([]byte("a\nb"))
	require.Equal(t, "a\nb", string(short.bytes()))
}

// What stands behind the name of a secret, and a one-time code in any form, is a secret of the command.
func TestSecretsOfACommand(t *testing.T) {
	list := secretArgs([]string{"curl", "--token", "hush-hush", "-password=geheim", "--url", "https://x", "posagent", "enroll", "7k3m9qxd2pv", "sh -c 'enroll 7K3M-9QXD-2PV'"})
	for _, secret := range []string{"hush-hush", "geheim", "7k3m9qxd2pv", "7K3M-9QXD-2PV", "7K3M9QXD2PV"} {
		require.Contains(t, list, secret)
	}
	require.NotContains(t, list, "https://x")
}

// A person sees the command's lines without its secrets, and without what moves the cursor.
func TestTheCommandsLinesAreShownClean(t *testing.T) {
	var out bytes.Buffer
	e := &echo{to: &out, clean: bundle.NewCleaner([]string{"hush-hush"})}
	w := e.stream()
	for _, part := range []string{"the token is hush", "-hush\x1b[2J", "\nnext\n", "never ended"} {
		_, err := w.Write([]byte(part))
		require.NoError(t, err)
	}
	require.Equal(t, "| the token is ***.[2J\n| next\n", out.String())
}

// What arrives from elsewhere is noted, and nothing of what it says.
func TestAnEventTellsNothingOfItsBody(t *testing.T) {
	tp := newTape(callOn(t, t.TempDir()))
	tp.event(view.Event{Event: "payment.charge.created.v2", Source: "webhooks", Ref: "r1", Body: []byte(`{"state":"canary-1","reason":"canary-2","data":{"email":"canary-3"}}`)})
	tp.event(view.Event{Event: "operation.failed", Source: view.OfOperation, Ref: "k", Body: []byte(`{"state":"FAILED","kind":"payments.create","amount":948213,"note":"canary-4","attempts":2,"reason":"refused"}`)})
	tp.event(view.Event{Event: "sale.approved", Source: view.OfSale, Ref: "s", Body: []byte(`{"phase":"DONE","result":"approved","amount":948213,"reference":"canary-5"}`)})
	text := tp.data[ofEvents].String()
	require.NotContains(t, text, "canary")
	require.NotContains(t, text, "948213")
	require.Contains(t, text, `"kind":"payments.create","state":"FAILED","attempts":2,"reason":"refused"`)
	require.Contains(t, text, `"phase":"DONE","result":"approved"`)
	require.Equal(t, map[string]int{ofEvents: 3}, tp.lines)
}

// A recording that finds no room says how much it leaves out.
func TestATapeHasAnEnd(t *testing.T) {
	tp := newTape(callOn(t, t.TempDir()))
	for range 300 {
		tp.add(ofLog, strings.Repeat("x", 10_000))
	}
	require.LessOrEqual(t, tp.data[ofLog].Len(), tapeMost)
	require.Positive(t, tp.left[ofLog])
	require.Equal(t, 300, tp.lines[ofLog]+tp.left[ofLog])
	for range 2 * missingMost {
		tp.miss("x")
	}
	require.Len(t, tp.missing, missingMost)
	require.Contains(t, tp.plain(errors.New("404")), "404")
}

// Without the terminal a recording says what is missing, and has the rest.
func TestARecordingWithoutATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	code, out, talk := ask(t, "support", "record", "1s", "--state", filepath.Join(t.TempDir(), "s"), "--out", file, "--no-log", "--json")
	require.Equal(t, exitOK, code, out+talk)
	require.Contains(t, talk, "without log, registers and requests: the terminal does not run")
	var v recorded
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Equal(t, "posagent.record/1", v.Schema)
	require.Len(t, v.Missing, 2, v.Missing)
	require.Positive(t, v.Lines[ofFigures])
	require.Nil(t, v.Command)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	parts := partsOf(t, data)
	for _, name := range []string{"record.json", "findings.json", "version.json", "before/doctor.json", "after/doctor.json", "after/status.json"} {
		require.True(t, json.Valid([]byte(parts[name])), "%s: %s", name, parts[name])
	}
	require.Contains(t, parts[ofFigures], "posagent.record.figures/1")
	require.Contains(t, parts["record.json"], "the terminal does not run")
}

// What was recorded until it is interrupted is kept, and doctor is asked again.
func TestAnInterruptedRecordingIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	talk := handed{make(chan string, 64)}
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"support", "record", "1h", "--state", filepath.Join(t.TempDir(), "s"), "--out", file, "--no-log"},
			std{strings.NewReader(""), io.Discard, talk})
	}()
	for line := range talk.to {
		if strings.Contains(line, "reproduce the fault now") {
			interrupt()
		}
		if strings.Contains(line, "not recorded: events") {
			break
		}
	}
	require.Equal(t, exitOK, <-ended)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	parts := partsOf(t, data)
	require.Contains(t, parts["record.json"], `"interrupted": true`)
	require.Contains(t, parts["after/doctor.json"], "posagent.doctor/1")
}
