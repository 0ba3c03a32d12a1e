package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"posagent/device/file"
	"posagent/store"
)

// What a server, or its URL, may be refused for. Decide with errors.Is.
var (
	// ErrUnsafe: the server may lose what it has confirmed, or others may read what goes to it. Options.Tolerate takes it all the same.
	ErrUnsafe = errors.New("store: refused")
	// ErrBackwards: the server lacks what an earlier one has confirmed: it was restored from a copy, was replaced by another one, or is
	// a primary that was given up.
	ErrBackwards = errors.New("store: the server went backwards")
	// ErrRights: the account lacks rights on the tables.
	ErrRights = errors.New("store: the account may not do what its work needs")
	// ErrURL: the URL is not one.
	ErrURL = errors.New("store: the URL of the database cannot be read")
)

// Tolerated are dangers that an operator has taken.
type Tolerated struct {
	Async   bool // standbys that no commit waits for: the newest commits are lost when one of them takes over
	NoFsync bool // a server that does not sync: a power cut loses commits
	Plain   bool // a way to another machine that is not encrypted
}

// Primary is a server as it was last seen.
type Primary struct {
	Schema   string `json:"schema"` // posagent.primary/1
	System   string `json:"system"` // identifier of the cluster
	Timeline uint32 `json:"timeline"`
	Position string `json:"position"` // of its log, as the server writes it: up to there all is confirmed
	// Process is who remembers it, and Beats are how many of its beats are confirmed, by database/schema of the tables. A server that is only
	// looked at has neither.
	Process string           `json:"process,omitempty"`
	Beats   map[string]int64 `json:"beats,omitempty"`
}

const primarySchema = "posagent.primary/1"

// seen is what a connection meets.
type seen struct {
	Primary
	standby             bool
	version, standbys   int
	fsync, pages        bool
	commit, names, role string
	place               string // database/schema of the tables, "" where there is no schema
	beats               int64  // of the process that asks, where any is confirmed there
	denied              error  // the account may not look for them
	started             string // when: it tells a server from another one, by whatever name it is reached
}

// lookQuery asks for all of it. A standby has no position of its own. A backup and a reader of changes copy the server, too, but never
// take over.
const lookQuery = `SELECT pg_is_in_recovery(), current_setting('server_version_num')::int,
	(SELECT system_identifier::text FROM pg_control_system()),
	CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_walfile_name(pg_current_wal_lsn()) END,
	CASE WHEN pg_is_in_recovery() THEN '' ELSE pg_current_wal_lsn()::text END,
	current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on', current_setting('synchronous_commit'),
	current_setting('synchronous_standby_names'), (SELECT count(*)::int FROM pg_stat_replication r
		WHERE COALESCE(r.application_name, '') NOT IN ('pg_basebackup', 'pg_receivewal')
			AND NOT EXISTS (SELECT 1 FROM pg_replication_slots l WHERE l.active_pid = r.pid AND l.slot_type = 'logical')),
	current_user::text, pg_postmaster_start_time()::text, COALESCE(current_database() || '/' || current_schema(), '')`

// look asks a server what it is, and whether it goes on from the last one.
func look(ctx context.Context, conn *pgx.Conn, last Primary) (s seen, err error) {
	var segment string
	err = conn.QueryRow(ctx, lookQuery).Scan(&s.standby, &s.version, &s.System, &segment, &s.Position, &s.fsync, &s.pages, &s.commit, &s.names, &s.standbys, &s.role, &s.started, &s.place)
	if err != nil || s.standby {
		return s, err
	}
	s.Timeline, err = timeline(segment)
	if err == nil && last.Beats[s.place] > 0 {
		s.beats, err = beatsOf(ctx, conn, last.Process)
	}
	if errors.Is(err, ErrRights) {
		s.beats, s.denied, err = math.MaxInt64, err, nil // how many is not known, so none counts as missing
	}
	return s, err
}

// judge refuses a server that this store must not write to.
func (s seen) judge(t Tolerated) error {
	switch {
	case s.standby:
		return fmt.Errorf("%w: this is a standby: name all servers in the URL, with commas", store.ErrReadOnly)
	case s.version < 150000:
		return fmt.Errorf("PostgreSQL %d is too old: it takes 15 or later", s.version/10000)
	case !(s.fsync && s.pages) && !t.NoFsync:
		return fmt.Errorf("%w: the server has fsync or full_page_writes off: a power cut loses or spoils what it has confirmed", ErrUnsafe)
	case s.denied != nil:
		return s.denied
	case s.standbys > 0 && s.names == "" && !t.Async:
		return fmt.Errorf("%w: %d standbys copy this server, and no commit waits for one: when a standby takes over, payments that were confirmed are gone (set synchronous_standby_names)", ErrUnsafe, s.standbys)
	}
	return nil
}

// durably makes commits of this connection wait for the disk, and for the standbys where the server names some, also when the server's
// settings change later. What the server asks for beyond that stays.
func (s seen) durably(ctx context.Context, conn *pgx.Conn, t Tolerated) error {
	if t.Async {
		return nil
	}
	commit := "on"
	if s.commit == "remote_apply" {
		commit = s.commit
	}
	_, err := conn.Exec(ctx, "SET synchronous_commit = "+commit)
	return err
}

// memory keeps the primary outside of the database. One process holds its file.
type memory struct {
	path   string // "" = nothing is remembered
	lock   *os.File
	forgot bool // the last one was forgotten: the next may have lost something
	mu     sync.Mutex
	last   Primary // its Process is that of the memory, also where nothing is remembered yet
}

// openMemory takes the file. It answers a LockedError where another process has it.
func openMemory(path string) (*memory, error) {
	m := &memory{path: path}
	if path == "" {
		return m, nil
	}
	var err error
	if m.lock, err = os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(m.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(&store.LockedError{Path: filepath.Dir(path)}, m.lock.Close())
	}
	m.last, err = Remembered(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, m.lock.Close())
	}
	if m.last.Process == "" {
		m.last.Process = newProcess()
	}
	_, err = os.Stat(path + forgotten)
	if m.forgot = err == nil; err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, m.lock.Close())
	}
	return m, nil
}

// forgotten ends the name of the file that says that a server was forgotten, until numbers have gone on.
const forgotten = ".forgotten"

// wentOn ends what Forget began: numbers have gone on.
func (m *memory) wentOn() error {
	if !m.forgot {
		return nil
	}
	m.forgot = false
	if err := os.Remove(m.path + forgotten); err != nil {
		return err
	}
	return file.SyncDir(filepath.Dir(m.path))
}

func (m *memory) close() error {
	if m.lock == nil {
		return nil
	}
	return m.lock.Close()
}

// Look asks the servers that a URL names what they are, and returns the one that Open would take. Where it would take none, it answers
// the errors of Open with the server that they speak of; last is what is remembered, nil = nothing.
func Look(ctx context.Context, opt Options, last *Primary) (Primary, error) {
	cfg, err := pgx.ParseConfig(opt.URL)
	if err != nil {
		return Primary{}, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if err := encrypted(cfg, opt.Tolerate); err != nil {
		return Primary{}, err
	}
	by := &connector{servers: servers(cfg), tolerate: opt.Tolerate, last: func() (p Primary) {
		if last != nil {
			p = *last
		}
		return p
	}}
	one, at, err := by.choose(ctx)
	if err != nil {
		return at.Primary, classify(err)
	}
	return at.Primary, one.Close()
}

// Remembered reads what a file remembers. fs.ErrNotExist where nothing was seen yet.
func Remembered(path string) (p Primary, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(data, &p); err != nil || p.Schema != primarySchema || p.System == "" || p.Process != "" && !isProcess(p.Process) {
		return p, fmt.Errorf("%s does not say which server was seen last (remove it where the server is the right one): %w", path, errors.Join(err, store.ErrDamaged))
	}
	return p, nil
}

// remembers returns the last one that was met. Its System is empty where nothing is remembered.
func (m *memory) remembers() Primary {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// process names the holder of the memory, "" where nothing is remembered.
func (m *memory) process() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.path == "" {
		return ""
	}
	return m.last.Process
}

// meet remembers a server that goes on from the last one. What that had confirmed was compared when the server was chosen, with what was
// remembered before it was asked; more may be remembered since.
func (m *memory) meet(now Primary) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.path == "" {
		return nil
	}
	if why := another(m.last, now); why != "" {
		return fmt.Errorf("%w: %s", ErrBackwards, why)
	}
	if m.last.System != "" && now.Timeline == m.last.Timeline {
		return nil
	}
	now.Position = m.last.Position // it counts when it is confirmed
	return m.keep(now)
}

// confirm remembers that all is durable up to a position, and up to a beat.
func (m *memory) confirm(now seen) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.path == "" || now.Timeline < m.last.Timeline || now.System != m.last.System {
		return nil
	}
	now.Beats = maps.Clone(m.last.Beats)
	if now.beats > now.Beats[now.place] {
		if now.Beats == nil {
			now.Beats = map[string]int64{}
		}
		now.Beats[now.place] = now.beats
	}
	return m.keep(now.Primary)
}

// keep writes a server down. Beats that it does not name are those of the last one.
func (m *memory) keep(now Primary) error {
	now.Schema, now.Process = primarySchema, m.last.Process
	if now.Beats == nil {
		now.Beats = m.last.Beats
	}
	if m.last.System != "" && position(now.Position) < position(m.last.Position) {
		now.Position = m.last.Position
	}
	if reflect.DeepEqual(now, m.last) {
		return nil
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	if err := file.Replace(m.path, 0o600, file.Bytes(append(data, '\n'))); err != nil {
		return err
	}
	m.last = now
	return nil
}

// Forget lets the next start take any server. It gives numbers that lie far behind those of that server: the forgotten one may have given
// them.
func Forget(path string) error {
	m, err := openMemory(path)
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err
	}
	if m != nil {
		defer m.close()
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if err := file.Replace(path+forgotten, 0o600, file.Bytes(nil)); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return file.SyncDir(filepath.Dir(path))
}

// another says why a server is not the last one, nor one that took over from it; "" = it is one of them.
func another(last, now Primary) string {
	switch {
	case last.System == "":
		return ""
	case now.System != last.System:
		return fmt.Sprintf("it is another one: its identifier is %s, and that of the last one was %s", now.System, last.System)
	case now.Timeline < last.Timeline:
		return fmt.Sprintf("it is a primary that was given up: it is on timeline %d, and the last one was on %d", now.Timeline, last.Timeline)
	}
	return ""
}

// backwards says why a server does not go on from the last one, "" = it does.
func backwards(last Primary, now seen) string {
	why := another(last, now.Primary)
	switch {
	case last.System == "" || why != "":
		return why
	case position(now.Position) < position(last.Position):
		return fmt.Sprintf("it ends at %s of timeline %d, and all was confirmed up to %s of timeline %d: what lies between is lost",
			now.Position, now.Timeline, last.Position, last.Timeline)
	case now.beats < last.Beats[now.place]:
		return fmt.Sprintf("it has %d of the %d marks that this process left in %s: a copy from before was put back, a failover or a crash lost some, or its tables were made anew; what was confirmed since is not there",
			now.beats, last.Beats[now.place], now.place)
	}
	return ""
}

// position is a place in the log as a number, 0 = none.
func position(text string) uint64 {
	high, low, _ := strings.Cut(text, "/")
	h, err1 := strconv.ParseUint(high, 16, 32)
	l, err2 := strconv.ParseUint(low, 16, 32)
	if err1 != nil || err2 != nil {
		return 0
	}
	return h<<32 | l
}

// encrypted refuses ways to other machines that are not encrypted.
func encrypted(cfg *pgx.ConnConfig, t Tolerated) error {
	plain := func(host string, tls bool) bool {
		ip := net.ParseIP(host)
		return !tls && !strings.HasPrefix(host, "/") && host != "localhost" && (ip == nil || !ip.IsLoopback())
	}
	bad := plain(cfg.Host, cfg.TLSConfig != nil)
	for _, f := range cfg.Fallbacks {
		bad = bad || plain(f.Host, f.TLSConfig != nil)
	}
	if bad && !t.Plain {
		return fmt.Errorf("%w: the way to %s may be read and changed by others (sslmode=verify-full, with sslrootcert=FILE where the authority is your own)", ErrUnsafe, cfg.Host)
	}
	return nil
}
