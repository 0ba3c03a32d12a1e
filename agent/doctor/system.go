package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// instanceChecks are about other programs in this terminal's place.
func instanceChecks() []Check {
	return []Check{
		{
			ID: "PA-SYS-001", Severity: exam.Critical, After: []string{"PA-CFG-002"}, Command: "systemctl status posagent",
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Daemon.Err != "" {
					return exam.Failed("seen", f.Daemon.Err)
				}
				others := twins(f.Proc, f.Daemon.PID, f.Mine, absolute(f.Config.File), absolute(f.State))
				if len(others) > 0 {
					return exam.Failed("seen", "another terminal runs with this configuration or state", "held_by", others[0].String())
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-SYS-002", Severity: exam.Critical, After: []string{"PA-SYS-001", "PA-CFG-005"}, Command: "ss -ltnp",
			Look: func(_ context.Context, f *Facts) Finding { return f.portFree(f.Config.Port) },
		},
	}
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// runChecks are about the running terminal. They stand behind everything that keeps it from starting.
func runChecks() []Check {
	starts := []string{
		"PA-CFG-005", "PA-CFG-006", "PA-CFG-009", "PA-DSK-001", "PA-DSK-002", "PA-DSK-003", "PA-DSK-004", "PA-KEY-001", "PA-KEY-002", "PA-KEY-004",
		"PA-DB-001", "PA-DB-002", "PA-DB-003", "PA-DB-004", "PA-SYS-001", "PA-SYS-002", "PA-SER-001", "PA-SER-009", "PA-SEC-001",
	}
	return []Check{
		{
			ID: "PA-SYS-003", Severity: exam.Critical, After: starts, Command: "{run}",
			Look: func(_ context.Context, f *Facts) Finding {
				if !f.Daemon.Running {
					return f.said(ready.Trouble{Cause: ready.Stopped})
				}
				return exam.Passed("process", fmt.Sprint(f.Daemon.PID))
			},
		},
		{
			ID: "PA-SYS-004", Severity: exam.Critical, After: []string{"PA-SYS-003"}, Command: "systemctl restart posagent",
			Look: func(ctx context.Context, f *Facts) Finding {
				err := f.Answers(ctx)
				if os.IsPermission(err) {
					return exam.Nothing("this user may not ask it")
				}
				return exam.FailedBy(err)
			},
		},
		{
			ID: "PA-SYS-005", Severity: exam.Critical, Command: "posagent status{flags}",
			After: []string{
				"PA-SYS-004", "PA-CFG-008", "PA-SER-002", "PA-SER-003", "PA-SER-004", "PA-SER-005", "PA-SER-006", "PA-UPS-006", "PA-UPS-007", "PA-UPS-009",
			},
			Look: func(_ context.Context, f *Facts) Finding {
				d := f.Daemon
				switch {
				case !d.Told:
					return exam.Warned("seen", "the terminal is starting")
				case d.Report.NotReady != nil && (d.Report.NotReady.Cause == ready.Starting || d.Report.NotReady.Cause == ready.Resuming || d.Report.NotReady.Cause == ready.Asking):
					return exam.Warned("seen", d.Report.NotReady.Words, "cause", string(d.Report.NotReady.Cause))
				case d.Report.NotReady != nil:
					s := d.Report.NotReady
					return exam.Failed("seen", s.Words, "cause", string(s.Cause)).Typed(s.Remedy, "")
				case d.Report.Offline != nil:
					s := d.Report.Offline
					return exam.Warned("seen", "offline: "+s.Words, "cause", string(s.Cause)).Typed(s.Remedy, "")
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-UPS-008", Severity: exam.Major, After: []string{"PA-SYS-004", "PA-UPS-004"}, Command: "posagent methods{flags}",
			Look: ofJournal(func(f *Facts, j Journal) Finding { return fresh(j.Fetched, f.Now, f.Config.Refresh) }),
		},
		{
			ID: "PA-SYS-006", Severity: exam.Minor, After: []string{"PA-SYS-003"}, Command: "systemctl restart posagent",
			Look: func(_ context.Context, f *Facts) Finding {
				to, err := os.Readlink(filepath.Join(f.Proc, strconv.Itoa(f.Daemon.PID), "exe"))
				if err != nil {
					return exam.Nothing("this user may not see it")
				}
				return exam.WarnedIf(strings.HasSuffix(to, " (deleted)"), "the file of the running program was replaced or removed")
			},
		},
	}
}

// fresh judges the age of the stored method list.
func fresh(fetched, now time.Time, refresh time.Duration) Finding {
	if fetched.IsZero() {
		return exam.Nothing("no list was stored yet")
	}
	age := now.Sub(fetched)
	if age < 0 {
		return exam.Nothing(toCome)
	}
	m := exam.Measured{"age", age.Round(time.Second).String(), "refresh", refresh.String()}
	if age > 3*refresh+30*time.Second {
		return m.Failed("the list was not refreshed for three times as long as it should")
	}
	return m.Passed()
}

const (
	fewMemory  = 16 << 10 // KiB
	hot        = 85       // °C
	manyStarts = 5        // in a day
)

// boxChecks are about the box.
func boxChecks() []Check {
	return []Check{
		{
			ID: "PA-SYS-007", Severity: exam.Major, Command: "free -m",
			Look: func(_ context.Context, f *Facts) Finding {
				free, ok := available(filepath.Join(f.Proc, "meminfo"))
				m := exam.Measured{"available_kib", fmt.Sprint(free)}
				switch {
				case !ok:
					return exam.Nothing("the kernel does not say")
				case free < fewMemory:
					return m.Warned("less than 16 MiB can be had")
				}
				return m.Passed()
			},
		},
		{
			ID: "PA-SYS-008", Severity: exam.Minor, Command: "cat /sys/class/thermal/thermal_zone0/temp",
			Look: func(_ context.Context, f *Facts) Finding {
				zones, _ := filepath.Glob(filepath.Join(f.Sys, "class/thermal/thermal_zone*/temp"))
				highest, any := 0, false
				for _, zone := range zones {
					if text, err := os.ReadFile(zone); err == nil {
						if milli, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
							highest, any = max(highest, milli/1000), true
						}
					}
				}
				m := exam.Measured{"celsius", fmt.Sprint(highest)}
				switch {
				case !any:
					return exam.Nothing("the box has no thermometer")
				case highest >= hot:
					return m.Warned("85 degrees or more")
				}
				return m.Passed()
			},
		},
		{
			ID: "PA-SYS-009", Severity: exam.Major, After: []string{"PA-DB-004"}, Command: "journalctl -u posagent",
			Look: ofJournal(func(_ *Facts, j Journal) Finding {
				m := exam.Measured{"starts", fmt.Sprint(j.Starts)}
				if j.Starts > manyStarts {
					return m.Warned("more than five starts in a day")
				}
				return m.Passed()
			}),
		},
	}
}

// available reads how many KiB of memory can be had.
func available(path string) (kib int64, ok bool) {
	for line := range lines(path) {
		if n, err := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 && err == nil {
			return kib, true
		}
	}
	return 0, false
}
