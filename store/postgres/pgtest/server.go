package pgtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/store/postgres/pgserver"
)

// Package is what brings the server's programs.
const Package = pgserver.Package

// Programs is the folder of the newest server that is installed, "" = there is none.
func Programs() string { return pgserver.Programs() }

// Need says that a test uses PostgreSQL: it is of make verify, and skipped where the server is not installed. Open and Start ask it.
func Need(tb testing.TB) {
	tb.Helper()
	need.Verify(tb, "uses PostgreSQL")
	if Programs() == "" {
		need.Missing(tb, "PostgreSQL", "apt-get install "+Package)
	}
}

// Server is a running server of a test's own, whose errors fail the test. It ends with the test.
type Server struct {
	Database
	process *pgserver.Server
}

// Start starts a server that does not sync, for a test that kills, stops or sets it. set are settings such as "max_connections=50". Others
// take a database: Open.
func Start(tb testing.TB, set ...string) *Server {
	tb.Helper()
	Need(tb)
	s, err := pgserver.Start(append([]string{"fsync=off"}, set...)...)
	return of(tb, s, err)
}

func of(tb testing.TB, p *pgserver.Server, err error) *Server {
	tb.Helper()
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = p.Remove() })
	return &Server{Database: Database{tb: tb, url: p.URL(""), socket: p.Socket()}, process: p}
}

// Host is where its socket is, for a URL that names several servers.
func (s *Server) Host() string { return s.process.Host() }

// Start starts a server that has ended, and waits until it answers.
func (s *Server) Start() {
	s.tb.Helper()
	require.NoError(s.tb, s.process.Start())
}

// Crash ends the server at once.
func (s *Server) Crash() { s.process.Crash() }

// Backup takes a base backup, as pgserver.Server.Backup.
func (s *Server) Backup() error { return s.process.Backup() }

// Restore goes back to a point in time, as pgserver.Server.Restore.
func (s *Server) Restore(target string) error { return s.process.Restore(target) }

// Set changes a setting of a running server; "" is what it was.
func (s *Server) Set(name, value string) {
	s.tb.Helper()
	require.NoError(s.tb, s.process.Set(name, value))
}

// Standby makes a standby of the server and starts it. name is its application_name; set are settings of its own.
func (s *Server) Standby(name string, set ...string) *Server {
	s.tb.Helper()
	t, err := s.process.Standby(name, set...)
	return of(s.tb, t, err)
}

// Promote makes a primary of a standby.
func (s *Server) Promote() {
	s.tb.Helper()
	require.NoError(s.tb, s.process.Promote())
}

// Stop stops all processes of a running server until Continue.
func (s *Server) Stop() {
	s.tb.Helper()
	require.NoError(s.tb, s.process.Stop())
}

// Continue continues a server that was stopped.
func (s *Server) Continue() {
	s.tb.Helper()
	require.NoError(s.tb, s.process.Continue())
}

// Copy copies what a server has that was ended, and returns what puts it back.
func (s *Server) Copy() (back func()) {
	s.tb.Helper()
	put, err := s.process.Copy()
	require.NoError(s.tb, err)
	return func() {
		s.tb.Helper()
		require.NoError(s.tb, put())
	}
}
