package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/agent/ready"
	"posagent/device/file"
)

// The terminal folds the log at a dozen MiB.
const (
	longWAL = 16 << 20
	hugeWAL = 64 << 20
)

// unkeyed is why rows are not verified: there is no journal, or its key is another account's.
const unkeyed = "this user has no key to verify the journal with"

// journalChecks are about the journal. They read it beside the running terminal, or without it.
func journalChecks() []Check {
	return []Check{
		{
			ID: "PA-DB-001", Severity: exam.Critical, After: []string{"PA-DSK-002", "PA-DSK-003", "PA-DSK-004"}, Command: "posagent sale list{flags}",
			Look: ofJournal(func(f *Facts, j Journal) Finding {
				if s := f.Daemon.Report.NotReady; s != nil && s.Cause == ready.Displaced { // what lies there is not what it works on
					return exam.Failed("seen", s.Words).Typed(s.Remedy, "posagent status{flags}")
				}
				switch j.State {
				case CutShort:
					return f.said(ready.Trouble{Cause: ready.Cut, Where: f.State, Detail: j.Text})
				case LostJournal:
					found := f.said(ready.Trouble{Cause: ready.Lost, Where: f.State, Detail: j.Text})
					found.Type = "posagent help restore" // there is no list of sales to look at
					return found
				case NoJournal:
					return exam.Passed("seen", "no journal yet: the first start makes it")
				}
				return exam.Passed()
			}),
		},
		{
			ID: "PA-DB-002", Severity: exam.Critical, After: []string{"PA-DB-001"}, Command: "posagent version",
			Look: ofJournal(func(_ *Facts, j Journal) Finding { return exam.FailedIf(j.State == NewerSchema, j.Text) }),
		},
		{
			ID: "PA-DB-003", Severity: exam.Critical, After: []string{"PA-DB-001", "PA-DB-002"}, Command: "dmesg | tail",
			Look: ofJournal(func(f *Facts, j Journal) Finding {
				if j.State == Forbidden {
					return exam.Failed("seen", j.Text).Typed("run this as the user that owns {state}", "ls -l {state}")
				}
				if s := f.Daemon.Report.NotReady; s != nil && s.Cause == ready.Locked { // reading does not show it
					return exam.Failed("seen", s.Words).Typed(s.Remedy, "fuser -v {state}/agent.db")
				}
				return exam.FailedIf(j.State == NoDatabase || j.State == Unreadable, j.Text)
			}),
		},
		{
			ID: "PA-KEY-004", Severity: exam.Critical, After: []string{"PA-KEY-002", "PA-DB-003"}, Command: "ls -l {state}/keys",
			Look: ofJournal(func(f *Facts, j Journal) Finding {
				switch {
				case j.State == Readable && !j.Keyed:
					return exam.Nothing(unkeyed)
				case j.State == WrongKey:
					return f.said(ready.Trouble{Cause: ready.KeyWrong, Where: f.State, Detail: j.Text})
				}
				return exam.Passed()
			}),
		},
		{
			ID: "PA-DB-004", Severity: exam.Critical, After: []string{"PA-KEY-004"}, Command: "dmesg | tail",
			Look: func(ctx context.Context, f *Facts) Finding {
				j := f.Journal(ctx)
				switch {
				case j.State == Damaged:
					return exam.Failed("seen", j.Text)
				case j.State != Readable:
					return exam.Nothing("no journal to look into")
				}
				late, err := soon(ctx, j.Quick)
				if late {
					return exam.Nothing("the journal is too large for the time limit; the start of the terminal checks it")
				}
				return exam.FailedBy(err)
			},
		},
		{
			ID: "PA-DB-005", Severity: exam.Major, After: []string{"PA-KEY-004"}, Command: "fuser -v {state}/agent.db",
			Look: ofJournal(func(_ *Facts, j Journal) Finding {
				m := exam.Measured{"wal_bytes", fmt.Sprint(j.WALBytes)}
				if j.Holders != "" {
					m = append(m, "held_by", j.Holders)
				}
				switch {
				case j.WALBytes > hugeWAL:
					return m.Failed("more than 64 MiB")
				case j.WALBytes > longWAL:
					return m.Warned("more than 16 MiB")
				}
				return m.Passed()
			}),
		},
		{
			ID: "PA-DB-006", Severity: exam.Critical, After: []string{"PA-DB-004"}, Command: "posagent status{flags}",
			Look: ofJournal(func(_ *Facts, j Journal) Finding {
				if len(j.Missing) == 0 && !j.Keyed {
					return exam.Nothing(unkeyed)
				}
				return exam.FailedIf(len(j.Missing) > 0, strings.Join(j.Missing, "; "))
			}),
		},
		{
			ID: "PA-DB-007", Severity: exam.Critical, After: []string{"PA-DB-004"}, Command: "posagent sale list{flags}",
			Look: ofJournal(func(_ *Facts, j Journal) Finding {
				switch {
				case len(j.Altered) > 0:
					return exam.Failed("seen", strings.Join(j.Altered, ", ")).Typed("", "posagent sale show "+j.Altered[0]+"{flags}")
				case !j.Keyed:
					return exam.Nothing(unkeyed)
				}
				return exam.Passed()
			}),
		},
		{
			ID: "PA-DB-008", Severity: exam.Major, After: []string{"PA-DB-004"}, Command: "posagent audit --verify{flags}",
			Look: func(ctx context.Context, f *Facts) Finding {
				j := f.Journal(ctx)
				if j.State != Readable || j.Audit == nil {
					return exam.Nothing("no audit log that this user can verify")
				}
				var wrong []string
				late, err := soon(ctx, func(ctx context.Context) (err error) { wrong, err = j.Audit(ctx); return err })
				switch {
				case late:
					return exam.Nothing("the log is too long for the time limit; posagent audit --verify verifies it")
				case err != nil:
					return exam.FailedBy(err)
				}
				return exam.FailedIf(len(wrong) > 0, strings.Join(wrong, "; "))
			},
		},
		{
			ID: "PA-DB-009", Severity: exam.Minor, After: []string{"PA-DB-001"}, Command: showConfig,
			Look: func(ctx context.Context, f *Facts) Finding {
				switch {
				case f.Config.Mark == "":
					return exam.Nothing("no second mark is set")
				case f.Journal(ctx).State == NoJournal:
					return exam.Nothing("no journal yet")
				}
				if t := f.suffers(ready.Unmarked); t != nil {
					return exam.Warned(evidence(t)...).Typed(t.Remedy, showConfig)
				}
				if _, err := os.Stat(f.Config.Mark); err != nil {
					return exam.Warned("seen", err.Error())
				}
				bad, _ := file.ReadOnly(filepath.Dir(f.Config.Mark)) // one that cannot be asked takes writes, as far as is known
				return exam.WarnedIf(bad, "the file system of "+f.Config.Mark+" is read-only, so that the mark stands still")
			},
		},
	}
}

// readWithin is how long a check reads the whole journal, at most.
const readWithin = 3 * time.Second

// soon calls fn, and says whether it was not done in time. What fn did is then not known.
func soon(ctx context.Context, fn func(context.Context) error) (late bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("the check itself failed: %v", p)
			}
		}()
		done <- fn(ctx)
	}()
	select {
	case err := <-done:
		return ctx.Err() != nil, err
	case <-ctx.Done():
		return true, nil
	}
}
