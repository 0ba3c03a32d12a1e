package pgtest

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// Standby makes a standby of the server and starts it. name is its application_name; set are settings of its own.
func (s *Server) Standby(name string, set ...string) *Server {
	s.tb.Helper()
	t := &Server{tb: s.tb, bin: s.bin}
	var err error
	t.dir, err = os.MkdirTemp("", "pg")
	require.NoError(s.tb, err)
	s.tb.Cleanup(func() { _ = os.RemoveAll(t.dir) })
	t.unprivileged()
	out, err := t.command("pg_basebackup", "-D", t.data(), "-R", "-c", "fast", "-X", "stream", "-d", "host="+s.dir+" user=posagent application_name="+name).CombinedOutput()
	require.NoError(s.tb, err, "%s", out)
	t.settings(append([]string{"unix_socket_directories='" + t.dir + "'"}, set...))
	t.Start()
	s.tb.Cleanup(t.Crash)
	return t
}

// Promote makes a primary of a standby.
func (s *Server) Promote() {
	s.tb.Helper()
	out, err := s.command("pg_ctl", "promote", "-w", "-D", s.data()).CombinedOutput()
	require.NoError(s.tb, err, "%s", out)
}

// Copy copies what a server has that was ended, and returns what puts it back.
func (s *Server) Copy() (back func()) {
	s.tb.Helper()
	kept := filepath.Join(s.dir, "copy")
	run := func(name string, args ...string) {
		s.tb.Helper()
		out, err := s.other(name, args...).CombinedOutput()
		require.NoError(s.tb, err, "%s", out)
	}
	run("cp", "-a", s.data(), kept)
	return func() {
		s.tb.Helper()
		require.NoError(s.tb, os.RemoveAll(s.data()))
		run("cp", "-a", kept, s.data())
	}
}

// Host is where its socket is, for a URL that names several servers.
func (s *Server) Host() string { return s.dir }
