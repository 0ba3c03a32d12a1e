package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
	"posagent/cmd/backend"
	"posagent/cmd/usage"
	"posagent/store/postgres"
	"posagent/store/postgres/pgtest"
)

// golden are the ids. One that was released keeps its meaning for ever: add behind the last, remove none.
const golden = "PG-001 PG-002 PG-003 PG-004 PG-005 PG-006 PG-007 PG-008 PG-009 PG-010 PG-011 PG-012 PG-013 PG-014 PG-015 PG-016"

// TestEachCheckIsExplained: each id is one that was released, has words of its own, stands on the operator's page, and its remedy destroys
// nothing.
func TestEachCheckIsExplained(t *testing.T) {
	bad := regexp.MustCompile(`(?i)\b(rm|delete|erase|purge|mkfs|drop)\b`)
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var ids []string
	for _, c := range (&call{}).server().Checks {
		ids = append(ids, strings.TrimPrefix(c.ID, "PA-"))
		for _, text := range []string{c.Title, c.Means, c.How, c.Do, c.Command} {
			require.NotEmpty(t, text, c.ID)
			require.Empty(t, bad.FindString(text), "%s: %s", c.ID, text)
		}
	}
	require.Equal(t, strings.Fields(golden), ids)
	require.Len(t, exam.Texts(doctorText), len(ids))
	for _, c := range backend.Checks((&call{}).server()) {
		code, out, _ := ask("explain", c.ID)
		require.Zero(t, code)
		require.Contains(t, out, c.Title)
		require.Contains(t, string(page), c.ID, "the table of the page")
	}
}

// well is what is read of a server that is well.
func well() postgres.Survey {
	return postgres.Survey{
		Servers: []string{"db1: primary"}, Version: 150004, Fsync: true, Pages: true, Checksums: true, Names: "ANY 1 (s1, s2)",
		Standbys: []postgres.Standby{{Name: "s1", Awaited: true}, {Name: "s2", Awaited: true}}, Schema: "public", Processes: 2, MostConns: 97, Conns: 34,
	}
}

// TestJudges: each check by the fact that it looks at. It passes on a server that is well.
func TestJudges(t *testing.T) {
	for _, tc := range []struct {
		id    string
		want  exam.Status
		fault func(s *postgres.Survey)
	}{
		{"PA-PG-001", exam.Fail, func(s *postgres.Survey) { s.Plain = postgres.ErrUnsafe }},
		{"PA-PG-002", exam.Fail, func(s *postgres.Survey) { s.Refused = errors.New("password") }},
		{"PA-PG-003", exam.Fail, func(s *postgres.Survey) { s.None = errors.New("standbys alone") }},
		{"PA-PG-004", exam.Fail, func(s *postgres.Survey) { s.Version = 149999 }},
		{"PA-PG-005", exam.Fail, func(s *postgres.Survey) { s.Backwards = postgres.ErrBackwards }},
		{"PA-PG-006", exam.Fail, func(s *postgres.Survey) { s.Fsync = false }},
		{"PA-PG-006", exam.Fail, func(s *postgres.Survey) { s.Pages = false }},
		{"PA-PG-006", exam.Warn, func(s *postgres.Survey) { s.Checksums = false }},
		{"PA-PG-007", exam.Fail, func(s *postgres.Survey) { s.Standbys = nil }},
		{"PA-PG-007", exam.Fail, func(s *postgres.Survey) { s.Standbys = s.Standbys[:1]; s.Names = "2 (s1, s2)" }},
		{"PA-PG-007", exam.Fail, func(s *postgres.Survey) { s.Hidden, s.Waiting = true, 1 }},
		{"PA-PG-007", exam.Skip, func(s *postgres.Survey) { s.Hidden = true }},
		{"PA-PG-007", exam.Skip, func(s *postgres.Survey) { s.Names = "" }},
		{"PA-PG-008", exam.Fail, func(s *postgres.Survey) { s.Names = "" }},
		{"PA-PG-009", exam.Warn, func(s *postgres.Survey) { s.Standbys[1].Lag = 31 * time.Second }},
		{"PA-PG-009", exam.Warn, func(s *postgres.Survey) { s.Standbys[1].Behind = 65 << 20 }},
		{"PA-PG-010", exam.Fail, func(s *postgres.Survey) { s.Schema = "" }},
		{"PA-PG-011", exam.Fail, func(s *postgres.Survey) { s.Lacks = []string{"INSERT on cards_payment"} }},
		{"PA-PG-012", exam.Warn, func(s *postgres.Survey) { s.Excess = []string{"it is a superuser"} }},
		{"PA-PG-013", exam.Warn, func(s *postgres.Survey) { s.Conns = 81 }},
		{"PA-PG-013", exam.Warn, func(s *postgres.Survey) { s.Processes = 5 }},
		{"PA-PG-014", exam.Fail, func(s *postgres.Survey) { s.Blocked = 1 }},
		{"PA-PG-014", exam.Warn, func(s *postgres.Survey) { s.Longest = 6 * time.Minute }},
		{"PA-PG-015", exam.Fail, func(s *postgres.Survey) { s.Age = 1_600_000_000 }},
		{"PA-PG-015", exam.Warn, func(s *postgres.Survey) { s.Age = 600_000_000 }},
		{"PA-PG-015", exam.Warn, func(s *postgres.Survey) { s.Dead = []string{"cards_payment: 200000"} }},
		{"PA-PG-016", exam.Fail, func(s *postgres.Survey) { s.Clock = -6 * time.Minute }},
		{"PA-PG-016", exam.Warn, func(s *postgres.Survey) { s.Clock = 31 * time.Second }},
	} {
		look := func(fault func(s *postgres.Survey)) exam.Status {
			s := well()
			fault(&s)
			no := func() bool { return false }
			for _, c := range serverChecks(func(context.Context) (postgres.Survey, error) { return s, nil }, no, no) {
				if c.ID == tc.id {
					return c.Look(t.Context(), nil).Status
				}
			}
			return ""
		}
		require.Equal(t, exam.Pass, look(func(*postgres.Survey) {}), tc.id)
		require.Equal(t, tc.want, look(tc.fault), tc.id)
	}
}

// sick is a backend whose fault is to be found.
type sick struct {
	t           *testing.T
	server      *pgtest.Server
	owner, url  string // of the schema
	dir, unsafe string
}

// TestDoctor_OneFaultOneName seeds each fault alone: doctor names its check, and no other one. DOCTOR=full seeds all.
func TestDoctor_OneFaultOneName(t *testing.T) {
	s := pgtest.Start(t)
	s.Exec("", "CREATE ROLE serves LOGIN; GRANT pg_read_all_stats TO serves; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	for _, f := range []struct {
		name, want string
		status     exam.Status
		code       int
		slow       bool
		seed       func(b *sick)
	}{
		{name: "nothing", seed: func(*sick) {}},
		{name: "no TLS to another machine", want: "PA-PG-001", code: 6, seed: func(b *sick) { b.url = "postgres://serves@192.0.2.1/postgres" }},
		{name: "a URL of something else", want: "PA-PG-001", code: 6, seed: func(b *sick) { b.url = "mysql://serves@db/pos" }},
		{name: "a URL that cannot be read", want: "PA-PG-001", code: 6, seed: func(b *sick) { b.url = "postgres://serves:a b@h:99999/pos" }},
		{name: "no such account", want: "PA-PG-002", code: 8, seed: func(b *sick) { b.url = strings.Replace(b.url, "serves", "nobody", 1) }},
		{name: "no server", want: "PA-PG-003", code: 7, seed: func(b *sick) { b.url = "postgres://serves@/postgres?host=" + b.dir }},
		{name: "another server than the one that was seen", want: "PA-PG-005", code: 6, seed: func(b *sick) {
			require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, "primary.json"), []byte(`{"schema":"posagent.primary/1","system":"1","timeline":1,"position":"0/1"}`), 0o600))
		}},
		{name: "a server that does not sync", want: "PA-PG-006", code: 1, seed: func(b *sick) { b.unsafe = "" }},
		{name: "no standby that commits wait for", want: "PA-PG-007", code: 1, seed: func(b *sick) {
			b.server.Set("synchronous_standby_names", "ANY 1 (gone)")
			b.t.Cleanup(func() { b.server.Set("synchronous_standby_names", "") })
		}},
		{name: "standbys that nobody waits for", want: "PA-PG-008", code: 1, slow: true, seed: func(b *sick) {
			standby := b.server.Standby("s1")
			b.t.Cleanup(standby.Crash)
		}},
		{name: "a schema that is not there", want: "PA-PG-010", code: 1, seed: func(b *sick) {
			b.url = regexp.MustCompile(`search_path=\w+`).ReplaceAllString(b.url, "search_path=nowhere")
		}},
		{name: "a schema without tables", want: "PA-BKS-001", code: 1, seed: func(b *sick) {
			b.server.Exec("", "CREATE SCHEMA IF NOT EXISTS empty; GRANT USAGE ON SCHEMA empty TO serves")
			b.url = regexp.MustCompile(`search_path=\w+`).ReplaceAllString(b.url, "search_path=empty")
		}},
		{name: "an account that cannot insert", want: "PA-PG-011", code: 1, seed: func(b *sick) { b.server.Exec(b.owner, "REVOKE INSERT ON cards_payment FROM serves") }},
		{name: "an account that takes no numbers", want: "PA-PG-011", code: 1, seed: func(b *sick) { b.server.Exec(b.owner, "REVOKE USAGE ON SEQUENCE store_number_cases_case FROM serves") }},
		{name: "an account that cannot move numbers on", want: "PA-PG-011", code: 1, seed: func(b *sick) {
			b.server.Exec(b.owner, "REVOKE EXECUTE ON FUNCTION store_numbers_by FROM PUBLIC, serves")
		}},
		{name: "an account that can empty tables", want: "PA-PG-012", status: exam.Warn, seed: func(b *sick) { b.server.Exec(b.owner, "GRANT TRUNCATE ON cards_payment TO serves") }},
		{name: "tables of an older program", want: "PA-BKS-002", code: 1, slow: true, seed: func(b *sick) { b.server.Exec(b.owner, "DELETE FROM store_steps WHERE name = 'lease/1 tasks'") }},
		{name: "another key", want: "PA-BKS-003", code: 9, slow: true, seed: func(b *sick) {
			require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, "backend.key"), []byte(strings.Repeat("k", 32)), 0o600))
		}},
		{name: "no key", want: "PA-BKS-003", code: 9, slow: true, seed: func(b *sick) { require.NoError(b.t, os.Remove(filepath.Join(b.dir, "backend.key"))) }},
	} {
		if f.slow && os.Getenv("DOCTOR") != "full" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			b := &sick{t: t, server: s, owner: s.Place(), dir: t.TempDir(), unsafe: "no-fsync"}
			require.NoError(t, os.Chmod(b.dir, 0o700))
			code, grants, talk := ask("database", "upgrade", "--db", b.owner, "--state", b.dir, "--tolerate", "no-fsync")
			require.Zero(t, code, talk)
			s.Exec(b.owner, strings.ReplaceAll(grants, "SERVES", "serves"))
			b.url = strings.Replace(b.owner, "posagent@", "serves@", 1)
			f.seed(b)
			before := s.Count("SELECT count(*)::int FROM pg_class")
			code, out, talk := ask("doctor", "--json", "--db", b.url, "--state", b.dir, "--tolerate", b.unsafe, "--listen", "127.0.0.1:0")
			require.Equal(t, before, s.Count("SELECT count(*)::int FROM pg_class"))
			var report exam.Report
			require.NoError(t, json.Unmarshal([]byte(out), &report), talk)
			if f.want != "" && f.status == "" {
				f.status = exam.Fail
			}
			bad := map[string]exam.Status{}
			for _, r := range report.Checks {
				switch {
				case r.Status == exam.Fail, r.Status == exam.Warn && !(r.ID == "PA-PG-006" && f.want != r.ID): // the servers of tests do not sync
					bad[r.ID] = r.Status
					require.NotEmpty(t, r.Remedy.Command)
				case r.Evidence[exam.WaitsFor] != "":
					require.Equal(t, f.want, r.Evidence[exam.WaitsFor], r.ID)
				}
			}
			want := map[string]exam.Status{}
			if f.want != "" {
				want[f.want] = f.status
			}
			require.Equal(t, want, bad, out)
			require.Equal(t, f.code, code, out)
		})
	}
}

// Who would serve other machines with a printed credential does not start, and nothing is asked of the database for it; the
// danger has to be named. Each of the six alone, on every address that others reach; the rules are those of the embedded
// backend.
func TestField2_G1_NoPrintedCredentialOnTheNetwork(t *testing.T) {
	config := filepath.Join(t.TempDir(), "c.toml")
	six := map[string]string{
		"fleet_token": "own-fleet-token", "credentials.bearer": "own-bearer", "credentials.consumer_secret": "own-consumer-secret",
		"credentials.client_secret": "own-client-secret", "credentials.secret": "own-link-secret", "credentials.api_key": "own-api-key",
	}
	for printed := range six {
		text := "[backend]\n"
		for key, value := range six {
			if key != printed { // what is not set has the printed value
				text += key + " = \"" + value + "\"\n"
			}
		}
		require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
		for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "[2001:db8::1]:0", "[::ffff:192.0.2.1]:0"} {
			code, _, talk := ask("serve", "--db", "postgres://127.0.0.1:1/none?connect_timeout=1", "--state", t.TempDir(), "--listen", listen, "--config", config)
			require.Equal(t, usage.ExitConfig, code, talk)
			for key := range six {
				require.Equal(t, key == printed, strings.Contains(talk, "backend."+key+": "), "%s on %s: %s", printed, listen, talk)
			}
		}
	}
	text := "[backend]\nfleet_token = \"own\"\n[backend.credentials]\nbearer = \"own-bearer\"\n"
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	serve := []string{"serve", "--db", "postgres://127.0.0.1:1/none?connect_timeout=1", "--state", t.TempDir(), "--listen", "0.0.0.0:0", "--config", config}
	code, _, talk := ask(serve...)
	require.Equal(t, usage.ExitConfig, code, talk)
	for _, key := range []string{"consumer_secret", "client_secret", "secret", "api_key"} {
		require.Contains(t, talk, "backend.credentials."+key+": ")
	}
	require.NotContains(t, talk, "bearer: ")
	require.NotContains(t, talk, "fleet_token: ")
	code, _, talk = ask(append(serve, "--tolerate", "async,demo-credentials")...)
	require.Equal(t, usage.ExitNoBackend, code, "it went on to the database: %s", talk)
	require.Contains(t, talk, "a printed credential is accepted from other machines")
	code, _, talk = ask(append(serve, "--tolerate", "all")...)
	require.NotEqual(t, usage.ExitNoBackend, code, talk)
}

// TestDoctorMakesNoKey: of a server and a directory where nothing is, doctor makes nothing.
func TestDoctorMakesNoKey(t *testing.T) {
	s := pgtest.Open(t)
	dir := t.TempDir()
	_, out, talk := ask("doctor", "--db", s.Place(), "--state", dir, "--tolerate", "no-fsync", "--listen", "127.0.0.1:0")
	require.Contains(t, out, "PG ", talk)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestField2_G6DoctorSaysWhatThePoolerSays: behind a pooler no remedy speaks of a server to start, or of a file in the state directory: the
// evidence is the pooler's own word, and the remedy names its settings.
func TestField2_G6DoctorSaysWhatThePoolerSays(t *testing.T) {
	yes := func() bool { return true }
	for name, tc := range map[string]struct {
		fault  func(s *postgres.Survey)
		says   string
		remedy string
	}{
		"its word": {func(s *postgres.Survey) {
			s.Pooler = &postgres.PoolerError{Says: "no such database: pos"}
			s.None = s.Pooler
		}, "no such database: pos", "pgbouncer.ini"},
		"no word": {func(s *postgres.Survey) {
			s.Pooler = &postgres.PoolerError{}
			s.None = s.Pooler
		}, "says nothing", "its server is away"},
		"no sessions": {func(s *postgres.Survey) { s.Pooler = postgres.ErrPooler }, "keeps no sessions", "pool_mode = session"},
	} {
		t.Run(name, func(t *testing.T) {
			s := well()
			tc.fault(&s)
			for _, c := range serverChecks(func(context.Context) (postgres.Survey, error) { return s, nil }, yes, yes) {
				if c.ID != "PA-PG-003" {
					continue
				}
				f := c.Look(t.Context(), nil)
				require.Equal(t, exam.Fail, f.Status)
				require.Contains(t, strings.Join(f.Saw, " "), tc.says)
				require.Contains(t, f.Do, tc.remedy)
				require.NotContains(t, f.Do, "start the server")
				require.NotContains(t, f.Type, "pg_isready")
			}
		})
	}
	s := well()
	s.Pooler = &postgres.PoolerError{Says: "of a server that is not the primary"}
	for _, c := range serverChecks(func(context.Context) (postgres.Survey, error) { return s, nil }, yes, yes) {
		require.NotEqual(t, exam.Fail, c.Look(t.Context(), nil).Status, "%s: another server of the URL is the right one", c.ID)
	}
}
