package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/store/postgres/pgserver"
)

// within bounds what a server is waited for.
func within() time.Duration { return 2 * need.Limit() }

// node is one PostgreSQL server. Its port and its name are the same for ever; it is primary or standby.
type node struct {
	name, dir string
	port      int
	as        *syscall.Credential
	room      int64 // bytes of the file system of its own; 0 = it has none
	settings  []string
	run       *program.Process
	said      *program.Talk
}

// newNode makes a server without data, in dir. room > 0 gives it a file system of its own of so many bytes.
func newNode(dir, name string, room int64, settings ...string) (*node, error) {
	n := &node{name: name, dir: filepath.Join(dir, name), room: room, settings: settings}
	if err := os.Mkdir(n.dir, 0o755); err != nil {
		return nil, err
	}
	if room > 0 {
		if err := unix.Mount("tmpfs", n.dir, "tmpfs", 0, fmt.Sprintf("mode=0755,size=%d", room)); err != nil {
			return nil, err
		}
	}
	if os.Getuid() == 0 { // the server refuses to be root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, errors.Join(err, n.remove())
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		n.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
		if err := errors.Join(err1, err2, os.Chown(n.dir, uid, gid)); err != nil {
			return nil, errors.Join(err, n.remove())
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, n.remove())
	}
	n.port = ln.Addr().(*net.TCPAddr).Port
	return n, ln.Close()
}

func (n *node) data() string { return filepath.Join(n.dir, "data") }

// command is a program of the server, which runs as the server does.
func (n *node) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(pgserver.Programs(), name), args...)
	cmd.Dir, cmd.Env = n.dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: n.as, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

// initialise makes the data of the first primary.
func (n *node) initialise() error {
	out, err := n.command("initdb", "-D", n.data(), "-U", "posagent", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return appendTo(filepath.Join(n.data(), "postgresql.conf"), n.settings)
}

func appendTo(path string, lines []string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

// copyOf makes the data of a standby of another server.
func (n *node) copyOf(primary *node) error {
	if err := os.RemoveAll(n.data()); err != nil {
		return err
	}
	out, err := n.command("pg_basebackup", "-D", n.data(), "-R", "-c", "fast", "-X", "stream", "--no-sync", "-d", primary.conninfo(n.name)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_basebackup of %s: %w\n%s", primary.name, err, out)
	}
	return nil
}

// conninfo is how the standby called name reaches the server.
func (n *node) conninfo(name string) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=posagent application_name=%s", n.port, name)
}

// start starts the server and returns when it answers.
func (n *node) start(ctx context.Context) error {
	cmd := n.command("postgres", "-D", n.data(), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", fmt.Sprint("port=", n.port))
	n.said = &program.Talk{}
	cmd.Stdout, cmd.Stderr = n.said, n.said
	var err error
	if n.run, err = program.Run(cmd); err != nil {
		return err
	}
	return until(ctx, within(), func() error {
		if n.ended() {
			return final{fmt.Errorf("%s has ended: %s", n.name, n.said)}
		}
		return n.exec(ctx, "SELECT 1")
	})
}

// ended says whether the server's first process is gone.
func (n *node) ended() bool {
	if n.run == nil {
		return true
	}
	select {
	case <-n.run.Dead:
		return true
	default:
		return false
	}
}

// processes are the ids of all of the server's processes, the first one first.
func (n *node) processes() (pids []int) {
	if n.ended() {
		return nil
	}
	first := n.run.Cmd.Process.Pid
	pids = []int{first}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", first)) // it may end meanwhile
	for word := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signal sends a signal to all of the server's processes.
func (n *node) signal(s syscall.Signal) {
	for _, pid := range n.processes() {
		_ = syscall.Kill(pid, s) // it may be gone
	}
}

// kill ends all of the server's processes with -9 and returns when none is left: nothing is confirmed after it.
func (n *node) kill() {
	if n.ended() {
		return
	}
	_ = syscall.Kill(n.run.Cmd.Process.Pid, syscall.SIGSTOP) // it forks no more
	pids := n.processes()
	for _, pid := range pids[1:] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = syscall.Kill(pids[0], syscall.SIGKILL)
	<-n.run.Dead
	n.forget()
	for _, pid := range pids[1:] {
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			<-time.After(time.Millisecond)
		}
	}
}

// forget removes the piece of shared memory by which a server sees that another one runs on its data: one that is copied anew does not
// take it over.
func (n *node) forget() {
	text, err := os.ReadFile(filepath.Join(n.data(), "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 7 {
		return
	}
	if words := strings.Fields(lines[6]); len(words) == 2 {
		if id, err := strconv.Atoi(words[1]); err == nil {
			_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // it may be gone
		}
	}
}

// zombie says whether a process has ended and is only not collected yet.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// connect opens a connection. The caller closes it.
func (n *node) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, n.conninfo("manager")+" dbname=postgres sslmode=disable connect_timeout=10")
}

// exec runs statements.
func (n *node) exec(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, need.Limit()/3)
	defer cancel()
	conn, err := n.connect(ctx)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, text).ReadAll()
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// number is what a query of one number reads.
func (n *node) number(ctx context.Context, query string) (out int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, need.Limit()/3)
	defer cancel()
	conn, err := n.connect(ctx)
	if err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, query).Scan(&out)
	return out, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// ballast is the file that fills the server's file system.
func (n *node) ballast() string { return filepath.Join(n.dir, "ballast") }

// fill leaves no byte free.
func (n *node) fill() error {
	f, err := os.Create(n.ballast())
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for len(block) > 0 {
		if _, err = f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block, err = block[:len(block)/2], nil
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// relieve takes the ballast away.
func (n *node) relieve() error { return os.Remove(n.ballast()) }

// remove ends the server and removes all of it.
func (n *node) remove() error {
	n.kill()
	if n.room > 0 {
		_ = unix.Unmount(n.dir, unix.MNT_DETACH) // what was not mounted is removed all the same
	}
	return os.RemoveAll(n.dir)
}

// final is an error after which there is no use in trying again.
type final struct{ error }

// until tries f until it succeeds, 20 times a second.
func until(ctx context.Context, bound time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		if stop := (final{}); errors.As(err, &stop) {
			return stop.error
		}
		if !pause(ctx, 50*time.Millisecond) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// pause waits; false = ctx has ended before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
