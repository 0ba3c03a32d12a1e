package pgserver

import (
	"errors"
	"os"
	"path/filepath"
)

// Standby makes a standby of the server and starts it. name is its application_name, by which
// synchronous_standby_names knows it; set are settings of its own.
func (s *Server) Standby(name string, set ...string) (*Server, error) {
	t, err := place()
	if err != nil {
		return nil, err
	}
	if err := t.Join(s, name, set...); err != nil {
		return nil, errors.Join(err, t.Remove())
	}
	return t, nil
}

// Join makes a server that has ended a standby of another one, and starts it. What it held is gone;
// its URL stays.
func (s *Server) Join(primary *Server, name string, set ...string) error {
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	if err := run(s.command("pg_basebackup", "-D", s.data(), "-R", "-c", "fast", "-X", "stream", "--no-sync", "-d", primary.conninfo(name))); err != nil {
		return err
	}
	return errors.Join(s.settings(set), s.Start())
}

// Follow makes a running standby copy another primary than before.
func (s *Server) Follow(primary *Server, name string) error {
	return s.Set("primary_conninfo", primary.conninfo(name))
}

func (s *Server) conninfo(name string) string {
	return "host=" + s.dir + " user=posagent application_name=" + name
}

// Promote makes a primary of a standby.
func (s *Server) Promote() error {
	return run(s.command("pg_ctl", "promote", "-w", "-D", s.data()))
}

// Copy copies what a server holds that has ended, and returns what puts it back.
func (s *Server) Copy() (back func() error, err error) {
	copied := filepath.Join(s.dir, "copy")
	return func() error {
		return errors.Join(os.RemoveAll(s.data()), run(s.other("cp", "-a", copied, s.data())))
	}, run(s.other("cp", "-a", s.data(), copied))
}
