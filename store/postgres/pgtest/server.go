package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// within bounds the start and the end of a server.
const within = time.Minute

// Server is a running server. It ends with the test.
type Server struct {
	tb     testing.TB
	bin    string // the folder of its programs
	dir    string // of its data and its socket
	as     *syscall.Credential
	cmd    *exec.Cmd
	ended  chan struct{}
	said   *bytes.Buffer
	places atomic.Int64
}

// Package is what brings the server's programs.
const Package = "postgresql-15"

// Programs is the folder of the newest server that is installed, "" = there is none.
func Programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is good
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// Start starts a server. set are settings such as "max_connections=50".
func Start(tb testing.TB, set ...string) *Server {
	tb.Helper()
	s := &Server{tb: tb, bin: Programs()}
	require.NotEmpty(tb, s.bin, "PostgreSQL is not installed: apt-get install "+Package)
	var err error
	s.dir, err = os.MkdirTemp("", "pg") // a socket's path is short
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	s.unprivileged()
	out, err := s.command("initdb", "-D", s.data(), "-U", "posagent", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	require.NoError(tb, err, "%s", out)
	s.settings(append([]string{"listen_addresses=''", "unix_socket_directories='" + s.dir + "'", "max_connections=100", "fsync=off", "shared_buffers=32MB"}, set...))
	s.Start()
	tb.Cleanup(s.Crash)
	return s
}

// unprivileged gives the server another account than root's, which it refuses.
func (s *Server) unprivileged() {
	if os.Getuid() != 0 {
		return
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		require.NoError(s.tb, err)
		gid, err := strconv.Atoi(u.Gid)
		require.NoError(s.tb, err)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
		require.NoError(s.tb, os.Chown(s.dir, uid, gid))
		return
	}
	s.tb.Fatal("no account for the server: postgres, nobody")
}

// settings adds lines to the server's configuration.
func (s *Server) settings(lines []string) {
	s.tb.Helper()
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(s.tb, err)
	for _, one := range lines {
		_, err = fmt.Fprintln(f, one)
		require.NoError(s.tb, err)
	}
	require.NoError(s.tb, f.Close())
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	return s.other(filepath.Join(s.bin, name), args...)
}

// other is a program that runs as the server does.
func (s *Server) other(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

// Start starts a server that has ended, and waits until it answers.
func (s *Server) Start() {
	s.tb.Helper()
	s.cmd, s.ended, s.said = s.command("postgres", "-D", s.data()), make(chan struct{}), &bytes.Buffer{}
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	started := make(chan error)
	go func(cmd *exec.Cmd, ended chan struct{}) { // Pdeathsig is the thread's: this one stays
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}(s.cmd, s.ended)
	require.NoError(s.tb, <-started)
	for until := time.Now().Add(within); ; {
		err := s.ping()
		if err == nil {
			return
		}
		select {
		case <-s.ended:
			s.tb.Fatalf("the server has ended: %s", s.said)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(until) {
			s.tb.Fatalf("the server does not answer: %v\n%s", err, s.said)
		}
	}
}

func (s *Server) ping() error {
	conn, err := pgx.Connect(context.Background(), s.URL(""))
	if err != nil {
		return err
	}
	return conn.Close(context.Background())
}

// Crash ends the server at once, as a crash does: it recovers from its log when it is started again.
func (s *Server) Crash() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // it may be gone
	select {
	case <-s.ended:
	case <-time.After(within):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// URL leads to a schema of the server; "" = the default one.
func (s *Server) URL(schema string) string {
	url := "postgres://posagent@/postgres?host=" + s.dir
	if schema != "" {
		url += "&search_path=" + schema
	}
	return url
}

// Place makes a schema of a test's own, and returns its URL.
func (s *Server) Place() string {
	s.tb.Helper()
	name := fmt.Sprint("place", s.places.Add(1))
	s.Exec("", "CREATE SCHEMA "+name)
	return s.URL(name)
}

// Exec runs statements as the server's owner.
func (s *Server) Exec(url, text string) {
	s.tb.Helper()
	if url == "" {
		url = s.URL("")
	}
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(s.tb, err)
	_, err = conn.PgConn().Exec(context.Background(), text).ReadAll()
	require.NoError(s.tb, err, strings.TrimSpace(text))
	require.NoError(s.tb, conn.Close(context.Background()))
}

// Try runs statements as whoever the URL names, and returns what the server says.
func (s *Server) Try(url, text string) error {
	s.tb.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(s.tb, err)
	_, err = conn.PgConn().Exec(context.Background(), text).ReadAll()
	require.NoError(s.tb, conn.Close(context.Background()))
	return err
}

// Set changes a setting of a running server; "" is what it was.
func (s *Server) Set(name, value string) {
	s.tb.Helper()
	if value == "" {
		s.Exec("", "ALTER SYSTEM RESET "+name)
	} else {
		s.Exec("", "ALTER SYSTEM SET "+name+" = '"+value+"'")
	}
	s.Exec("", "SELECT pg_reload_conf()")
}

// Count is the number that a query reads.
func (s *Server) Count(query string) (n int) {
	s.tb.Helper()
	conn, err := pgx.Connect(context.Background(), s.URL(""))
	require.NoError(s.tb, err)
	require.NoError(s.tb, conn.QueryRow(context.Background(), query).Scan(&n))
	require.NoError(s.tb, conn.Close(context.Background()))
	return n
}

// Socket is where the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }
