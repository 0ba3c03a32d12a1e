package doctor

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
)

const (
	driftWarn = 30 * time.Second
	driftFail = 5 * time.Minute
)

// clockChecks are about the time of day.
func clockChecks() []Check {
	return []Check{
		{
			ID: "PA-CLK-001", Severity: exam.Critical, Command: "date -u",
			Look: func(_ context.Context, f *Facts) Finding {
				m := exam.Measured{"clock", f.Now.UTC().Format(time.RFC3339)}
				if !f.Sane(f.Now) {
					return m.Failed("the clock shows a day before this program was built, or decades after it")
				}
				return m.Passed()
			},
		},
		{
			ID: "PA-CLK-002", Severity: exam.Minor, After: []string{"PA-CLK-001"}, Command: "timedatectl status",
			Look: func(context.Context, *Facts) Finding {
				var t unix.Timex
				if _, err := unix.Adjtimex(&t); err != nil {
					return exam.Nothing("the kernel does not say: " + err.Error())
				}
				return exam.WarnedIf(t.Status&unix.STA_UNSYNC != 0, "no time service keeps the clock")
			},
		},
		{
			ID: "PA-CLK-004", Severity: exam.Major, Command: "date",
			Look: func(_ context.Context, f *Facts) Finding {
				d := f.Daemon
				zone, fault := d.Zone, f.suffers(ready.Zone)
				switch {
				case d.Running && fault != nil:
				case d.Running && zone == "":
					return exam.Nothing("the terminal does not say in which zone it works")
				case d.Running:
				default:
					zone, fault = f.Zone()
				}
				m := exam.Measured{"zone", zone}
				if fault != nil {
					return exam.Failed(slices.Concat(m, evidence(fault))...).Typed(fault.Remedy, "date")
				}
				return m.Passed()
			},
		},
	}
}

// drift judges the clock by the time that the backend says.
func drift(a Answer) Finding {
	if a.Clock.IsZero() {
		return exam.Nothing("the backend does not say the time")
	}
	d := a.At.Sub(a.Clock)
	m := exam.Measured{"off_by", d.Round(time.Second).String(), "backend", a.Clock.UTC().Format(time.RFC3339)}
	switch {
	case d.Abs() >= driftFail:
		return m.Failed("the clock of the box differs from the backend's by more than five minutes")
	case d.Abs() >= driftWarn:
		return m.Warned("the clock of the box differs from the backend's")
	}
	return m.Passed()
}
