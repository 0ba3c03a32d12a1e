package view

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// TestField_L12CountersAreShown: in a sentence of status, in the figures for a monitor, and as advice where no message is among
// what comes.
func TestField_L12CountersAreShown(t *testing.T) {
	at := time.Date(2026, 11, 22, 13, 40, 0, 0, time.Local)
	serial := RegisterLine{Name: "serial", Open: true, LastContact: at, Carrier: "lost", Received: 12, Sent: 34, Unsent: 1, Repeated: 5, Naks: 2, Bad: 3, Noise: 40}
	require.Equal(t, "serial open, no register at the other end, heard 13:40:00, 12 in, 34 out, 1 not acknowledged, 2 NAK, 3 bad, 40 noise bytes", serial.String())
	tcp := RegisterLine{Name: "tcp", Connections: 2, Strange: 7, WrongPasswords: 8, Turned: 9}
	require.Equal(t, "tcp not open, no register heard yet, 0 in, 0 out, 7 of another protocol, 9 turned away", tcp.String())

	var b strings.Builder
	lineMetrics(&b, []RegisterLine{serial, tcp}, at.Add(90*time.Second))
	for _, want := range []string{
		"# TYPE posagent_register_open gauge\nposagent_register_open{line=\"serial\"} 1\nposagent_register_open{line=\"tcp\"} 0\n",
		"posagent_register_connections{line=\"tcp\"} 2\n", "posagent_register_carrier_lost{line=\"serial\"} 1\n",
		"posagent_register_last_contact_seconds{line=\"serial\"} 90\n", "posagent_register_last_contact_seconds{line=\"tcp\"} -1\n",
		"posagent_register_frames_received_total{line=\"serial\"} 12\n", "posagent_register_frames_sent_total{line=\"serial\"} 34\n",
		"posagent_register_frames_unacknowledged_total{line=\"serial\"} 1\n", "posagent_register_frames_repeated_total{line=\"serial\"} 5\n",
		"posagent_register_naks_total{line=\"serial\"} 2\n", "posagent_register_bad_frames_total{line=\"serial\"} 3\n",
		"posagent_register_noise_bytes_total{line=\"serial\"} 40\n", "posagent_register_wrong_passwords_total{line=\"tcp\"} 8\n",
		"posagent_register_other_protocols_total{line=\"tcp\"} 7\n", "posagent_register_turned_away_total{line=\"tcp\"} 9\n",
	} {
		require.Contains(t, b.String(), want)
	}

	v := NewStatus(Status{TCP: "127.0.0.1:1"})
	v.Live = Live{At: at, Lines: []RegisterLine{{Name: "serial", Open: true, Bad: 2, Noise: 300}, serial}}
	v.Advise()
	require.Equal(t, []string{"register line serial: bytes come, and no message is among them (2 bad frame(s), 300 byte(s) of noise): set [ecr] baud and stop_bits as the register has them, and check the cable"},
		v.Attention)
}

// A sale that the register has not acknowledged needs no hand: the register asks again, or the money goes back. When, is known while
// the terminal runs.
func TestAnUnconfirmedSaleIsLeftAlone(t *testing.T) {
	const begin = ": nothing is to be typed; the register asks again by itself (only one that speaks Caisse-AP cannot: look at its till before anybody pays again), or the money goes back "
	said := func(v Status) string {
		v.TCP = "127.0.0.1:1"
		v.Advise()
		return strings.Join(v.Attention, "\n")
	}
	// Told 100 s after the box began, seen 130 s after it at 13:40:00, and 10 minutes of grace: 9 min 30 s are left.
	at := time.Date(2026, 11, 22, 13, 40, 0, 0, time.Local)
	live := Live{At: at, Boot: 130 * time.Second, Grace: 10 * time.Minute}
	v := Status{Running: true, Unconfirmed: 1, Untold: 100 * time.Second, Live: live}
	require.Equal(t, "1 sale(s) the register has not acknowledged"+begin+"at 13:49", said(v))
	v.Unconfirmed = 2
	require.Equal(t, "2 sale(s) the register has not acknowledged"+begin+"from 13:49 on", said(v))
	v.Live = Live{}
	require.Equal(t, "2 sale(s) the register has not acknowledged"+begin+"after the grace time", said(v))
	v.Running = false
	require.Equal(t, "2 sale(s) the register has not acknowledged"+begin+"after the grace time, once the terminal runs", said(v))
}

// TestField2_U4AFailureIsSaidOnce: what doctor calls a failure is on the screen, and once.
func TestField2_U4AFailureIsSaidOnce(t *testing.T) {
	v := NewStatus(Status{})
	v.Live.Lines = []RegisterLine{{Name: "serial", Bad: 2}}
	v.Advise()
	require.Len(t, v.Attention, 1)
	v.Failed("", "bytes come, and no message is among them", "set [ecr] baud")
	require.Len(t, v.Attention, 1, "the line is there already")
	v.Judged(ready.Not(ready.Trouble{Cause: ready.LineGone}, ready.Place{}))
	v.Failed(ready.LineGone, "in other words", "plug it in")
	require.Len(t, v.Attention, 1, "the first line says so")
	v.Failed("", "the token is for everybody", "chmod 600")
	require.Equal(t, "the token is for everybody: chmod 600", v.Attention[1])
}
