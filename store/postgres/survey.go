package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"posagent/store"
)

// Survey is what a doctor reads of a server. What an account may not see of it is left out.
type Survey struct {
	Plain     error    // why the way there is not safe, nil = it is, or that danger was taken; nothing else is read then
	Servers   []string // each of the URL: its name and what it is, or why it does not answer
	Refused   error    // why no server takes a session of this account, nil = one does, or none is there
	Pooler    error    // what a pooler before a server says (*PoolerError), or that it keeps no sessions (ErrPooler); nil = nothing of it is known
	None      error    // why no server is the primary, nil = one is; what follows is not read then
	Backwards error    // ErrBackwards where the primary lacks what an earlier one has confirmed

	Version                 int // 150004
	Fsync, Pages, Checksums bool
	Names                   string    // synchronous_standby_names
	Standbys                []Standby // that are connected
	Hidden                  bool      // this account may not see which they are
	Waiting                 int       // commits of this account that have waited for standbys for five seconds

	Schema    string   // "" = that of search_path is not there, or this account may not use it
	Lacks     []string // rights that the account needs and does not have
	Excess    []string // rights that it has and does not need
	Processes int      // that work on the schema
	MostConns int      // that accounts like this one may have
	Conns     int
	Longest   time.Duration // of the transactions that are seen
	Blocked   int           // sessions that have waited for a lock for ten seconds
	Age       int64         // of the oldest transaction that rows still name
	Dead      []string      // tables with more dead rows than living ones
	Clock     time.Duration // how far the server's clock is before this one's
}

// Standby is one that a primary knows.
type Standby struct {
	Name    string
	Awaited bool  // commits wait for it
	Behind  int64 // bytes
	Lag     time.Duration
}

// surveyWithin bounds each question of a survey.
const surveyWithin = 2 * time.Second

// ReadSurvey asks the servers of a URL as Open does, and reads what a doctor looks at; it never writes. It remembers no server; last is what is remembered, nil = nothing. It fails where the
// URL cannot be read, or where the primary went away meanwhile.
func ReadSurvey(ctx context.Context, opt Options, last *Primary) (s Survey, err error) {
	cfg, err := pgx.ParseConfig(opt.URL)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if s.Plain = encrypted(cfg, opt.Tolerate); s.Plain != nil {
		return s, nil
	}
	limit := fmt.Sprint(surveyWithin.Milliseconds())
	for name, value := range map[string]string{
		"application_name": "posagent-doctor", "default_transaction_read_only": "on", "statement_timeout": limit, "lock_timeout": limit, "timezone": "UTC",
	} {
		cfg.RuntimeParams[name] = value
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, surveyWithin)
	by := &connector{servers: servers(cfg)}
	var remembered Primary
	if last != nil {
		remembered = *last
	}
	all := by.ask(ctx, remembered)
	defer func() {
		for _, one := range all {
			if one.conn != nil {
				_ = one.conn.Close() // it was only read
			}
		}
	}()
	var said *PoolerError
	for i, one := range all {
		if one.conn != nil && s.Pooler == nil {
			if err := one.pooled(ctx, by, by.servers[i], remembered); errors.Is(err, ErrPooler) {
				s.Pooler = err
			}
		}
		if errors.As(one.err, &said) || errors.Is(one.err, ErrPooler) {
			s.Pooler = one.err
		}
		one.at.denied = nil // rights have a check of their own
		s.Servers = append(s.Servers, one.name+": "+one.place())
		if code := codeOf(one.err); strings.HasPrefix(code, "28") || code == "3D000" {
			s.Refused = one.err
		}
	}
	chosen, err := pick(all, remembered, Tolerated{Async: true, NoFsync: true, Plain: true}) // its dangers are checks of their own
	old := chosen.at.version < 150000                                                        // which has a check of its own
	switch {
	case errors.Is(err, ErrBackwards):
		s.Backwards = err
	case err != nil && (chosen.conn == nil || chosen.at.standby || !old):
		s.None = err
		return s, nil
	}
	s.Refused = nil // by another one
	s.Version, s.Fsync, s.Pages, s.Names = chosen.at.version, chosen.at.fsync, chosen.at.pages, chosen.at.names
	return s, s.read(ctx, chosen.conn.pg, opt.Steps)
}

// place says what a server is.
func (s *server) place() string {
	switch {
	case s.conn == nil:
		return s.err.Error()
	case s.at.standby:
		return "standby"
	}
	return fmt.Sprintf("primary, timeline %d", s.at.Timeline)
}

// surveyQuery asks a primary for what is one value each.
const surveyQuery = `SELECT current_setting('data_checksums') = 'on', COALESCE(current_schema()::text, ''),
	(SELECT count(*)::int FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND l.classid::bigint = hashtext(current_schema())::bigint & 4294967295 AND l.objid = $1),
	current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
	(SELECT COALESCE(sum(numbackends), 0)::int FROM pg_stat_database),
	(SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND clock_timestamp() - query_start > interval '5 seconds'),
	(SELECT COALESCE(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float8 FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'),
	(SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '10 seconds'),
	(SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()),
	clock_timestamp(), pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`

// Questions of a survey with several answers.
const (
	standbyQuery = `SELECT COALESCE(application_name, ''), COALESCE(sync_state IN ('sync', 'quorum') AND state = 'streaming', false),
		COALESCE(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint, COALESCE(extract(epoch FROM replay_lag), 0)::float8
		FROM pg_stat_replication WHERE COALESCE(application_name, '') NOT IN ('pg_basebackup', 'pg_receivewal') ORDER BY 1`
	excessQuery = `SELECT what FROM (VALUES
		('it is a superuser', (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)),
		('it owns tables, or is a member of their owner', EXISTS (SELECT 1 FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema()::text)
			AND pg_has_role(current_user, relowner, 'MEMBER'))),
		('TRUNCATE on tables', EXISTS (SELECT 1 FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema()::text) AND has_table_privilege(oid, 'TRUNCATE'))),
		('CREATE in the schema', COALESCE(has_schema_privilege(current_schema()::text, 'CREATE'), false))) v (what, has) WHERE has`
	deadQuery = `SELECT relname || ': ' || n_dead_tup FROM pg_stat_user_tables WHERE schemaname = current_schema()::text
		AND n_dead_tup > 100000 AND n_dead_tup > n_live_tup ORDER BY n_dead_tup DESC LIMIT 3`
)

func (s *Survey) read(ctx context.Context, conn *pgx.Conn, steps []store.Step) error {
	var clock time.Time
	var longest float64
	var sees bool
	began := time.Now()
	err := conn.QueryRow(ctx, surveyQuery, uint32(presenceNumber)).Scan(&s.Checksums, &s.Schema, &s.Processes, &s.MostConns, &s.Conns, &s.Waiting, &longest,
		&s.Blocked, &s.Age, &clock, &sees)
	if err != nil {
		return classify(err)
	}
	s.Longest = time.Duration(longest * float64(time.Second))
	s.Clock = clock.Sub(began.Add(time.Since(began) / 2))
	rows, err := conn.Query(ctx, standbyQuery)
	if err != nil {
		return classify(err)
	}
	s.Standbys, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Standby, err error) {
		var lag float64
		err = row.Scan(&t.Name, &t.Awaited, &t.Behind, &lag)
		t.Lag = time.Duration(lag * float64(time.Second))
		return t, err
	})
	s.Hidden = !sees && len(s.Standbys) > 0
	var needs []string
	if err == nil {
		needs, err = needed(ctx, conn, steps)
	}
	if err == nil {
		s.Lacks, err = lacks(ctx, conn, needs)
	}
	for query, to := range map[string]*[]string{excessQuery: &s.Excess, deadQuery: &s.Dead} {
		if err != nil {
			break
		}
		if rows, err = conn.Query(ctx, query); err == nil {
			*to, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
	}
	return classify(err)
}

// Needed is how many standbys have to confirm a commit, by synchronous_standby_names; 0 = none.
func (s Survey) Needed() int {
	names := strings.TrimSpace(s.Names)
	if names == "" {
		return 0
	}
	for _, word := range strings.FieldsFunc(names, func(r rune) bool { return r == ' ' || r == '(' || r == ',' }) {
		if n, err := strconv.Atoi(word); err == nil {
			return n
		}
		if upper := strings.ToUpper(word); upper != "ANY" && upper != "FIRST" {
			break
		}
	}
	return 1
}

// Awaited counts the standbys that can confirm a commit.
func (s Survey) Awaited() (n int) {
	for _, t := range s.Standbys {
		if t.Awaited {
			n++
		}
	}
	return n
}

// Held says whether a process has the memory of a server at path. It makes no file.
func Held(path string) (bool, error) {
	f, err := os.Open(path + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
