package doctor

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

const (
	driftWarn = 30 * time.Second
	driftFail = 5 * time.Minute
)

// clockChecks are about the time of day.
func clockChecks() []Check {
	return []Check{
		{
			ID: "PA-CLK-001", Title: "the clock shows a possible time", Severity: Critical,
			Means:  "certificates look out of date or not valid yet, and the times on receipts are wrong",
			How:    "the clock is compared with the day this program was built",
			Remedy: Remedy{Text: "set the clock, and keep it set by NTP or a battery", Command: "date -u"},
			Look: func(_ context.Context, f *Facts) Finding {
				e := []string{"clock", f.Now.UTC().Format(time.RFC3339)}
				if !f.Sane(f.Now) {
					e = append(e, "seen", "the clock shows a day before this program was built, or decades after it")
					return failed(e...)
				}
				return passed(e...)
			},
		},
		{
			ID: "PA-CLK-002", Title: "the kernel keeps the clock set", Severity: Minor, After: []string{"PA-CLK-001"},
			Means:  "the clock drifts by seconds a day until somebody sets it",
			How:    "the kernel is asked whether a time service has set the clock (adjtimex)",
			Remedy: Remedy{Text: "start a time service: systemd-timesyncd, chrony or ntpd", Command: "timedatectl status"},
			Look: func(context.Context, *Facts) Finding {
				var t unix.Timex
				if _, err := unix.Adjtimex(&t); err != nil {
					return nothing("the kernel does not say: " + err.Error())
				}
				if t.Status&unix.STA_UNSYNC != 0 {
					return warned("seen", "no time service keeps the clock")
				}
				return passed()
			},
		},
	}
}

// drift judges the clock by the time that the backend says.
func drift(a Answer) Finding {
	if a.Clock.IsZero() {
		return nothing("the backend does not say the time")
	}
	d := a.At.Sub(a.Clock)
	e := []string{"off_by", d.Round(time.Second).String(), "backend", a.Clock.UTC().Format(time.RFC3339)}
	switch {
	case d.Abs() >= driftFail:
		e = append(e, "seen", "the clock of the box differs from the backend's by more than five minutes")
		return failed(e...)
	case d.Abs() >= driftWarn:
		e = append(e, "seen", "the clock of the box differs from the backend's")
		return warned(e...)
	}
	return passed(e...)
}
