package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

// lineCheck is a check of the serial line that fails by causes.
func lineCheck(c Check, causes ...ready.Cause) Check {
	c.Look = func(_ context.Context, f *Facts) Finding { return f.lineFault(c.Command, causes) }
	return c
}

// lineFault fails by one of the causes. Beside a running terminal it reads what the terminal says, without one it looks at the devices,
// which it does not open.
func (f *Facts) lineFault(command string, causes []ready.Cause) Finding {
	switch {
	case len(f.Config.Serial) == 0 && f.Daemon.Serial == "":
		return exam.Nothing("no serial line is set")
	case f.Daemon.Running && !f.Daemon.Told:
		return exam.Nothing("the terminal has not said yet")
	case f.Daemon.Running:
		if t := f.suffers(causes...); t != nil {
			return exam.Failed(evidence(t)...).Typed(t.Remedy, "")
		}
		return exam.Passed()
	}
	var devices []string
	for _, l := range f.Lines() {
		if slices.Contains(causes, l.Cause) {
			found := f.said(ready.Trouble{Cause: l.Cause, Where: l.Name, Detail: l.Text, Remedy: l.Remedy})
			found.Saw = append(found.Saw, "detail", l.Text)
			return found.Typed(found.Do, strings.ReplaceAll(command, "{device}", l.Name))
		}
		devices = append(devices, l.Device)
	}
	return exam.Passed("device", strings.Join(devices, " "))
}

// suffers is the first trouble with one of the causes that the terminal has told, nil where it told none.
func (f *Facts) suffers(causes ...ready.Cause) *ready.Said {
	i := slices.IndexFunc(f.Daemon.Troubles, func(t ready.Said) bool { return slices.Contains(causes, t.Cause) })
	if i < 0 {
		return nil
	}
	return &f.Daemon.Troubles[i]
}

// evidence is what was seen of a trouble that the terminal has told.
func evidence(t *ready.Said) []string { return []string{"seen", t.Words, "cause", string(t.Cause)} }

// lineChecks are about the register's line.
func lineChecks() []Check {
	return []Check{
		{
			ID: "PA-SER-001", Severity: exam.Critical, After: []string{"PA-CFG-005", "PA-CFG-006"}, Command: showConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				if len(f.Config.Serial)+len(f.Config.TCP)+f.Config.Sellers == 0 && !f.Config.Sandbox {
					return f.said(ready.Trouble{Cause: ready.NoLine})
				}
				return exam.Passed()
			},
		},
		lineCheck(Check{ID: "PA-SER-002", Severity: exam.Critical, After: []string{"PA-SER-001"}, Command: "ls /dev/serial/by-id"}, ready.LineGone, ready.LinePulled),
		lineCheck(Check{ID: "PA-SER-003", Severity: exam.Critical, After: []string{"PA-SER-002"}, Command: "ls /dev/serial/by-id"}, ready.LineNoTTY),
		lineCheck(Check{ID: "PA-SER-004", Severity: exam.Critical, After: []string{"PA-SER-003"}, Command: "ls -l {device}"}, ready.LineDenied),
		{
			ID: "PA-SER-005", Severity: exam.Critical, After: []string{"PA-SER-004", "PA-SYS-001"}, Command: "fuser -v {device}",
			Look: func(_ context.Context, f *Facts) Finding {
				if len(f.Config.Serial) == 0 {
					return exam.Nothing("no serial line is set")
				}
				for _, l := range f.Lines() {
					others := slices.DeleteFunc(holders(f.Proc, l.Device), func(h process) bool { return h.pid == f.Daemon.PID || h.pid == f.Mine })
					if len(others) == 0 && (f.Daemon.Running || l.Cause != ready.LineBusy) {
						continue
					}
					found := f.said(ready.Trouble{Cause: ready.LineBusy, Where: l.Name})
					for _, h := range others {
						found.Saw = append(found.Saw, "held_by", h.String())
					}
					return found.Typed(found.Do, "fuser -v "+l.Name)
				}
				if t := f.suffers(ready.LineBusy, ready.LineOurs); t != nil { // who has it cannot be seen, or is the terminal
					return exam.Failed(evidence(t)...).Typed(t.Remedy, "")
				}
				return exam.Passed()
			},
		},
		lineCheck(Check{ID: "PA-SER-006", Severity: exam.Critical, After: []string{"PA-SER-005"}, Command: "dmesg | tail"}, ready.LineFailed, ready.LineStuck, ready.LineAltered),
		{
			ID: "PA-SER-007", Severity: exam.Critical, After: []string{"PA-SER-006"}, Command: showConfig,
			Look: func(_ context.Context, f *Facts) Finding {
				if !f.Daemon.Running || len(f.Daemon.Lines) == 0 {
					return exam.Nothing("no terminal runs that could have heard something")
				}
				for _, l := range f.Daemon.Lines {
					if l.Deaf {
						return exam.Failed("seen", "bytes come, and no message is among them", "line", l.Name, "bad_frames", fmt.Sprint(l.Bad), "noise_bytes", fmt.Sprint(l.Noise))
					}
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-SER-008", Severity: exam.Minor, After: []string{"PA-SER-001"}, Command: "posagent status{flags}",
			Look: func(_ context.Context, f *Facts) Finding {
				for _, l := range f.Daemon.Lines {
					if l.Passwords > 0 {
						return exam.Warned("seen", fmt.Sprintf("%d wrong password(s)", l.Passwords), "from", l.From, "line", l.Name)
					}
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-SER-009", Severity: exam.Critical, After: []string{"PA-SER-001", "PA-SYS-001"}, Command: "ss -ltnp",
			Look: func(_ context.Context, f *Facts) Finding { return f.portFree(f.Config.TCP...) },
		},
		{
			ID: "PA-PAD-001", Severity: exam.Major, After: []string{"PA-CFG-005"}, Command: "ls -l /dev/input/by-id",
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.Keypad == "" {
					return exam.Nothing("no keypad is set")
				}
				if t := f.Pad(); t != nil {
					return f.said(*t)
				}
				if t := f.suffers(ready.PadStuck); f.Daemon.Running && t != nil {
					return exam.Failed(evidence(t)...).Typed(t.Remedy, "")
				}
				return exam.Passed("device", f.Config.Keypad)
			},
		},
		{
			ID: "PA-DSP-001", Severity: exam.Major, After: []string{"PA-CFG-005"}, Command: "ls -l /dev/fb*",
			Look: func(_ context.Context, f *Facts) Finding { return f.screenFault() },
		},
	}
}

// screenFault fails where a picture for the customer cannot be drawn, and warns where no browser shows the page. The running terminal has tried, beside none the screen is
// looked at.
func (f *Facts) screenFault() Finding {
	t := f.suffers(ready.ScreenGone, ready.ScreenDenied, ready.ScreenFailed, ready.ScreenFile, ready.ScreenSmall, ready.ScreenStuck)
	if f.Daemon.Running && t != nil {
		return exam.Failed(evidence(t)...).Typed(t.Remedy, "")
	}
	if t := f.suffers(ready.PageUnseen); f.Daemon.Running && t != nil { // a browser that is closed at night breaks nothing
		return exam.Warned(evidence(t)...).Typed(t.Remedy, "")
	}
	if len(f.Config.Screens) == 0 {
		return exam.Nothing("no screen is set")
	}
	if !f.Daemon.Running {
		for _, t := range f.Screens() {
			return f.said(t)
		}
	}
	return exam.Passed("device", strings.Join(f.Config.Screens, " "))
}

// portFree judges the addresses on which the terminal is to listen; "" is none.
func (f *Facts) portFree(addresses ...string) Finding {
	addresses = slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return a == "" })
	switch {
	case len(addresses) == 0:
		return exam.Nothing("no such port is set")
	case f.Daemon.Running:
		return exam.Passed("seen", "the running terminal has it")
	}
	for _, address := range addresses {
		if taken, by := Listener(f.Proc, address); taken {
			return exam.Failed("seen", address+" is taken", "held_by", by)
		}
	}
	return exam.Passed()
}
