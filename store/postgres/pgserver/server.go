package pgserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// within bounds the start and the end of a server, and each question to one.
const within = time.Minute

// Server is one server.
type Server struct {
	bin   string // the folder of its programs
	dir   string // of its data and its socket
	as    *syscall.Credential
	cmd   *exec.Cmd
	ended chan struct{}
	said  *bytes.Buffer
}

// Start makes a server and starts it. set are settings such as "max_connections=50"; fsync is on.
// Remove ends it.
func Start(set ...string) (*Server, error) {
	s, err := place()
	if err != nil {
		return nil, err
	}
	err = run(s.command("initdb", "-D", s.data(), "-U", "posagent", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"))
	if err == nil {
		err = s.settings(append([]string{"listen_addresses=''", "max_connections=100", "shared_buffers=32MB"}, set...))
	}
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// place makes the directory of a server that has no data yet.
func place() (*Server, error) {
	s := &Server{bin: Programs()}
	if s.bin == "" {
		return nil, errors.New("PostgreSQL is not installed: apt-get install " + Package)
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // a socket's path is short
		return nil, err
	}
	if err := s.unprivileged(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Start starts a server that has ended, and waits until it answers.
func (s *Server) Start() error {
	s.cmd = s.command("postgres", "-D", s.data(), "-c", "unix_socket_directories="+s.dir)
	s.ended, s.said = make(chan struct{}), &bytes.Buffer{}
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
	if err := <-started; err != nil {
		return err
	}
	for until := time.Now().Add(within); ; {
		err := s.Exec("", "")
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the server has ended: %s", s.said)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(until) {
			s.Crash() // so that what it said is whole
			return fmt.Errorf("the server does not answer: %w\n%s", err, s.said)
		}
	}
}

// Crash ends the server at once, as a crash does: it recovers from its log when it is started again.
// A server that has ended stays so.
func (s *Server) Crash() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.Continue() // one that was stopped hears nothing
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-s.ended:
	case <-time.After(within):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// Remove ends the server and removes its directory.
func (s *Server) Remove() error {
	s.Crash()
	return os.RemoveAll(s.dir)
}

// URL leads to a schema of the server; "" = the default one.
func (s *Server) URL(schema string) string {
	url := "postgres://posagent@/postgres?host=" + s.dir
	if schema != "" {
		url += "&search_path=" + schema
	}
	return url
}

// Host is where its socket is, for a URL that names several servers.
func (s *Server) Host() string { return s.dir }

// Socket is where the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }
