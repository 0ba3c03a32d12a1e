package doctor

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// others are the checks that the terminal does not make of itself, with the reason.
var others = map[string]string{
	"PA-CLK-003": "network", "PA-KEY-005": "network", "PA-UPS-001": "network", "PA-UPS-002": "network", "PA-UPS-003": "network", "PA-UPS-004": "network",
	"PA-UPS-005": "network", "PA-UPS-006": "network", "PA-UPS-007": "network", "PA-UPS-009": "network", "PA-NET-001": "network", "PA-NET-002": "network", "PA-NET-003": "network",
	"PA-NET-004": "network", "PA-NET-005": "network", "PA-NET-006": "network", "PA-NET-007": "network", "PA-NET-008": "network", "PA-NET-009": "network",
	"PA-NET-010": "network", "PA-NET-011": "network", "PA-NET-012": "network",
	"PA-DSK-005": "writes a probe", "PA-DB-004": "reads the whole journal", "PA-DB-008": "reads the whole audit log",
	"PA-KEY-001": "reads the device key", "PA-KEY-002": "reads the device key", "PA-KEY-004": "the journal is open",
	"PA-DB-001": "the journal is open", "PA-DB-002": "the journal is open", "PA-DB-003": "the journal is open",
	"PA-SYS-001": "the terminal runs", "PA-SYS-002": "the terminal runs", "PA-SYS-003": "the terminal runs", "PA-SYS-004": "asks the control socket",
	"PA-SER-005": "reads the tables of all processes", "PA-SER-009": "the terminal runs",
	"PA-PAD-001": "opens the device", "PA-REC-001": "reads the till's whole list",
}

// TestTheTerminalExaminesItself: each check is either one that the terminal makes of itself or named here, those that it makes depend on
// no other, and they ask neither the network nor the control socket, and read neither the key nor the whole journal.
func TestTheTerminalExaminesItself(t *testing.T) {
	var ids []string
	for _, c := range OfItself() {
		ids = append(ids, c.ID)
	}
	for _, c := range Checks() {
		require.NotEqual(t, others[c.ID] != "", slices.Contains(ids, c.ID), c.ID)
	}
	for _, c := range OfItself() {
		for _, id := range c.After {
			require.Contains(t, ids, id, c.ID)
		}
	}
	f := well(t)
	f.Config.Serial, f.Config.First, f.Daemon.Serial = []string{"/dev/ttyUSB0"}, "/dev/ttyUSB0", "/dev/ttyUSB0"
	never := func(what string) { t.Errorf("it asks %s", what) }
	f.Backend = func(context.Context) Answer { never("the backend"); return Answer{} }
	f.Schemes = func(context.Context) Answer { never("the schemes"); return Answer{} }
	f.Accounts = func(context.Context) []Account { never("the accounts"); return nil }
	f.Answers = func(context.Context) error { never("the control socket"); return nil }
	f.Key = func() Key { never("for the key"); return Key{} }
	f.Lines = func() []Line { never("for the device"); return nil }
	journal := f.Journal(t.Context())
	journal.Quick = func(context.Context) error { never("for the whole journal"); return nil }
	journal.Audit = func(context.Context) ([]string, error) { never("for the audit log"); return nil, nil }
	f.Journal = func(context.Context) Journal { return journal }
	for _, r := range exam.Examine(t.Context(), OfItself(), f, exam.Usual()) {
		require.Contains(t, []exam.Status{exam.Pass, exam.Skip, exam.Warn}, r.Status, "%s: %v", r.ID, r.Evidence)
	}
	journal.Doubt = 1
	f.Daemon.Troubles = []ready.Said{{Cause: ready.LinePulled, Words: "it was unplugged", Remedy: "plug it in"}}
	failed := ""
	for _, r := range exam.Examine(t.Context(), OfItself(), f, exam.Usual()) {
		if r.Status == exam.Fail {
			failed += r.ID + " "
		}
	}
	require.Equal(t, "PA-SER-002 PA-QUE-002", strings.TrimSpace(failed), "one cause is one failure")
}
