package doctor

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is one of the box.
type process struct {
	pid  int
	name string
}

func (p process) String() string { return fmt.Sprintf("process %d (%s)", p.pid, p.name) }

// pids lists the processes that /proc shows.
func pids(proc string) (list []int) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// holders lists the processes that have a file open. Another user's are seen by root alone.
func holders(proc, file string) (list []process) {
	if file == "" {
		return nil
	}
	for _, pid := range pids(proc) {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		open, err := os.ReadDir(filepath.Join(dir, "fd"))
		if err != nil {
			continue
		}
		for _, fd := range open {
			if to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && to == file {
				list = append(list, process{pid, nameOf(dir)})
				break
			}
		}
	}
	return list
}

// nameOf is a process's own name, "" where it is gone.
func nameOf(dir string) string {
	name, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// Listener says whether a socket listens at an address, and which process has it, where that can be seen.
func Listener(proc, address string) (taken bool, by string) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return false, ""
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil || port == 0 {
		return false, ""
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	want, _ := netip.ParseAddr(host) // none = all
	for _, table := range []string{"net/tcp", "net/tcp6"} {
		for _, s := range listening(filepath.Join(proc, table)) {
			if uint64(s.at.Port()) != port {
				continue
			}
			if has := s.at.Addr(); want.IsValid() && !want.IsUnspecified() && !has.IsUnspecified() && has != want {
				continue
			}
			for _, p := range holders(proc, "socket:["+s.inode+"]") {
				return true, p.String()
			}
			return true, ""
		}
	}
	return false, ""
}

type socket struct {
	at    netip.AddrPort
	inode string
}

// listening reads the listening sockets out of a table of the kernel.
func listening(path string) (list []socket) {
	for line := range lines(path) {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[3] != "0A" {
			continue
		}
		if at, ok := hexAddress(fields[1]); ok {
			list = append(list, socket{at, fields[9]})
		}
	}
	return list
}

// lines reads a file of the kernel line by line. One that cannot be read has none.
func lines(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		file, err := os.Open(path)
		if err != nil {
			return
		}
		defer file.Close()
		for s := bufio.NewScanner(file); s.Scan() && yield(s.Text()); {
		}
	}
}

// hexAddress reads an address as the kernel writes it: words of four bytes, each in the order of the machine. All machines that this
// program is built for have the low byte first.
func hexAddress(text string) (netip.AddrPort, bool) {
	host, service, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	port, perr := strconv.ParseUint(service, 16, 16)
	if err != nil || perr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), ok
}

// twins lists other processes that run a terminal with the same configuration file or state directory.
func twins(proc string, owner, mine int, config, state string) (list []process) {
	for _, pid := range pids(proc) {
		if pid == owner || pid == mine {
			continue
		}
		dir := filepath.Join(proc, strconv.Itoa(pid))
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if len(args) < 2 || !strings.HasPrefix(filepath.Base(args[0]), "posagent") || !slices.Contains(args, "run") {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd")) // unknown of another user's: its names are absolute in a unit
		if named(args, "config", cwd) == config && config != "" || named(args, "state", cwd) == state && state != "" {
			list = append(list, process{pid, "posagent run"})
		}
	}
	return list
}

// named is the path that a flag gives, absolute; "" where the flag is not there.
func named(args []string, flag, cwd string) string {
	for i, a := range args {
		name, value, with := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name != flag || !strings.HasPrefix(a, "-") {
			continue
		}
		if !with && i+1 < len(args) {
			value = args[i+1]
		}
		if value != "" && !filepath.IsAbs(value) {
			value = filepath.Join(cwd, value)
		}
		return filepath.Clean(value)
	}
	return ""
}
