package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Package is what brings the server's programs.
const Package = "postgresql-15"

// Programs returns the folder of the newest server that is installed, "" where there is none.
func Programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is good
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

// unprivileged gives the server another account than root's, which it refuses.
func (s *Server) unprivileged() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
		return errors.Join(err1, err2, os.Chown(s.dir, uid, gid))
	}
	return errors.New("root has no account for the server: it takes postgres or nobody")
}

// settings adds lines to the server's configuration. The last line about a setting counts.
func (s *Server) settings(lines []string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command is a program of the server's.
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

// run runs a program to its end. Its error holds what the program said.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

// Stop stops all processes of a running server, so that it neither answers nor copies until
// Continue.
func (s *Server) Stop() error { return s.signal(syscall.SIGSTOP) }

// Continue continues a server that was stopped.
func (s *Server) Continue() error { return s.signal(syscall.SIGCONT) }

// signal sends a signal to the server's first process and to those that it has started.
func (s *Server) signal(sig syscall.Signal) error {
	first := s.cmd.Process.Pid
	if err := syscall.Kill(first, sig); err != nil {
		return err
	}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return err
	}
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(stat), ") ") // the name of the program may hold anything
		var state string
		var parent int
		if _, err := fmt.Sscan(after, &state, &parent); err != nil || parent != first {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}
