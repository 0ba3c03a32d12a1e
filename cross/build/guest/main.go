package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	readyWithin = time.Minute // an emulated board is slow
	idleFor     = 5 * time.Second
	goalKiB     = 24 << 10
)

func main() {
	if os.Getpid() == 1 {
		board()
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "guest INIT [FILE...]: packs them for a board, to the standard output")
		os.Exit(2)
	}
	if err := pack(os.Stdout, os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

// pack writes a compressed cpio archive ("newc") with directories, the first program and what it works with.
func pack(to io.Writer, initPath string, files ...string) error {
	w := gzip.NewWriter(to)
	ino := 0
	entry := func(name string, mode int, data []byte) {
		ino++
		// magic, inode, mode, uid, gid, links, mtime, size, device and special device numbers, length of the name, checksum
		fmt.Fprintf(w, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
		fmt.Fprintf(w, "%s\x00%s", name, strings.Repeat("\x00", -(110+len(name)+1)&3))
		_, _ = w.Write(data)
		_, _ = io.WriteString(w, strings.Repeat("\x00", -len(data)&3))
	}
	for _, dir := range []string{"proc", "dev", "tmp"} {
		entry(dir, unix.S_IFDIR|0o755, nil)
	}
	for i, path := range append([]string{initPath}, files...) {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		if i == 0 {
			name = "init"
		}
		entry(name, unix.S_IFREG|0o755, data)
	}
	entry("TRAILER!!!", 0, nil)
	return w.Close()
}

// board is process 1.
func board() {
	err := measure()
	if err != nil {
		fmt.Fprintf(os.Stdout, "guest: FAILED: %v\n", err)
	} else {
		fmt.Fprintln(os.Stdout, "guest: ok")
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func measure() error {
	err := errors.Join(unix.Mount("proc", "/proc", "proc", 0, ""), unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "size=16m"))
	if e := unix.Mount("devtmpfs", "/dev", "devtmpfs", 0, ""); e != nil && !errors.Is(e, unix.EBUSY) { // some kernels do it themselves
		err = errors.Join(err, e)
	}
	err = errors.Join(err, loopback(), os.MkdirAll("/tmp/state", 0o700))
	config := "[ecr]\ntcp = \"127.0.0.1:20007\"\n[display]\nconsole = false\nfile = \"/tmp/screen.svg\"\n"
	if err = errors.Join(err, os.WriteFile("/tmp/config.toml", []byte(config), 0o600)); err != nil {
		return err
	}
	cmd := exec.Command("/posagent", "run", "--config", "/tmp/config.toml", "--state", "/tmp/state")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(out)
		line, err := lines.ReadString('\n')
		for err == nil && strings.HasPrefix(line, "not ready: ") { // the board is slow
			line, err = lines.ReadString('\n')
		}
		ready <- strings.TrimSpace(line)
		_, _ = io.Copy(io.Discard, lines)
	}()
	select {
	case line := <-ready:
		if !strings.HasPrefix(line, "ready ") {
			return fmt.Errorf("not ready: %q", line)
		}
	case <-time.After(readyWithin):
		return errors.New("not ready within a minute")
	}
	fmt.Fprintf(os.Stdout, "guest: Linux %s, %d KiB of memory in all, %d KiB of it free for programs\n", kernel(), field("/proc/meminfo", "MemTotal"), field("/proc/meminfo", "MemAvailable"))
	fmt.Fprintf(os.Stdout, "guest: ready after %d ms (told, not judged: the processor is emulated)\n", time.Since(began).Milliseconds())
	<-time.After(idleFor)
	idle := tell("idle", cmd.Process.Pid)
	if said, err := exec.Command("/posagent", "register", "pay", "12.50", "--line", "tcp:127.0.0.1:20007").CombinedOutput(); err != nil {
		return fmt.Errorf("the sale: %w\n%s", err, said)
	}
	<-time.After(idleFor)
	sold := tell("after a sale", cmd.Process.Pid)
	if idle == 0 || idle > goalKiB || sold > goalKiB {
		return fmt.Errorf("more than %d KiB", goalKiB)
	}
	return nil
}

// tell prints the memory of a process and returns what of it is resident, KiB.
func tell(when string, pid int) int64 {
	status := fmt.Sprintf("/proc/%d/status", pid)
	rss := field(status, "VmRSS")
	fmt.Fprintf(os.Stdout, "guest: %s: resident %d KiB, its own %d KiB, the rest is the binary; goal at most %d KiB\n", when, rss, field(status, "RssAnon"), goalKiB)
	return rss
}

// field reads the number behind "name:" in a file of /proc; 0 = not there.
func field(path, name string) int64 {
	data, _ := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

func kernel() string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Machine[:])
}

// loopback switches the loopback device on.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
