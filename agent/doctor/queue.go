package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// longWait is how long an operation waits at most while the backend answers.
const longWait = time.Hour

// queueChecks are about what waits for the backend or for a person.
func queueChecks() []Check {
	list := []Check{
		{
			ID: "PA-QUE-001", Title: "what a restored journal holds was looked at", Severity: Major,
			Means:  "writes of a restored journal are held until a person has decided",
			How:    "the journal says whether it was restored and its held writes were released",
			Remedy: Remedy{Text: "ask each client for writes without an answer, then posagent ops release --all", Command: "posagent ops list --open{flags}"},
		},
		{
			ID: "PA-QUE-002", Title: "no operation is in doubt or held", Severity: Major, After: []string{"PA-QUE-001"},
			Means:  "it is not known whether money moved, or a person has set the operation aside; others of the same payment wait behind it",
			How:    "the operations of the outbox are counted by state",
			Remedy: Remedy{Text: "compare with the backend's books, then posagent ops resolve KEY or posagent ops release KEY", Command: "posagent ops list --open{flags}"},
		},
		{
			ID: "PA-QUE-003", Title: "no sale is set aside", Severity: Major, After: []string{"PA-QUE-001"},
			Means:  "an open sale of an older journal waits for a person",
			How:    "the open sales of the journal are read",
			Remedy: Remedy{Text: "stop the terminal, then posagent sale release, or posagent sale close, for each", Command: "posagent sale list{flags}"},
		},
		{
			ID: "PA-QUE-004", Title: "each service takes what is owed to it", Severity: Major, After: []string{"PA-SYS-004", "PA-UPS-003"},
			Means:  "operations wait, though the backend itself answers",
			How:    "the running terminal says which service it cannot deliver to, and why",
			Remedy: Remedy{Text: "correct the service's address in [upstream] of {config}, or call the backend's operator", Command: "posagent ops list --open{flags}"},
		},
		{
			ID: "PA-QUE-005", Title: "no operation waits too long", Severity: Major, After: []string{"PA-QUE-002", "PA-QUE-004", "PA-UPS-007"},
			Means:  "an operation is not sent, and ends unsent when it is older than [offline] max_age",
			How:    "the age of the oldest waiting operation is compared with one hour, or half of max_age if that is less",
			Remedy: Remedy{Text: "posagent ops show says why it waits", Command: "posagent ops send --all{flags}"},
		},
		{
			ID: "PA-QUE-006", Title: "no failed operation waits for a person", Severity: Minor,
			Means:  "a write came to nothing after its client was told that it was stored",
			How:    "the operations are counted that were not acknowledged",
			Remedy: Remedy{Text: "tell the client, then posagent ops ack KEY", Command: "posagent status{flags}"},
		},
		{
			ID: "PA-QUE-007", Title: "the register has acknowledged each sale", Severity: Minor,
			Means:  "a sale that the register has not acknowledged is undone after the grace time",
			How:    "the unconfirmed sales of the journal are counted",
			Remedy: Remedy{Text: "let the register repeat its receipt, or wait for the grace time", Command: "posagent sale list{flags}"},
		},
	}
	judge := map[string]func(f *Facts, j Journal) Finding{
		"PA-QUE-001": func(_ *Facts, j Journal) Finding {
			if j.Restored {
				return failed("seen", "the journal was restored, and what it holds was not released")
			}
			return passed()
		},
		"PA-QUE-002": func(_ *Facts, j Journal) Finding {
			e := []string{"in_doubt", fmt.Sprint(j.Doubt), "held", fmt.Sprint(j.Held)}
			if j.Doubt+j.Held > 0 {
				e = append(e, "seen", fmt.Sprintf("%d in doubt, %d held", j.Doubt, j.Held))
				return failed(e...)
			}
			return passed(e...)
		},
		"PA-QUE-003": func(_ *Facts, j Journal) Finding {
			if len(j.Aside) > 0 {
				return failed("seen", strings.Join(j.Aside, "; "))
			}
			return passed()
		},
		"PA-QUE-004": func(f *Facts, j Journal) Finding {
			for _, u := range f.Daemon.Undone {
				waiting := int64(0)
				for _, kind := range u.Kinds {
					waiting += j.Kinds[kind]
				}
				if waiting > 0 {
					return failed("seen", u.Name+": "+u.Words, "waiting", fmt.Sprint(waiting)).typed(u.Remedy, "")
				}
			}
			return passed()
		},
		"PA-QUE-005": func(f *Facts, j Journal) Finding { return oldest(j, f.Now, f.Config.MaxAge) },
		"PA-QUE-006": func(_ *Facts, j Journal) Finding {
			if j.Alerts > 0 {
				return warned("seen", fmt.Sprintf("%d operation(s) came to nothing", j.Alerts))
			}
			return passed()
		},
		"PA-QUE-007": func(_ *Facts, j Journal) Finding {
			if j.Unconfirmed > 0 {
				return warned("seen", fmt.Sprintf("%d sale(s)", j.Unconfirmed))
			}
			return passed()
		},
	}
	for i, c := range list {
		list[i].After = append([]string{"PA-DB-004"}, c.After...)
		look := judge[c.ID]
		list[i].Look = func(ctx context.Context, f *Facts) Finding {
			j := f.Journal(ctx)
			if j.State != Readable {
				return nothing("no journal yet")
			}
			return look(f, j)
		}
	}
	return list
}

// oldest judges how long the oldest operation waits. maxAge 0 = it never expires.
func oldest(j Journal, now time.Time, maxAge time.Duration) Finding {
	if j.Oldest.IsZero() {
		return passed()
	}
	limit := longWait
	if maxAge > 0 {
		limit = min(limit, maxAge/2)
	}
	age := now.Sub(j.Oldest)
	e := []string{"age", age.Round(time.Second).String(), "waiting", fmt.Sprint(j.Waiting)}
	if age > limit {
		e = append(e, "seen", "the oldest operation waits for "+age.Round(time.Second).String())
		return failed(e...).typed("", "posagent ops show "+j.OldestIs+"{flags}")
	}
	return passed(e...)
}
