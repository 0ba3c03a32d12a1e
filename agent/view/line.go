package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the line in one sentence.
func (l RegisterLine) String() string {
	state := "open"
	if !l.Open {
		state = "not open"
	}
	if l.Carrier == "lost" {
		state += ", no register at the other end"
	}
	contact := "no register heard yet"
	if !l.LastContact.IsZero() {
		contact = "heard " + l.LastContact.Local().Format("15:04:05")
	}
	text := fmt.Sprintf("%s %s, %s, %d in, %d out", l.Name, state, contact, l.Received, l.Sent)
	for _, x := range []struct {
		n    uint64
		what string
	}{{l.Unsent, "not acknowledged"}, {l.Naks, "NAK"}, {l.Bad, "bad"}, {l.Noise, "noise bytes"}, {l.Strange, "of another protocol"}, {l.Turned, "turned away"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.what)
		}
	}
	return text
}

// deaf says that bytes come and no message is among them: another speed, another framing, or a bad cable.
func (l RegisterLine) deaf() bool { return l.Received == 0 && l.Bad+l.Noise/16 > 0 }

// lineMetrics writes what the lines have counted in the text form monitors read.
func lineMetrics(b *strings.Builder, lines []RegisterLine, now time.Time) {
	for _, m := range []struct {
		name, kind string
		value      func(RegisterLine) int64
	}{
		{"open", "gauge", func(l RegisterLine) int64 { return bit(l.Open) }},
		{"connections", "gauge", func(l RegisterLine) int64 { return int64(l.Connections) }},
		{"carrier_lost", "gauge", func(l RegisterLine) int64 { return bit(l.Carrier == "lost") }},
		{"last_contact_seconds", "gauge", func(l RegisterLine) int64 {
			if l.LastContact.IsZero() {
				return -1
			}
			return max(0, int64(now.Sub(l.LastContact)/time.Second))
		}},
		{"frames_received_total", "counter", func(l RegisterLine) int64 { return int64(l.Received) }},
		{"frames_sent_total", "counter", func(l RegisterLine) int64 { return int64(l.Sent) }},
		{"frames_unacknowledged_total", "counter", func(l RegisterLine) int64 { return int64(l.Unsent) }},
		{"frames_repeated_total", "counter", func(l RegisterLine) int64 { return int64(l.Repeated) }},
		{"naks_total", "counter", func(l RegisterLine) int64 { return int64(l.Naks) }},
		{"bad_frames_total", "counter", func(l RegisterLine) int64 { return int64(l.Bad) }},
		{"noise_bytes_total", "counter", func(l RegisterLine) int64 { return int64(l.Noise) }},
		{"wrong_passwords_total", "counter", func(l RegisterLine) int64 { return int64(l.WrongPasswords) }},
		{"other_protocols_total", "counter", func(l RegisterLine) int64 { return int64(l.Strange) }},
		{"turned_away_total", "counter", func(l RegisterLine) int64 { return int64(l.Turned) }},
	} {
		name := "posagent_register_" + m.name
		b.WriteString("# TYPE " + name + " " + m.kind + "\n")
		for _, l := range lines {
			b.WriteString(name + `{line="` + l.Name + `"} ` + strconv.FormatInt(m.value(l), 10) + "\n")
		}
	}
}
