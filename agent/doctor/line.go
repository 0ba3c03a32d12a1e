package doctor

import (
	"context"
	"fmt"
	"slices"

	"posagent/agent/ready"
)

// lineCheck is a check of the serial line that fails by causes.
func lineCheck(c Check, causes ...ready.Cause) Check {
	c.Look = func(_ context.Context, f *Facts) Finding { return f.lineFault(causes) }
	return c
}

// lineFault fails by one of the causes. Beside a running terminal it reads what the terminal says, without one it looks at the device,
// which it does not open.
func (f *Facts) lineFault(causes []ready.Cause) Finding {
	switch {
	case f.Config.Serial == "" && f.Daemon.Serial == "":
		return nothing("no serial line is set")
	case f.Daemon.Running && !f.Daemon.Told:
		return nothing("the terminal has not said yet")
	case f.Daemon.Running:
		for _, t := range f.Daemon.Troubles {
			if slices.Contains(causes, t.Cause) {
				return failed("seen", t.Words, "cause", string(t.Cause)).typed(t.Remedy, "")
			}
		}
		return passed()
	}
	l := f.Line()
	if !slices.Contains(causes, l.Cause) {
		return passed("device", l.Device)
	}
	found := f.said(ready.Trouble{Cause: l.Cause, Where: f.Config.Serial, Detail: l.Text})
	found.Saw = append(found.Saw, "detail", l.Text)
	return found
}

// lineChecks are about the register's line.
func lineChecks() []Check {
	return []Check{
		{
			ID: "PA-SER-001", Title: "a register line is set", Severity: Critical, After: []string{"PA-CFG-005"},
			Means:  "no register can ask for a sale",
			How:    "[ecr] serial and tcp are read",
			Remedy: Remedy{Text: "set [ecr] serial or tcp in {config}", Command: "posagent config show{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.Serial == "" && f.Config.TCP == "" && !f.Config.Sandbox {
					return f.said(ready.Trouble{Cause: ready.NoLine})
				}
				return passed()
			},
		},
		lineCheck(Check{
			ID: "PA-SER-002", Title: "the device of the register line is there", Severity: Critical, After: []string{"PA-SER-001"},
			Means:  "the cable or the converter was pulled, or [ecr] serial names another device",
			How:    "the device is looked for; a running terminal says whether it has it",
			Remedy: Remedy{Text: "plug the cable in, or set [ecr] serial in {config} to a device that is there", Command: "ls /dev/serial/by-id"},
		}, ready.LineGone, ready.LinePulled),
		lineCheck(Check{
			ID: "PA-SER-003", Title: "the device is a serial line", Severity: Critical, After: []string{"PA-SER-002"},
			Means:  "[ecr] serial names a file, a directory or a device of another kind",
			How:    "the kind of the device is read; it is not opened",
			Remedy: Remedy{Text: "set [ecr] serial in {config} to a serial device", Command: "ls /dev/serial/by-id"},
		}, ready.LineNoTTY),
		lineCheck(Check{
			ID: "PA-SER-004", Title: "this user may open the register line", Severity: Critical, After: []string{"PA-SER-003"},
			Means:  "the account of posagent is not in the group of the device",
			How:    "the rights on the device are read; it is not opened",
			Remedy: Remedy{Text: "add the user of posagent to the device's group, then start posagent again", Command: "ls -l {device}"},
		}, ready.LineDenied),
		{
			ID: "PA-SER-005", Title: "no other program has the register line", Severity: Critical, After: []string{"PA-SER-004", "PA-SYS-001"},
			Means:  "two programs read one line, so each loses bytes",
			How:    "the lock file of the line is looked at, and each process that has the device open",
			Remedy: Remedy{Text: "stop the program that is named", Command: "fuser -v {device}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.Serial == "" {
					return nothing("no serial line is set")
				}
				l := f.Line()
				others := slices.DeleteFunc(holders(f.Proc, l.Device), func(h process) bool { return h.pid == f.Daemon.PID || h.pid == f.Mine })
				busy := slices.ContainsFunc(f.Daemon.Troubles, func(s ready.Said) bool { return s.Cause == ready.LineBusy })
				if len(others) == 0 && !busy && (f.Daemon.Running || l.Cause != ready.LineBusy) {
					return passed()
				}
				found := f.said(ready.Trouble{Cause: ready.LineBusy, Where: f.Config.Serial})
				for _, h := range others {
					found.Saw = append(found.Saw, "held_by", h.String())
				}
				return found
			},
		},
		lineCheck(Check{
			ID: "PA-SER-006", Title: "the register line opens", Severity: Critical, After: []string{"PA-SER-005"},
			Means:  "the device is there, and the system refuses to open it",
			How:    "the running terminal says why",
			Remedy: Remedy{Text: "the kernel's messages say what is wrong with the device", Command: "dmesg | tail"},
		}, ready.LineFailed),
		{
			ID: "PA-SER-007", Title: "what comes on the register line can be read", Severity: Critical, After: []string{"PA-SER-006"},
			Means:  "speed or framing differ from the register's, or the cable is bad",
			How:    "the running terminal counts bytes and frames: bytes come, and no message is among them",
			Remedy: Remedy{Text: "set [ecr] baud and stop_bits in {config} as the register has them, and check the cable", Command: "posagent config show{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				if !f.Daemon.Running || len(f.Daemon.Lines) == 0 {
					return nothing("no terminal runs that could have heard something")
				}
				for _, l := range f.Daemon.Lines {
					if l.Deaf {
						return failed("seen", "bytes come, and no message is among them", "line", l.Name, "bad_frames", fmt.Sprint(l.Bad), "noise_bytes", fmt.Sprint(l.Noise))
					}
				}
				return passed()
			},
		},
		{
			ID: "PA-SER-008", Title: "the register shows the right password", Severity: Minor, After: []string{"PA-SER-001"},
			Means:  "a register, or a stranger, was turned away during the last day",
			How:    "the running terminal counts wrong passwords",
			Remedy: Remedy{Text: "set the password of [ecr] in the register, or name its address in [ecr] allow in {config}", Command: "posagent status{flags}"},
			Look: func(_ context.Context, f *Facts) Finding {
				for _, l := range f.Daemon.Lines {
					if l.Passwords > 0 {
						return warned("seen", fmt.Sprintf("%d wrong password(s)", l.Passwords), "from", l.From, "line", l.Name)
					}
				}
				return passed()
			},
		},
		{
			ID: "PA-SER-009", Title: "the register's TCP port is free", Severity: Critical, After: []string{"PA-SER-001", "PA-SYS-001"},
			Means:  "another program listens there, so the terminal does not start",
			How:    "the kernel's list of listening sockets is read; nothing listens for this",
			Remedy: Remedy{Text: "stop the program that is named, or set [ecr] tcp in {config} to another port", Command: "ss -ltnp"},
			Look:   func(_ context.Context, f *Facts) Finding { return f.portFree(f.Config.TCP) },
		},
	}
}

// portFree judges the address on which the terminal is to listen.
func (f *Facts) portFree(address string) Finding {
	switch {
	case address == "":
		return nothing("no such port is set")
	case f.Daemon.Running:
		return passed("seen", "the running terminal has it")
	}
	taken, by := listener(f.Proc, address)
	if !taken {
		return passed()
	}
	return failed("seen", address+" is taken", "held_by", by)
}
