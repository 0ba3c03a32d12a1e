package pgtest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/postgres/pgserver"
)

// Package is what brings the server's programs.
const Package = pgserver.Package

// Programs is the folder of the newest server that is installed, "" = there is none.
func Programs() string { return pgserver.Programs() }

// Server is a running server whose errors fail the test. It ends with the test.
type Server struct {
	*pgserver.Server
	tb     testing.TB
	places atomic.Int64
}

// Start starts a server that does not sync. set are settings such as "max_connections=50".
func Start(tb testing.TB, set ...string) *Server {
	tb.Helper()
	s, err := pgserver.Start(append([]string{"fsync=off"}, set...)...)
	return of(tb, s, err)
}

func of(tb testing.TB, s *pgserver.Server, err error) *Server {
	tb.Helper()
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = s.Remove() })
	return &Server{Server: s, tb: tb}
}

// Start starts a server that has ended, and waits until it answers.
func (s *Server) Start() {
	s.tb.Helper()
	require.NoError(s.tb, s.Server.Start())
}

// Place makes a schema of a test's own, and returns its URL.
func (s *Server) Place() string {
	s.tb.Helper()
	name := fmt.Sprint("place", s.places.Add(1))
	s.Exec("", "CREATE SCHEMA "+name)
	return s.URL(name)
}

// Exec runs statements as the account that the URL names; "" = the server's owner.
func (s *Server) Exec(url, text string) {
	s.tb.Helper()
	require.NoError(s.tb, s.Server.Exec(url, text))
}

// Try runs statements as whoever the URL names, and returns what the server says.
func (s *Server) Try(url, text string) error { return s.Server.Exec(url, text) }

// Set changes a setting of a running server; "" is what it was.
func (s *Server) Set(name, value string) {
	s.tb.Helper()
	require.NoError(s.tb, s.Server.Set(name, value))
}

// Count is the number that a query reads.
func (s *Server) Count(query string) int {
	s.tb.Helper()
	n, err := pgserver.Column[int](s.URL(""), query)
	require.NoError(s.tb, err)
	require.Len(s.tb, n, 1)
	return n[0]
}

// Standby makes a standby of the server and starts it. name is its application_name; set are settings of its own.
func (s *Server) Standby(name string, set ...string) *Server {
	s.tb.Helper()
	t, err := s.Server.Standby(name, set...)
	return of(s.tb, t, err)
}

// Promote makes a primary of a standby.
func (s *Server) Promote() {
	s.tb.Helper()
	require.NoError(s.tb, s.Server.Promote())
}

// Stop stops all processes of a running server until Continue.
func (s *Server) Stop() {
	s.tb.Helper()
	require.NoError(s.tb, s.Server.Stop())
}

// Continue continues a server that was stopped.
func (s *Server) Continue() {
	s.tb.Helper()
	require.NoError(s.tb, s.Server.Continue())
}

// Copy copies what a server has that was ended, and returns what puts it back.
func (s *Server) Copy() (back func()) {
	s.tb.Helper()
	put, err := s.Server.Copy()
	require.NoError(s.tb, err)
	return func() {
		s.tb.Helper()
		require.NoError(s.tb, put())
	}
}
