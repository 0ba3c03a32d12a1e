package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"posagent/agent/doctor/exam"
	"posagent/cmd/backend"
	"posagent/cmd/usage"
	schemes "posagent/schemes/backend"
	"posagent/store/postgres"
)

// doctorText has a paragraph for each check.
//
//go:embed doctor.txt
var doctorText string

// Limits of the checks.
const (
	lateStandby = 30 * time.Second
	farStandby  = 64 << 20 // bytes
	longest     = 5 * time.Minute
	oldAge      = 500_000_000 // transactions; the server stops at two thousand million
	worstAge    = 1_500_000_000
	clockWarn   = 30 * time.Second
	clockFail   = 5 * time.Minute
	ourConns    = 17 // of one process
)

// survey asks the server, once.
type survey func(ctx context.Context) (postgres.Survey, error)

// server is what PostgreSQL adds to the checks of doctor.
func (c *call) server() backend.Server {
	ask := sync.OnceValues(func() (s postgres.Survey, err error) {
		ctx, cancel := context.WithTimeout(context.Background(), exam.Usual().Each-time.Second)
		defer cancel()
		o, err := c.options(schemes.StoreOptions{Steps: schemes.Schema()})
		if err != nil {
			return s, err
		}
		last, err := postgres.Remembered(memoryFile(c.dir()))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return postgres.ReadSurvey(ctx, o, nil)
		case err != nil:
			return s, err
		}
		return postgres.ReadSurvey(ctx, o, &last)
	})
	checks := serverChecks(func(context.Context) (postgres.Survey, error) { return ask() }, func() bool {
		o, err := c.options(schemes.StoreOptions{})
		return err == nil && o.Tolerate.NoFsync
	}, func() bool {
		o, err := c.options(schemes.StoreOptions{})
		return err == nil && o.Tolerate.Async
	})
	server := backend.Server{Checks: checks, Codes: map[string]int{
		"PA-PG-001": usage.ExitRefused, "PA-PG-002": usage.ExitAuth, "PA-PG-003": usage.ExitNoBackend, "PA-PG-005": usage.ExitRefused,
	}}
	for _, id := range []int{2, 3, 4, 5, 6, 7, 8, 10, 11} {
		server.Gates = append(server.Gates, fmt.Sprintf("PA-PG-%03d", id))
	}
	server.Works = func(context.Context) (int, error) {
		s, err := ask()
		return s.Processes, err
	}
	return server
}

// unknown is what a check finds where the survey failed: the URL cannot be read, or the server went away meanwhile.
func unknown(n int, err error) exam.Finding {
	var coded *usage.Exit
	unreadable := errors.As(err, &coded) || errors.Is(err, postgres.ErrURL)
	switch {
	case unreadable && n == 1:
		return exam.FailedBy(err).Typed("write the URL as postgres://user@host/name", "{program} database --help")
	case !unreadable && n == 3:
		return exam.FailedBy(err)
	case unreadable:
		return exam.Behind("PA-PG-001")
	case n < 3:
		return exam.Nothing("the server went away meanwhile")
	}
	return exam.Behind("PA-PG-003")
}

// serverChecks is the table. noFsync and async say which dangers were taken.
func serverChecks(ask survey, noFsync, async func() bool) []backend.Check {
	row := func(n int, severity exam.Severity, command string, judge func(s postgres.Survey) exam.Finding, after ...int) backend.Check {
		c := backend.Check{ID: fmt.Sprintf("PA-PG-%03d", n), Severity: severity, Command: command}
		for _, id := range after {
			c.After = append(c.After, fmt.Sprintf("PA-PG-%03d", id))
		}
		c.Look = func(ctx context.Context, _ *backend.Facts) exam.Finding {
			s, err := ask(ctx)
			if err != nil {
				return unknown(n, err)
			}
			return judge(s)
		}
		c.Text = exam.Texts(doctorText)[c.ID]
		return c
	}
	set := func(name, value string) string {
		return fmt.Sprintf(`psql -c "ALTER SYSTEM SET %s = %s" -c "SELECT pg_reload_conf()"`, name, value)
	}
	list := []backend.Check{
		row(1, exam.Critical, "{program} database --help", func(s postgres.Survey) exam.Finding { return exam.FailedBy(s.Plain) }),
		row(2, exam.Critical, "{program} database --db URL{flags}", func(s postgres.Survey) exam.Finding { return exam.FailedBy(s.Refused) }, 1),
		row(3, exam.Critical, "pg_isready -d URL", func(s postgres.Survey) exam.Finding {
			m := exam.Measured{"servers", strings.Join(s.Servers, "; ")}
			var said *postgres.PoolerError
			switch {
			case errors.Is(s.Pooler, postgres.ErrPooler): // work would fail, though each question is answered
				return exam.Failed("seen", s.Pooler.Error()).Typed("give this database pool_mode = session in the pooler's pgbouncer.ini, or name the server itself in the URL", `psql -d pgbouncer -c "SHOW DATABASES"`)
			case s.None != nil && errors.As(s.Pooler, &said):
				return exam.Failed("seen", said.Word()).Typed("name the server itself in the URL, or correct pgbouncer.ini: ignore_startup_parameters for a parameter, [databases] for a name, "+
					"max_client_conn for its room; where it waits, its server is away", `psql -d pgbouncer -c "SHOW DATABASES" -c "SHOW POOLS"`)
			case s.None != nil:
				return m.Failed(s.None.Error())
			}
			return m.Passed()
		}, 1, 2),
		row(4, exam.Critical, `psql -c "SHOW server_version"`, func(s postgres.Survey) exam.Finding {
			m := exam.Measured{"version", fmt.Sprint(s.Version)}
			if s.Version < 150000 {
				return m.Failed(fmt.Sprintf("PostgreSQL %d is too old: it takes 15 or later", s.Version/10000))
			}
			return m.Passed()
		}, 3),
		row(5, exam.Critical, "{program} database{flags}", func(s postgres.Survey) exam.Finding { return exam.FailedBy(s.Backwards) }, 3),
		row(6, exam.Critical, set("fsync", "on"), func(s postgres.Survey) exam.Finding {
			switch bad := !s.Fsync || !s.Pages; {
			case bad && noFsync():
				return exam.Warned("seen", "fsync or full_page_writes is off: that danger was taken")
			case bad:
				return exam.Failed("seen", "fsync or full_page_writes is off")
			case !s.Checksums:
				return exam.Warned("seen", "the server has no checksums of its pages").Typed("stop the server, turn them on, and start it", "pg_checksums --enable -D DATA")
			}
			return exam.Passed()
		}, 4),
		row(7, exam.Critical, `psql -c "SELECT application_name, state, sync_state FROM pg_stat_replication"`, func(s postgres.Survey) exam.Finding {
			var names []string
			for _, t := range s.Standbys {
				names = append(names, t.Name)
			}
			m := exam.Measured{"names", s.Names, "connected", strings.Join(names, " "), "waiting_commits", fmt.Sprint(s.Waiting)}
			switch need := s.Needed(); {
			case s.Waiting > 0:
				return m.Failed("commits hang: they wait for standbys that do not confirm")
			case need == 0:
				return exam.Nothing("no commit waits for a standby")
			case len(s.Standbys) == 0, !s.Hidden && s.Awaited() < need:
				return m.Failed(fmt.Sprintf("commits hang: %d of the named standbys have to confirm, and %d can", need, s.Awaited()))
			case s.Hidden:
				return exam.Nothing("this account may not see the standbys (GRANT pg_read_all_stats lets it)")
			}
			return m.Passed()
		}, 4),
		row(8, exam.Critical, set("synchronous_standby_names", `'ANY 1 (NAME, NAME)'`), func(s postgres.Survey) exam.Finding {
			switch bad := len(s.Standbys) > 0 && s.Needed() == 0; {
			case bad && async():
				return exam.Warned("seen", fmt.Sprintf("no commit waits for any of %d standbys: that danger was taken", len(s.Standbys)))
			case bad:
				return exam.Failed("seen", fmt.Sprintf("no commit waits for any of %d standbys", len(s.Standbys)))
			}
			return exam.Passed()
		}, 4),
		row(9, exam.Major, `psql -c "SELECT * FROM pg_stat_replication"`, func(s postgres.Survey) exam.Finding {
			for _, t := range s.Standbys {
				if t.Lag > lateStandby || t.Behind > farStandby {
					return exam.Warned("seen", fmt.Sprintf("standby %s is %d bytes and %s behind", t.Name, t.Behind, t.Lag.Round(time.Second)))
				}
			}
			return exam.Passed()
		}, 7),
		row(10, exam.Critical, "{program} database upgrade --db OWNER-URL{flags}", func(s postgres.Survey) exam.Finding {
			return exam.FailedIf(s.Schema == "", "the schema of search_path is not there, or this account has no right to use it")
		}, 3),
		row(11, exam.Critical, "{program} database upgrade --db OWNER-URL{flags}", func(s postgres.Survey) exam.Finding {
			return exam.FailedIf(len(s.Lacks) > 0, fmt.Sprintf("%d rights are missing: %s", len(s.Lacks), strings.Join(s.Lacks[:min(3, len(s.Lacks))], ", ")))
		}, 10),
		row(12, exam.Minor, "{program} database upgrade --db OWNER-URL{flags}", func(s postgres.Survey) exam.Finding {
			return exam.WarnedIf(len(s.Excess) > 0, strings.Join(s.Excess, ", "))
		}, 10),
		row(13, exam.Major, `psql -c "SHOW max_connections"`, func(s postgres.Survey) exam.Finding {
			m := exam.Measured{"used", fmt.Sprint(s.Conns), "most", fmt.Sprint(s.MostConns), "processes", fmt.Sprint(s.Processes)}
			if max(s.Conns, s.Processes*ourConns)+ourConns > s.MostConns {
				return m.Warned("the server has no room for the connections of one more process")
			}
			return m.Passed()
		}, 3),
		row(14, exam.Major, `psql -c "SELECT pid, state, xact_start, query FROM pg_stat_activity ORDER BY xact_start"`, func(s postgres.Survey) exam.Finding {
			switch {
			case s.Blocked > 0:
				return exam.Failed("seen", fmt.Sprintf("%d sessions have waited for a lock for more than ten seconds", s.Blocked))
			case s.Longest > longest:
				return exam.Warned("seen", "a transaction runs for "+s.Longest.Round(time.Second).String())
			}
			return exam.Passed()
		}, 7),
		row(15, exam.Major, "vacuumdb --analyze DATABASE", func(s postgres.Survey) exam.Finding {
			m := exam.Measured{"age", fmt.Sprint(s.Age)}
			switch {
			case s.Age > worstAge:
				return m.Failed("rows name transactions so old that the server will soon take no writes")
			case s.Age > oldAge:
				return m.Warned("rows name transactions that should have been frozen")
			case len(s.Dead) > 0:
				return m.Warned("more dead rows than living ones: " + strings.Join(s.Dead, ", "))
			}
			return m.Passed()
		}, 10),
		row(16, exam.Major, "timedatectl status", func(s postgres.Survey) exam.Finding {
			m := exam.Measured{"off_by", s.Clock.Round(time.Second).String()}
			switch {
			case s.Clock.Abs() >= clockFail:
				return m.Failed("the clocks of this machine and of the server differ by more than five minutes")
			case s.Clock.Abs() >= clockWarn:
				return m.Warned("the clocks of this machine and of the server differ")
			}
			return m.Passed()
		}, 3),
	}
	return list
}
