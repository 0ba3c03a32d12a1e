package backend

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/doctor/exam"
	"posagent/device"
	"posagent/device/file"
	"posagent/schemes/backend"
)

// doctorText has a paragraph for each check.
//
//go:embed doctor.txt
var doctorText string

const (
	leastSpace = 16 << 20  // bytes
	fewSpace   = 256 << 20 // bytes
	lateSweep  = time.Minute
)

// Checks is the table of a backend with those of its engine. A check stands behind all that it depends on.
func Checks(server Server) []Check {
	list := slices.Concat(directoryChecks(), settingChecks(), runChecks(), server.Checks, bookChecks(server.Gates), deliveryChecks())
	text := exam.Texts(doctorText)
	for i := range list {
		if own, ok := text[list[i].ID]; ok {
			list[i].Text = own
		}
	}
	return list
}

// directoryChecks are about the state directory and what it is on.
func directoryChecks() []Check {
	return []Check{
		{
			ID: "PA-DIR-001", Severity: exam.Critical, Command: "ls -ld {state}",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				info, err := os.Stat(f.Dir)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					return exam.Failed("seen", "no backend has run on "+f.Dir+": it is not there")
				case err != nil:
					return exam.Failed("seen", err.Error())
				case !info.IsDir():
					return exam.Failed("seen", f.Dir+" is no directory")
				}
				if owner := info.Sys().(*syscall.Stat_t).Uid; os.Geteuid() != 0 && int(owner) != os.Geteuid() {
					return exam.Failed("seen", fmt.Sprintf("it belongs to uid %d, and this is uid %d", owner, os.Geteuid()))
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-DIR-002", Severity: exam.Major, After: []string{"PA-DIR-001"}, Command: "chmod 700 {state}",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				info, err := os.Stat(f.Dir)
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				return exam.FailedIf(info.Mode().Perm()&0o077 != 0, fmt.Sprintf("other accounts can look into it (mode %04o)", info.Mode().Perm()))
			},
		},
		{
			ID: "PA-DIR-003", Severity: exam.Critical, After: []string{"PA-DIR-001"}, Command: "dmesg | tail",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				bad, err := file.ReadOnly(f.Dir)
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				return exam.FailedIf(bad, "mounted read-only")
			},
		},
		{
			ID: "PA-DIR-004", Severity: exam.Critical, After: []string{"PA-DIR-003"}, Command: "df -h {state}; df -i {state}",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				var st unix.Statfs_t
				if err := unix.Statfs(f.Dir, &st); err != nil {
					return exam.Failed("seen", err.Error())
				}
				free := int64(st.Bavail) * int64(st.Bsize)
				m := exam.Measured{"free_bytes", fmt.Sprint(free)}
				switch {
				case free < leastSpace:
					return m.Failed("less than 16 MiB free")
				case free < fewSpace:
					return m.Warned("less than 256 MiB free")
				}
				return exam.Inodes(uint64(st.Files), uint64(st.Ffree))
			},
		},
		{
			ID: "PA-DIR-005", Severity: exam.Critical, After: []string{"PA-DIR-001"}, Command: "chmod 600 {state}/" + backend.KeyName,
			Look: func(_ context.Context, f *Facts) exam.Finding {
				if err := backend.CheckKey(f.Dir); err != nil {
					return exam.Failed("seen", err.Error()).Typed("put the key there that the books were sealed under, from another process or a backup", "ls -l {state}")
				}
				info, err := os.Stat(filepath.Join(f.Dir, backend.KeyName))
				if errors.Is(err, fs.ErrNotExist) {
					return exam.Passed("seen", "none is there yet")
				}
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				return exam.FailedIf(info.Mode().Perm()&0o077 != 0, fmt.Sprintf("other accounts can read the key (mode %04o)", info.Mode().Perm()))
			},
		},
	}
}

// settingChecks are about the configuration and the clock.
func settingChecks() []Check {
	return []Check{
		{
			ID: "PA-SET-001", Severity: exam.Critical, Command: "{program} --help",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				if f.ConfigErr != nil {
					return exam.FailedBy(f.ConfigErr)
				}
				if _, _, err := net.SplitHostPort(f.Listen); err != nil {
					return exam.Failed("seen", "the address to listen on: "+err.Error())
				}
				return exam.FailedBy(backend.CheckSeed(f.Config.Backend.Seed))
			},
		},
		{
			ID: "PA-SET-002", Severity: exam.Critical, After: []string{"PA-SET-001"}, Command: "{program} --help",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				if Exposed(f.Config, f.Listen) == nil {
					return exam.Passed()
				}
				var names []string
				for _, key := range Printed(f.Config) {
					names = append(names, key[strings.LastIndexByte(key, '.')+1:])
				}
				seen := "other machines reach " + f.Listen + ", and these have the printed value: " + strings.Join(names, ", ")
				if f.tolerated {
					return exam.Warned("seen", "tolerated: "+seen)
				}
				return exam.Failed("seen", seen)
			},
		},
		{
			ID: "PA-SET-003", Severity: exam.Critical, Command: "date -u",
			Look: func(_ context.Context, f *Facts) exam.Finding {
				m := exam.Measured{"clock", f.Now.Format(time.RFC3339)}
				if !device.ClockSane(f.Now, f.Built) {
					return m.Failed("the clock shows a day before this program was built, or decades after it")
				}
				return m.Passed()
			},
		},
	}
}

// runChecks are about the process that serves.
func runChecks() []Check {
	return []Check{
		{
			ID: "PA-RUN-001", Severity: exam.Critical, After: []string{"PA-SET-001"}, Command: "ss -ltnp",
			Look: func(ctx context.Context, f *Facts) exam.Finding {
				if url := f.Address(); url != "" {
					if status, err := f.Live(ctx, url); err == nil && status == http.StatusNoContent {
						return exam.Passed("runs_at", url)
					}
				}
				busy, err := taken(ctx, f.Listen)
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				if !busy {
					return exam.Passed("seen", f.Listen+" is free")
				}
				if status, err := f.Live(ctx, "http://"+f.Listen); err == nil && status == http.StatusNoContent {
					return exam.Failed("seen", f.Listen+" is taken by a backend with another directory").Typed("name that one's directory, or give this one another address", "ss -ltnp")
				}
				return exam.Failed("seen", f.Listen+" is taken by what is no backend, or does not answer")
			},
		},
		{
			ID: "PA-RUN-002", Severity: exam.Critical, After: []string{"PA-DIR-001", "PA-RUN-001"}, Command: "ps -ef",
			Look: func(ctx context.Context, f *Facts) exam.Finding {
				pid, held, err := f.Held()
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				if !held {
					return exam.Passed("seen", "no process works with this directory")
				}
				if url := f.Address(); url != "" {
					if status, err := f.Live(ctx, url); err == nil && status == http.StatusNoContent {
						return exam.Passed("runs_at", url)
					}
				}
				command := "ps -ef"
				if pid != 0 {
					command = fmt.Sprintf("ps -fp %d", pid)
				}
				return exam.Failed("seen", "a process works with this directory, and does not answer at the address that it wrote there", "pid", fmt.Sprint(pid)).Typed("", command)
			},
		},
	}
}

// bookChecks are about the books. gates are the engine's checks without which they cannot be read.
func bookChecks(gates []string) []Check {
	after := append([]string{"PA-DIR-001", "PA-DIR-003"}, gates...)
	return []Check{
		{
			ID: "PA-BKS-001", Severity: exam.Critical, After: after, Command: "ls -l {state}",
			Look: func(ctx context.Context, f *Facts) exam.Finding {
				_, err := f.Books(ctx)
				switch {
				case errors.Is(err, fs.ErrNotExist) && f.shared:
					return exam.Failed("seen", "the schema has no tables").
						Typed("make them as the account that owns the schema", "{program} database upgrade --db OWNER-URL{flags}")
				case errors.Is(err, fs.ErrNotExist):
					return exam.Nothing("no books yet: the first start makes them")
				}
				return exam.FailedBy(err)
			},
		},
		{
			ID: "PA-BKS-002", Severity: exam.Critical, After: []string{"PA-BKS-001"}, Command: "{program} version",
			Look: func(ctx context.Context, f *Facts) exam.Finding {
				s, err := f.Books(ctx)
				switch {
				case err != nil:
					return none(err)
				case s.Newer != "":
					return exam.Failed("seen", fmt.Sprintf("a newer program has brought the tables up to date (%q)", s.Newer)).Typed("install that program: this one must not work on them", "")
				case s.Lacks > 0 && f.shared:
					return exam.Failed("seen", fmt.Sprintf("%d steps of this program were not applied to the tables", s.Lacks)).
						Typed("bring them up to date as the account that owns them", "{program} database upgrade --db OWNER-URL{flags}")
				case s.Lacks > 0:
					return exam.Warned("seen", fmt.Sprintf("%d steps of this program were not applied to the tables: the next start applies them", s.Lacks))
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-BKS-003", Severity: exam.Critical, After: []string{"PA-BKS-002", "PA-DIR-005"}, Command: "ls -l {state}",
			Look: ofBooks(func(f *Facts, s backend.Survey) exam.Finding {
				switch err := s.Fits(f.Dir); {
				case errors.Is(err, fs.ErrNotExist) && s.Sealed:
					return exam.Failed("seen", "the books were sealed under a key, and "+backend.KeyName+" is not there")
				case errors.Is(err, fs.ErrNotExist):
					return exam.Passed("seen", "the first start makes it")
				case err != nil:
					return exam.Failed("seen", err.Error())
				}
				return exam.Passed()
			}),
		},
		{
			ID: "PA-BKS-004", Severity: exam.Critical, After: []string{"PA-BKS-002"}, Command: "posagent-backend migrate --help",
			Look: ofBooks(func(_ *Facts, s backend.Survey) exam.Finding { return exam.FailedBy(s.Moved) }),
		},
		{
			ID: "PA-BKS-005", Severity: exam.Critical, After: []string{"PA-BKS-002"}, Command: "{program} books{flags} --json",
			Look: ofBooks(func(_ *Facts, s backend.Survey) exam.Finding {
				m := exam.Measured{"transactions", fmt.Sprint(s.Looked)}
				if len(s.Crooked) > 0 {
					return m.Failed(fmt.Sprintf("%d transactions do not sum to zero, the newest: %s", len(s.Crooked), s.Crooked[0]))
				}
				return m.Passed()
			}),
		},
		{
			ID: "PA-RUN-003", Severity: exam.Critical, After: []string{"PA-RUN-002", "PA-BKS-003", "PA-BKS-004"}, Command: "curl -s {listen}/readyz",
			Look: func(ctx context.Context, f *Facts) exam.Finding {
				url := f.Address()
				if url == "" {
					return exam.Nothing("no backend runs on this directory")
				}
				if status, err := f.Live(ctx, url); err != nil || status != http.StatusNoContent {
					return exam.Nothing("no backend runs on this directory")
				}
				why, err := f.Ready(ctx, url)
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				return exam.FailedIf(why != "", why)
			},
		},
	}
}

// deliveryChecks are about what should happen by time alone.
func deliveryChecks() []Check {
	return []Check{
		{
			ID: "PA-DLV-001", Severity: exam.Major, After: []string{"PA-BKS-003", "PA-BKS-004", "PA-RUN-003"}, Command: "{program} hooks{flags}",
			Look: ofWork(func(f *Facts, s backend.Survey) exam.Finding {
				if s.Lag.Late == 0 {
					return exam.Passed()
				}
				since := time.UnixMilli(s.Lag.Since)
				return exam.Failed("seen", fmt.Sprintf("%d deliveries should have been tried, the first one %s ago", s.Lag.Late, f.Now.Sub(since).Round(time.Second)),
					"oldest", since.UTC().Format(time.RFC3339))
			}),
		},
		{
			ID: "PA-DLV-002", Severity: exam.Minor, After: []string{"PA-BKS-002"}, Command: "{program} hooks dead{flags}",
			Look: ofBooks(func(_ *Facts, s backend.Survey) exam.Finding {
				return exam.WarnedIf(len(s.Lag.Paused) > 0, "paused: "+strings.Join(s.Lag.Paused, "; "))
			}),
		},
		{
			ID: "PA-DLV-003", Severity: exam.Major, After: []string{"PA-BKS-003", "PA-BKS-004", "PA-RUN-003"}, Command: "{program} books{flags}",
			Look: ofWork(func(f *Facts, s backend.Survey) exam.Finding {
				var late []string
				for _, room := range slices.Sorted(maps.Keys(s.Due)) {
					due := time.UnixMilli(s.Due[room])
					if s.Due[room] != 0 && f.Now.Sub(due) > lateSweep {
						late = append(late, fmt.Sprintf("%s since %s", room, f.Now.Sub(due).Round(time.Second)))
					}
				}
				return exam.FailedIf(len(late) > 0, "what time alone should have moved stands still: "+strings.Join(late, ", "))
			}),
		},
	}
}

// ofBooks looks at what was read of the books.
func ofBooks(judge func(f *Facts, s backend.Survey) exam.Finding) exam.Look[*Facts] {
	return func(ctx context.Context, f *Facts) exam.Finding {
		s, err := f.Books(ctx)
		if err != nil {
			return none(err)
		}
		if s.Lacks > 0 {
			return exam.Nothing("the tables are not up to date")
		}
		return judge(f, s)
	}
}

// ofWork is ofBooks where a process works on them.
func ofWork(judge func(f *Facts, s backend.Survey) exam.Finding) exam.Look[*Facts] {
	return func(ctx context.Context, f *Facts) exam.Finding {
		works, err := f.works(ctx)
		if err != nil {
			return exam.Failed("seen", err.Error())
		}
		if !works {
			return exam.Nothing("no process works on the books")
		}
		return ofBooks(judge)(ctx, f)
	}
}

// none is a check of books that were not read.
func none(err error) exam.Finding {
	if errors.Is(err, fs.ErrNotExist) {
		return exam.Nothing("no books yet")
	}
	return exam.Behind("PA-BKS-001")
}
