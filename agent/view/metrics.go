package view

import (
	"context"
	"strconv"
	"strings"
	"time"

	"posagent/agent/checkout/drive/journal"
	"posagent/agent/outbox"
	"posagent/agent/support/daily"
	"posagent/store"
)

// Metrics writes the figures a monitor asks for, in the text form monitors read.
func (h *Daemon) Metrics(ctx context.Context) (string, error) {
	health := h.DB.Health(ctx)
	var sales, ops, alerts, differences int
	var oldest []outbox.Op
	err := h.DB.Read(ctx, func(r store.Reader) (err error) {
		if sales, err = journal.Unsettled(r); err != nil {
			return err
		}
		if _, alerts, err = outbox.Alerts(r, 1); err != nil {
			return err
		}
		if _, differences, err = daily.Findings(r, 1); err != nil {
			return err
		}
		if ops, err = outbox.Unfinished(r); err != nil || ops == 0 {
			return err
		}
		oldest, err = h.Outbox.List(r, outbox.Filter{Open: true, Limit: 1})
		return err
	})
	if err != nil {
		return "", err
	}
	age := int64(0)
	if len(oldest) > 0 {
		age = max(0, int64(h.Now().Sub(oldest[0].Created)/time.Second))
	}
	var b strings.Builder
	line := func(name, label string, value int64) {
		b.WriteString("posagent_" + name + label + " " + strconv.FormatInt(value, 10) + "\n")
	}
	gauge := func(name string, value int64) {
		b.WriteString("# TYPE posagent_" + name + " gauge\n")
		line(name, "", value)
	}
	gauge("sandbox", bit(h.About.Sandbox))
	gauge("sales_open", int64(sales))
	gauge("operations_open", int64(ops))
	gauge("operation_oldest_seconds", age)
	gauge("alerts", int64(alerts+differences)) // to be acknowledged by a person
	gauge("store_ready", bit(h.DB.Reserved(ctx) == nil))
	gauge("store_file_bytes", health.FileBytes)
	gauge("store_wal_bytes", health.WALBytes)
	gauge("store_free_bytes", health.FreeBytes)
	b.WriteString("# TYPE posagent_store_commits_total counter\n")
	line("store_commits_total", "", health.Commits)
	if h.Lines != nil {
		lineMetrics(&b, h.Lines(), h.Now())
	}
	b.WriteString("# TYPE posagent_upstream_healthy gauge\n")
	for _, s := range h.Services { // healthy: it answered last time, or was never asked
		line("upstream_healthy", `{service="`+s.Name+`"}`, bit(s.Healthy()))
	}
	return b.String(), nil
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

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
