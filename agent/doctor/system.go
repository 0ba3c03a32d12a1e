package doctor

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"posagent/agent/ready"
)

// instanceChecks are about other programs in this terminal's place.
func instanceChecks() []Check {
	return []Check{
		{
			ID: "PA-SYS-001", Title: "no second terminal runs on this configuration", Severity: Critical, After: []string{"PA-CFG-002"},
			Means:  "two terminals have one identity at the backend, and only one of them has the ports and the lines",
			How:    "each process of posagent run is looked at that names the same configuration file or state directory",
			Remedy: Remedy{Text: "stop the one that is not the service", Command: "systemctl status posagent"},
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Daemon.Err != "" {
					return failed("seen", f.Daemon.Err)
				}
				others := twins(f.Proc, f.Daemon.PID, f.Mine, absolute(f.Config.File), absolute(f.State))
				if len(others) > 0 {
					return failed("seen", "another terminal runs with this configuration or state", "held_by", others[0].String())
				}
				return passed()
			},
		},
		{
			ID: "PA-SYS-002", Title: "the local port is free", Severity: Critical, After: []string{"PA-SYS-001", "PA-CFG-005"},
			Means:  "another program listens there, so the terminal does not start",
			How:    "the kernel's list of listening sockets is read; nothing listens for this",
			Remedy: Remedy{Text: "stop the program that is named, or set [port] listen in {config} to another port", Command: "ss -ltnp"},
			Look:   func(_ context.Context, f *Facts) Finding { return f.portFree(f.Config.Port) },
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
		"PA-CFG-005", "PA-CFG-006", "PA-DSK-001", "PA-DSK-002", "PA-DSK-003", "PA-DSK-004", "PA-KEY-001", "PA-KEY-002", "PA-KEY-004",
		"PA-DB-001", "PA-DB-002", "PA-DB-003", "PA-DB-004", "PA-SYS-001", "PA-SYS-002", "PA-SER-001", "PA-SER-009", "PA-SEC-001",
	}
	return []Check{
		{
			ID: "PA-SYS-003", Title: "the terminal runs", Severity: Critical, After: starts,
			Means:  "no register is answered",
			How:    "the lock of the journal is looked at, which the running terminal holds",
			Remedy: Remedy{Text: "start the terminal; if it ends again, its last lines say why", Command: "posagent run{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if !f.Daemon.Running {
					return f.said(ready.Trouble{Cause: ready.Stopped})
				}
				return passed("process", fmt.Sprint(f.Daemon.PID))
			},
		},
		{
			ID: "PA-SYS-004", Title: "the terminal answers its command line", Severity: Critical, After: []string{"PA-SYS-003"},
			Means:  "the process is there and does nothing: it was stopped, or hangs",
			How:    "its control socket is asked",
			Remedy: Remedy{Text: "start the terminal again: it resumes every open sale from the journal", Command: "systemctl restart posagent"},
			Look: func(ctx context.Context, f *Facts) Finding {
				err := f.Answers(ctx)
				switch {
				case os.IsPermission(err):
					return nothing("this user may not ask it")
				case err != nil:
					return failed("seen", err.Error())
				}
				return passed()
			},
		},
		{
			ID: "PA-SYS-005", Title: "a register may ask for a sale", Severity: Critical,
			After: []string{
				"PA-SYS-004", "PA-CFG-008", "PA-SER-002", "PA-SER-003", "PA-SER-004", "PA-SER-005", "PA-SER-006", "PA-UPS-006", "PA-UPS-007",
			},
			Means:  "the running terminal is not ready, for a cause that no other check has found",
			How:    "the running terminal says whether it is ready, in the words of posagent status",
			Remedy: Remedy{Text: "if the cause does not end by itself, start the terminal again", Command: "posagent status{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				d := f.Daemon
				switch {
				case !d.Told:
					return warned("seen", "the terminal is starting")
				case d.Report.NotReady != nil && (d.Report.NotReady.Cause == ready.Starting || d.Report.NotReady.Cause == ready.Resuming || d.Report.NotReady.Cause == ready.Asking):
					return warned("seen", d.Report.NotReady.Words, "cause", string(d.Report.NotReady.Cause))
				case d.Report.NotReady != nil:
					s := d.Report.NotReady
					return failed("seen", s.Words, "cause", string(s.Cause)).typed(s.Remedy, "")
				case d.Report.Offline != nil:
					s := d.Report.Offline
					return warned("seen", "offline: "+s.Words, "cause", string(s.Cause)).typed(s.Remedy, "")
				}
				return passed()
			},
		},
		{
			ID: "PA-UPS-008", Title: "the stored method list is fresh", Severity: Major, After: []string{"PA-SYS-004", "PA-UPS-004"},
			Means:  "the terminal offers methods that the backend has changed or taken away",
			How:    "the age of the stored list is compared with [methods] refresh, while the backend gives this command a list",
			Remedy: Remedy{Text: "start the terminal again: it asks for the list at its start; if it stays old, call support", Command: "posagent methods{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				return fresh(f.Journal(ctx).Fetched, f.Now, f.Config.Refresh)
			},
		},
		{
			ID: "PA-SYS-006", Title: "the terminal runs the program that is installed", Severity: Minor, After: []string{"PA-SYS-003"},
			Means:  "the program was replaced, and the old one runs until the next start",
			How:    "the file of the running process is looked at, as far as this user may",
			Remedy: Remedy{Text: "start the terminal again when no sale is open", Command: "systemctl restart posagent"},
			Look: func(_ context.Context, f *Facts) Finding {
				to, err := os.Readlink(filepath.Join(f.Proc, strconv.Itoa(f.Daemon.PID), "exe"))
				switch {
				case err != nil:
					return nothing("this user may not see it")
				case strings.HasSuffix(to, " (deleted)"):
					return warned("seen", "the file of the running program was replaced or removed")
				}
				return passed()
			},
		},
	}
}

// fresh judges the age of the stored method list.
func fresh(fetched, now time.Time, refresh time.Duration) Finding {
	if fetched.IsZero() {
		return nothing("no list was stored yet")
	}
	age := now.Sub(fetched)
	e := []string{"age", age.Round(time.Second).String(), "refresh", refresh.String()}
	if age > 3*refresh+30*time.Second {
		e = append(e, "seen", "the list was not refreshed for three times as long as it should")
		return failed(e...)
	}
	return passed(e...)
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
			ID: "PA-SYS-007", Title: "the box has memory left", Severity: Major,
			Means:  "the kernel may end the terminal in the middle of a sale; it resumes afterwards",
			How:    "MemAvailable of the kernel is read",
			Remedy: Remedy{Text: "stop other programs of the box", Command: "free -m"},
			Look: func(_ context.Context, f *Facts) Finding {
				free, ok := available(filepath.Join(f.Proc, "meminfo"))
				e := []string{"available_kib", fmt.Sprint(free)}
				switch {
				case !ok:
					return nothing("the kernel does not say")
				case free < fewMemory:
					e = append(e, "seen", "less than 16 MiB can be had")
					return warned(e...)
				}
				return passed(e...)
			},
		},
		{
			ID: "PA-SYS-008", Title: "the box is not too hot", Severity: Minor,
			Means:  "the processor slows down or switches off",
			How:    "the kernel's thermal zones are read",
			Remedy: Remedy{Text: "give the box air, and take it out of the sun", Command: "cat /sys/class/thermal/thermal_zone0/temp"},
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
				e := []string{"celsius", fmt.Sprint(highest)}
				switch {
				case !any:
					return nothing("the box has no thermometer")
				case highest >= hot:
					e = append(e, "seen", "85 degrees or more")
					return warned(e...)
				}
				return passed(e...)
			},
		},
		{
			ID: "PA-SYS-009", Title: "the terminal does not start again and again", Severity: Major, After: []string{"PA-DB-004"},
			Means:  "the terminal ends by itself, or the power fails",
			How:    "the starts of the last 24 hours are counted in the audit log",
			Remedy: Remedy{Text: "the log of the service says how it ended", Command: "journalctl -u posagent"},
			Look: func(ctx context.Context, f *Facts) Finding {
				n := f.Journal(ctx).Starts
				e := []string{"starts", fmt.Sprint(n)}
				if n > manyStarts {
					e = append(e, "seen", "more than five starts in a day")
					return warned(e...)
				}
				return passed(e...)
			},
		},
	}
}

// available reads how many KiB of memory can be had.
func available(path string) (kib int64, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if n, err := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); n == 1 && err == nil {
			return kib, true
		}
	}
	return 0, false
}
