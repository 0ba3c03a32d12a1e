package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// well are the facts of a terminal that is well and runs.
func well(t *testing.T) *Facts {
	proc := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(proc, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(proc, name), []byte(text), 0o600))
	}
	put("4711/status", "Uid:\t1000\t1000\t1000\t1000\n")
	put("meminfo", "MemAvailable:   60000 kB\n")
	put("swaps", "Filename\tType\n")
	put("sys/class/thermal/thermal_zone0/temp", "41000\n")
	require.NoError(t, os.Symlink("/usr/bin/posagent", filepath.Join(proc, "4711/exe")))
	journal := Journal{State: Readable, Fetched: noon, Quick: func(context.Context) error { return nil }}
	return &Facts{
		Now: noon, State: t.TempDir(), Proc: proc, Sys: filepath.Join(proc, "sys"), Sane: func(time.Time) bool { return true }, Zone: func() (string, *ready.Said) { return "Europe/Berlin", nil },
		Config:  Config{Named: true, TCP: []string{"127.0.0.1:20007"}, Refresh: time.Hour, MaxAge: 7 * 24 * time.Hour, Backend: "https://pay.example"},
		Daemon:  Daemon{PID: 4711, Running: true, Told: true, Report: ready.Report{Ready: true}, Backend: "https://pay.example", Zone: "Europe/Berlin", Lines: []Heard{{Name: "tcp"}}},
		Answers: func(context.Context) error { return nil }, InMemory: func(string) string { return "" }, Dir: func() error { return nil }, Token: func() error { return nil },
		Key: func() Key { return Key{} }, Lines: func() []Line { return nil },
		Journal: func(context.Context) Journal { return journal },
		Backend: func(context.Context) Answer {
			return Answer{Host: "pay.example", Phase: Answered, TLS: true, Methods: 1, Fit: true, Clock: noon, At: noon, CertUntil: noon.AddDate(1, 0, 0)}
		},
		Schemes: func(context.Context) Answer { return Answer{Host: "pay.example", Status: 404} },
		Accounts: func(context.Context) []Account {
			return []Account{{"payments", Answer{Host: "pay.example", Status: 404}}, {"paylinks", Answer{Host: "pay.example", Status: 200}}}
		},
	}
}

// TestEveryOtherCheckCanFail: the checks whose faults the campaign of cross/campaign/doctor does not seed, each by the fact that it looks at. The same
// check passes, or has nothing to look at, on a terminal that is well.
func TestEveryOtherCheckCanFail(t *testing.T) {
	journal := func(change func(*Journal)) func(*Facts) {
		return func(f *Facts) {
			j := f.Journal(nil)
			change(&j)
			f.Journal = func(context.Context) Journal { return j }
		}
	}
	said := func(cause ready.Cause) *ready.Said {
		return &ready.Said{Cause: cause, Words: "what is wrong", Remedy: "mend it"}
	}
	proc := func(name, text string) func(*Facts) {
		return func(f *Facts) { require.NoError(t, os.WriteFile(filepath.Join(f.Proc, name), []byte(text), 0o600)) }
	}
	for _, tc := range []struct {
		id    string
		want  exam.Status
		fault func(f *Facts)
	}{
		{"PA-CFG-007", exam.Warn, func(f *Facts) { f.Config.Ignored = []string{"POSAGENT_COLOUR"} }},
		{"PA-CFG-009", exam.Fail, func(f *Facts) { f.Daemon.Report = ready.Report{NotReady: said(ready.Unenrolled)} }},
		{"PA-CFG-009", exam.Fail, func(f *Facts) { f.Daemon.Report = ready.Report{NotReady: said(ready.Replaced)} }},
		{"PA-CFG-009", exam.Fail, func(f *Facts) { f.Daemon, f.Config.Unenrolled = Daemon{}, true }},
		{"PA-CFG-011", exam.Fail, func(f *Facts) {
			f.Config.Twice = []string{`printer.device: "/dev/ttyS1" is what ecr.serial names, too: name another`}
		}},
		{"PA-CFG-010", exam.Warn, func(f *Facts) { f.Config.Revision, f.Config.GivenUp = 3, 4 }},
		{"PA-CLK-004", exam.Fail, func(f *Facts) { f.Daemon.Troubles = []ready.Said{*said(ready.Zone)} }},
		{"PA-CLK-004", exam.Fail, func(f *Facts) {
			f.Daemon, f.Zone = Daemon{}, func() (string, *ready.Said) { return "UTC", said(ready.Zone) }
		}},
		{"PA-DSK-006", exam.Fail, func(f *Facts) { f.State, f.InMemory = "/proc", func(string) string { return "tmpfs" } }},
		{"PA-DSK-006", exam.Warn, func(f *Facts) { f.State, f.InMemory = os.TempDir(), func(string) string { return "tmpfs" } }},
		{"PA-DSK-005", exam.Fail, func(f *Facts) {
			require.NoError(t, os.MkdirAll(filepath.Join(f.State, "doctor.probe", "no file"), 0o700))
		}},
		{"PA-DB-002", exam.Fail, journal(func(j *Journal) { j.State, j.Text = NewerSchema, "file has schema version 99" })},
		{"PA-DB-003", exam.Fail, journal(func(j *Journal) { j.State, j.Text = Forbidden, "permission denied" })},
		{"PA-DB-003", exam.Fail, journal(func(j *Journal) { j.State, j.Text = Unreadable, "input/output error" })},
		{"PA-DB-004", exam.Fail, journal(func(j *Journal) { j.Quick = nil })}, // a panic
		{"PA-DB-004", exam.Fail, journal(func(j *Journal) {
			j.Quick = func(context.Context) error { return errors.New("row 7 missing from index") }
		})},
		{"PA-DB-003", exam.Fail, func(f *Facts) { f.Daemon.Report = ready.Report{NotReady: said(ready.Locked)} }},
		{"PA-DB-001", exam.Fail, func(f *Facts) { f.Daemon.Report = ready.Report{NotReady: said(ready.Displaced)} }},
		{"PA-DB-005", exam.Warn, journal(func(j *Journal) { j.WALBytes = 16<<20 + 1 })},
		{"PA-DB-005", exam.Fail, journal(func(j *Journal) { j.WALBytes = 64<<20 + 1 })},
		{"PA-DB-006", exam.Fail, journal(func(j *Journal) { j.Missing = []string{"1 sale is missing"} })},
		{"PA-DB-007", exam.Fail, journal(func(j *Journal) { j.Altered = []string{"0190"} })},
		{"PA-DB-008", exam.Fail, journal(func(j *Journal) {
			j.Audit = func(context.Context) ([]string, error) { return []string{"line 7: removed"}, nil }
		})},
		{"PA-DB-009", exam.Warn, func(f *Facts) { f.Config.Mark = filepath.Join(f.State, "usb", "posagent.mark") }},
		{"PA-DB-009", exam.Warn, func(f *Facts) {
			f.Config.Mark, f.Daemon.Troubles = filepath.Join(f.State, "posagent.mark"), []ready.Said{*said(ready.Unmarked)}
		}},
		{"PA-KEY-005", exam.Warn, func(f *Facts) { f.Now = noon.AddDate(1, 0, -5) }},
		{"PA-SYS-005", exam.Fail, func(f *Facts) { f.Daemon.Report = ready.Report{NotReady: said("journal")} }},
		{"PA-SYS-005", exam.Warn, func(f *Facts) { f.Daemon.Report = ready.Report{NotReady: said("resuming")} }},
		{"PA-SYS-005", exam.Warn, func(f *Facts) { f.Daemon.Report = ready.Report{Ready: true, Offline: said("stall")} }},
		{"PA-SYS-005", exam.Warn, func(f *Facts) { f.Daemon.Told = false }},
		{"PA-SYS-006", exam.Warn, func(f *Facts) {
			exe := filepath.Join(f.Proc, "4711/exe")
			require.NoError(t, os.Remove(exe))
			require.NoError(t, os.Symlink("/usr/bin/posagent (deleted)", exe))
		}},
		{"PA-SYS-007", exam.Warn, proc("meminfo", "MemAvailable:   16383 kB\n")},
		{"PA-SYS-008", exam.Warn, proc("sys/class/thermal/thermal_zone0/temp", "85000\n")},
		{"PA-SYS-009", exam.Warn, journal(func(j *Journal) { j.Starts = 6 })},
		{"PA-SER-006", exam.Fail, func(f *Facts) {
			f.Config.Serial, f.Daemon.Troubles = []string{"/dev/ttyS0"}, []ready.Said{*said(ready.LineFailed)}
		}},
		{"PA-SER-004", exam.Fail, func(f *Facts) { // the second line's device
			f.Config.Serial, f.Daemon = []string{"/dev/ttyS0", "/dev/ttyS1"}, Daemon{}
			f.Lines = func() []Line {
				return []Line{{Name: "/dev/ttyS0", Device: "/dev/ttyS0"}, {Name: "/dev/ttyS1", Device: "/dev/ttyS1", Cause: ready.LineDenied, Text: "permission denied"}}
			}
		}},
		{"PA-SER-009", exam.Fail, func(f *Facts) { // the second line's port
			f.Config.TCP, f.Daemon = []string{"127.0.0.1:20007", "127.0.0.1:20017"}, Daemon{}
			listening := "  sl  local_address rem_address   st\n   0: 0100007F:4E31 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1\n"
			require.NoError(t, os.MkdirAll(filepath.Join(f.Proc, "net"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(f.Proc, "net/tcp"), []byte(listening), 0o600))
		}},
		{"PA-SER-008", exam.Warn, func(f *Facts) { f.Daemon.Lines = []Heard{{Name: "tcp", Passwords: 3, From: "192.168.1.7"}} }},
		{"PA-PAD-001", exam.Fail, func(f *Facts) {
			f.Config.Keypad, f.Pad = "/dev/input/event3", func() *ready.Trouble { return &ready.Trouble{Cause: ready.PadGone, Where: "/dev/input/event3"} }
		}},
		{"PA-DSP-001", exam.Fail, func(f *Facts) {
			f.Config.Screens, f.Daemon.Troubles = []string{"/dev/fb9"}, []ready.Said{*said(ready.ScreenGone)}
		}},
		{"PA-DSP-001", exam.Fail, func(f *Facts) {
			f.Config.Screens, f.Daemon.Running = []string{"/dev/fb9"}, false
			f.Screens = func() []ready.Trouble { return []ready.Trouble{{Cause: ready.ScreenGone, Where: "/dev/fb9"}} }
		}},
		{"PA-DSP-001", exam.Warn, func(f *Facts) { f.Daemon.Troubles = []ready.Said{*said(ready.PageUnseen)} }},
		{"PA-SEC-002", exam.Warn, func(f *Facts) { f.Config.Open = []string{"0.0.0.0:20007"} }},
		{"PA-SEC-003", exam.Warn, proc("4711/status", "Uid:\t0\t0\t0\t0\n")},
		{"PA-SEC-004", exam.Warn, proc("swaps", "Filename\tType\n/dev/mmcblk0p3 partition 1 0 -2\n")},
		{"PA-UPS-009", exam.Fail, func(f *Facts) {
			f.Accounts = func(context.Context) []Account {
				return []Account{{"hosted", Answer{Cause: "credentials", Keys: "api_key"}}}
			}
		}},
		{"PA-QUE-003", exam.Fail, journal(func(j *Journal) { j.Aside = []string{"0190: of an older journal"} })},
		{"PA-QUE-005", exam.Fail, journal(func(j *Journal) { j.Oldest, j.OldestIs = noon.Add(-61*time.Minute), "0190" })},
		{"PA-QUE-006", exam.Warn, journal(func(j *Journal) { j.Alerts = []string{"a sale"} })},
		{"PA-QUE-007", exam.Warn, journal(func(j *Journal) { j.Unconfirmed = 1 })},
		{"PA-QUE-008", exam.Warn, journal(func(j *Journal) { j.Few = "9000 of 9999" })},
		{"PA-QUE-008", exam.Fail, journal(func(j *Journal) { j.Few, j.Full = "9999 of 9999", true })},
		{"PA-PRN-001", exam.Warn, func(f *Facts) { f.Daemon.Printer = Printer{Set: true, Waiting: 2, Reason: "paper is out"} }},
		{"PA-PRN-001", exam.Warn, func(f *Facts) { f.Daemon.Printer = Printer{Set: true, Waiting: 1, Behind: 1} }},
		{"PA-PRN-001", exam.Warn, func(f *Facts) { f.Daemon.Printer = Printer{Set: true, NearEnd: true} }},
		{"PA-REC-001", exam.Fail, func(f *Facts) {
			f.Config.List, f.List = "/srv/till.csv", func() (string, string) { return "the till's list /srv/till.csv is not there", "let the till write it" }
		}},
	} {
		check, ok := Find(tc.id)
		require.True(t, ok, tc.id)
		check.After = nil
		f := well(t)
		require.Contains(t, []exam.Status{exam.Pass, exam.Skip}, exam.Examine(t.Context(), []Check{check}, f, exam.Usual())[0].Status, "%s on a terminal that is well", tc.id)
		tc.fault(f)
		r := exam.Examine(t.Context(), []Check{check}, f, exam.Usual())[0]
		require.Equal(t, tc.want, r.Status, "%s: %v", tc.id, r.Evidence)
		require.NotEmpty(t, r.Evidence["seen"], tc.id)
		require.NotEmpty(t, r.Remedy.Command, tc.id)
	}
}

// TestATerminalThatIsWell: nothing fails.
func TestATerminalThatIsWell(t *testing.T) {
	for _, r := range exam.Examine(t.Context(), Checks(), well(t), exam.Usual()) {
		require.NotEqual(t, exam.Fail, r.Status, "%s: %v", r.ID, r.Evidence)
	}
}
