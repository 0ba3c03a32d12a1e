package doctor

import (
	"fmt"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
)

// longWait is how long an operation waits at most while the backend answers.
const longWait = time.Hour

// queueChecks are about what waits for the backend or for a person.
func queueChecks() []Check {
	return []Check{
		{
			ID: "PA-QUE-001", Severity: exam.Major, After: []string{"PA-DB-004"}, Command: "posagent ops list --open{flags}",
			Look: ofQueue(func(_ *Facts, j Journal) Finding {
				return exam.FailedIf(j.Restored != "", j.Restored+", and what it holds was not released")
			}),
		},
		{
			ID: "PA-QUE-002", Severity: exam.Major, After: []string{"PA-DB-004", "PA-QUE-001"}, Command: "posagent ops list --open{flags}",
			Look: ofQueue(func(_ *Facts, j Journal) Finding {
				m := exam.Measured{"in_doubt", fmt.Sprint(j.Doubt), "held", fmt.Sprint(j.Held)}
				if j.Doubt+j.Held > 0 {
					return m.Failed(fmt.Sprintf("%d in doubt, %d held", j.Doubt, j.Held))
				}
				return m.Passed()
			}),
		},
		{
			ID: "PA-QUE-003", Severity: exam.Major, After: []string{"PA-DB-004", "PA-QUE-001"}, Command: "posagent sale list{flags}",
			Look: ofQueue(func(_ *Facts, j Journal) Finding { return exam.FailedIf(len(j.Aside) > 0, strings.Join(j.Aside, "; ")) }),
		},
		{
			ID: "PA-QUE-004", Severity: exam.Major, After: []string{"PA-DB-004", "PA-SYS-004", "PA-UPS-003", "PA-UPS-009"}, Command: "posagent ops list --open{flags}",
			Look: ofQueue(undelivered),
		},
		{
			ID: "PA-QUE-005", Severity: exam.Major, After: []string{"PA-DB-004", "PA-QUE-002", "PA-QUE-004", "PA-UPS-007"},
			Command: "posagent ops send --all{flags}",
			Look:    ofQueue(func(f *Facts, j Journal) Finding { return oldest(j, f.Now, f.Config.MaxAge) }),
		},
		{
			ID: "PA-QUE-006", Severity: exam.Minor, After: []string{"PA-DB-004"}, Command: "posagent status{flags}",
			Look: ofQueue(func(_ *Facts, j Journal) Finding {
				return exam.WarnedIf(len(j.Alerts) > 0, strings.Join(j.Alerts, "; "))
			}),
		},
		{
			ID: "PA-QUE-007", Severity: exam.Minor, After: []string{"PA-DB-004"}, Command: "posagent sale list{flags}",
			Look: ofQueue(func(_ *Facts, j Journal) Finding {
				return exam.WarnedIf(j.Unconfirmed > 0, fmt.Sprintf("%d sale(s)", j.Unconfirmed))
			}),
		},
		{
			ID: "PA-QUE-008", Severity: exam.Major, After: []string{"PA-DB-004"}, Command: "posagent sale end-of-day{flags}",
			Look: ofQueue(func(_ *Facts, j Journal) Finding {
				if j.Full {
					return exam.Failed("seen", j.Few)
				}
				return exam.WarnedIf(j.Few != "", j.Few)
			}),
		},
	}
}

// ofQueue looks at what waits in a journal that can be read.
func ofQueue(judge func(f *Facts, j Journal) Finding) Look {
	return ofJournal(func(f *Facts, j Journal) Finding {
		if j.State != Readable {
			return exam.Nothing("no journal yet")
		}
		return judge(f, j)
	})
}

// undelivered fails by the first service that operations wait for and that does not take them.
func undelivered(f *Facts, j Journal) Finding {
	for _, u := range f.Daemon.Undone {
		waiting := int64(0)
		for _, kind := range u.Kinds {
			waiting += j.Kinds[kind]
		}
		if waiting > 0 {
			return exam.Failed("seen", u.Name+": "+u.Words, "waiting", fmt.Sprint(waiting)).Typed(u.Remedy, "")
		}
	}
	return exam.Passed()
}

// toCome is why an age is not known.
const toCome = "by the clock it is still to come, so that its age is not known: the clock was set back"

// oldest judges how long the oldest operation waits. maxAge 0 = it never expires.
func oldest(j Journal, now time.Time, maxAge time.Duration) Finding {
	if j.Oldest.IsZero() {
		return exam.Passed()
	}
	limit := longWait
	if maxAge > 0 {
		limit = min(limit, maxAge/2)
	}
	age := now.Sub(j.Oldest)
	if age < 0 {
		return exam.Nothing(toCome)
	}
	m := exam.Measured{"age", age.Round(time.Second).String(), "waiting", fmt.Sprint(j.Waiting)}
	if age > limit {
		return m.Failed("the oldest operation waits for "+age.Round(time.Second).String()).Typed("", "posagent ops show "+j.OldestIs+"{flags}")
	}
	return m.Passed()
}
