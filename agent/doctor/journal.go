package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"posagent/agent/ready"
)

const bigWAL = 64 << 20

// unkeyed is why rows are not verified: there is no journal, or its key is another account's.
const unkeyed = "this user has no key to verify the journal with"

// journalChecks are about the journal. They read it beside the running terminal, or without it.
func journalChecks() []Check {
	return []Check{
		{
			ID: "PA-DB-001", Title: "the journal is not cut", Severity: Critical, After: []string{"PA-DSK-002", "PA-DSK-003", "PA-DSK-004"},
			Means:  "entries may be missing, so the terminal does not start and sends nothing for them",
			How:    "the end of the journal is compared with its mark",
			Remedy: Remedy{Text: "compare the list of sales with the register's journal, then posagent journal accept --reason TEXT", Command: "posagent sale list{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				switch j := f.Journal(ctx); j.State {
				case CutShort:
					return f.said(ready.Trouble{Cause: ready.Cut, Where: f.State, Detail: j.Text})
				case LostJournal:
					return f.said(ready.Trouble{Cause: ready.Lost, Where: f.State, Detail: j.Text}).typed("", "posagent journal --help")
				case NoJournal:
					return passed("seen", "no journal yet: the first start makes it")
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-002", Title: "this program knows the journal's schema", Severity: Critical, After: []string{"PA-DB-001"},
			Means:  "a newer posagent wrote the journal; this one must not change it",
			How:    "the journal's schema version is compared with this program's",
			Remedy: Remedy{Text: "install the newer program; the journal is whole", Command: "posagent version"},
			Look: func(ctx context.Context, f *Facts) Finding {
				if j := f.Journal(ctx); j.State == NewerSchema {
					return failed("seen", j.Text)
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-003", Title: "the journal is a database that this user may read", Severity: Critical, After: []string{"PA-DB-001", "PA-DB-002"},
			Means:  "the terminal does not start",
			How:    "the journal is opened for reading, as posagent status does",
			Remedy: Remedy{Text: "keep {state} as it is, and call support; dmesg shows errors of the disk", Command: "dmesg | tail"},
			Look: func(ctx context.Context, f *Facts) Finding {
				switch j := f.Journal(ctx); j.State {
				case NoDatabase, Unreadable:
					return failed("seen", j.Text)
				case Forbidden:
					return failed("seen", j.Text).typed("run this as the user that owns {state}", "ls -l {state}")
				}
				return passed()
			},
		},
		{
			ID: "PA-KEY-004", Title: "the device key opens the journal", Severity: Critical, After: []string{"PA-KEY-002", "PA-DB-003"},
			Means:  "the key is another box's, or was replaced; the journal is whole and opens with its own key alone",
			How:    "a key of the journal is unwrapped with the device key",
			Remedy: Remedy{Text: "put the right key file back; leave the journal as it is", Command: "ls -l {state}/keys"},
			Look: func(ctx context.Context, f *Facts) Finding {
				switch j := f.Journal(ctx); {
				case j.State == WrongKey:
					return failed("seen", j.Text)
				case j.State == Readable && !j.Keyed:
					return nothing(unkeyed)
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-004", Title: "the pages of the journal are whole", Severity: Critical, After: []string{"PA-KEY-004"},
			Means:  "a page is damaged: the medium fails, or the file was changed from outside",
			How:    "each page is read and compared with its index, as far as the time limit allows",
			Remedy: Remedy{Text: "keep {state} as it is, and call support; dmesg shows errors of the disk", Command: "dmesg | tail"},
			Look: func(ctx context.Context, f *Facts) Finding {
				j := f.Journal(ctx)
				switch {
				case j.State == Damaged:
					return failed("seen", j.Text)
				case j.State != Readable:
					return nothing("no journal to look into")
				}
				late, err := soon(ctx, j.Quick)
				switch {
				case late:
					return nothing("the journal is too large for the time limit; the start of the terminal checks it")
				case err != nil:
					return failed("seen", err.Error())
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-005", Title: "the journal's log is folded", Severity: Minor, After: []string{"PA-KEY-004"},
			Means:  "the log grows: another program reads the journal for long, or the disk is too slow",
			How:    "the size of the log beside the journal is read",
			Remedy: Remedy{Text: "end what reads the journal: a backup or a copy that hangs", Command: "fuser -v {state}/agent.db"},
			Look: func(ctx context.Context, f *Facts) Finding {
				e := []string{"wal_bytes", fmt.Sprint(f.Journal(ctx).WALBytes)}
				if f.Journal(ctx).WALBytes > bigWAL {
					e = append(e, "seen", "more than 64 MiB")
					return warned(e...)
				}
				return passed(e...)
			},
		},
		{
			ID: "PA-DB-006", Title: "no entry was removed from the journal", Severity: Critical, After: []string{"PA-DB-004"},
			Means:  "somebody removed a sale or an operation from outside",
			How:    "the numbers of sales and operations are compared with the highest that was given",
			Remedy: Remedy{Text: "compare the sales with the register's journal, and ask who had access to the box", Command: "posagent status{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				j := f.Journal(ctx)
				switch {
				case len(j.Missing) > 0:
					return failed("seen", strings.Join(j.Missing, "; "))
				case !j.Keyed:
					return nothing(unkeyed)
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-007", Title: "no sale was changed from outside", Severity: Critical, After: []string{"PA-DB-004"},
			Means:  "a sale does not agree with its code of authentication; the terminal does not act on it",
			How:    "the newest sales are verified",
			Remedy: Remedy{Text: "compare the sale with the register's journal, and call support", Command: "posagent sale list{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				j := f.Journal(ctx)
				switch {
				case len(j.Altered) > 0:
					return failed("seen", strings.Join(j.Altered, ", ")).typed("", "posagent sale show "+j.Altered[0]+"{flags}")
				case !j.Keyed:
					return nothing(unkeyed)
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-008", Title: "the audit log is whole", Severity: Major, After: []string{"PA-DB-004"},
			Means:  "lines of the log of who did what were removed or changed",
			How:    "the chain of the lines is verified, as far as the time limit allows",
			Remedy: Remedy{Text: "the command names the lines; compare them with a backup, and ask who had access to the box", Command: "posagent audit --check{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				j := f.Journal(ctx)
				if j.State != Readable || j.Audit == nil {
					return nothing("no audit log that this user can verify")
				}
				var wrong []string
				late, err := soon(ctx, func(ctx context.Context) (err error) { wrong, err = j.Audit(ctx); return err })
				switch {
				case late:
					return nothing("the log is too long for the time limit; posagent audit --check verifies it")
				case err != nil:
					return failed("seen", err.Error())
				case len(wrong) > 0:
					return failed("seen", strings.Join(wrong, "; "))
				}
				return passed()
			},
		},
		{
			ID: "PA-DB-009", Title: "the second mark is there", Severity: Minor, After: []string{"PA-DB-001"},
			Means:  "a copy of the whole state directory that is put back is not noticed",
			How:    "the file that [store] mark names is looked for",
			Remedy: Remedy{Text: "plug the medium of [store] mark in, or correct its path in {config}", Command: "posagent config show{flags}"},
			Look: func(ctx context.Context, f *Facts) Finding {
				switch {
				case f.Config.Mark == "":
					return nothing("no second mark is set")
				case f.Journal(ctx).State == NoJournal:
					return nothing("no journal yet")
				}
				if _, err := os.Stat(f.Config.Mark); err != nil {
					return warned("seen", err.Error())
				}
				return passed()
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
