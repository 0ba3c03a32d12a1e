package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Backup takes a base backup of a running server, and makes the server keep its log from then on.
// The server has to run with archive_mode=on.
func (s *Server) Backup() error {
	if err := os.RemoveAll(s.base()); err != nil {
		return err
	}
	return errors.Join(
		run(s.other("mkdir", "-p", s.archive())), // as the server's account
		s.Set("archive_command", "cp %p "+s.archive()+"/%f"),
		run(s.command("pg_basebackup", "-D", s.base(), "-c", "fast", "-X", "stream", "--no-sync", "-d", "host="+s.dir+" user=posagent")))
}

// Restore puts the base backup in the place of what a server holds that has ended, and starts it as
// it was at a point in time: "recovery_target_time='…'", "recovery_target_lsn='…'" or
// "recovery_target_name='…'". It returns when the server takes writes.
func (s *Server) Restore(target string) error {
	rest, err := filepath.Glob(filepath.Join(s.data(), "pg_wal", "0*")) // what was not archived yet
	if err != nil {
		return err
	}
	err = run(s.other("cp", append(rest, s.archive())...))
	if err == nil {
		err = os.RemoveAll(s.data())
	}
	if err == nil {
		err = run(s.other("cp", "-a", s.base(), s.data()))
	}
	if err == nil {
		err = s.settings([]string{"restore_command='cp " + s.archive() + "/%f %p'", "recovery_target_action=promote", target})
	}
	if err == nil {
		err = run(s.other("touch", filepath.Join(s.data(), "recovery.signal")))
	}
	if err == nil {
		err = s.Start()
	}
	for until := time.Now().Add(within); err == nil; <-time.After(20 * time.Millisecond) {
		var copying []bool
		copying, err = Column[bool](s.URL(""), "SELECT pg_is_in_recovery()")
		switch {
		case err == nil && !copying[0]:
			return nil
		case err == nil && time.Now().After(until):
			err = errors.New("the server does not end its recovery")
		}
	}
	return err
}

func (s *Server) archive() string { return filepath.Join(s.dir, "archive") }

func (s *Server) base() string { return filepath.Join(s.dir, "base") }
