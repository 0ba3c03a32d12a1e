package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notRun is the exit code where the command was not started.
const notRun = 125

func main() {
	families := flag.Bool("families", false, "RestrictAddressFamilies alone")
	flag.Parse()
	if err := run(flag.Args(), *families); err != nil {
		fmt.Fprintln(os.Stderr, "unit: not run:", err)
		os.Exit(notRun)
	}
}

// run becomes the command, filtered.
func run(args []string, familiesAlone bool) error {
	if len(args) == 0 {
		return errors.New("which command?")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	root, err := goSays("list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, "cross/build/packages/files/posagent.service"))
	if err != nil {
		return err
	}
	f, err := filterOf(string(text), familiesAlone)
	if err != nil {
		return err
	}
	return f.become(path, args)
}

// filterOf makes the filter of a unit's text.
func filterOf(unit string, familiesAlone bool) (f filter, err error) {
	if f.families, err = familiesOf(unit); err != nil || familiesAlone {
		return f, err
	}
	return f, f.callsOf(unit)
}

// goSays is what the go command prints.
func goSays(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// become installs the filter on this thread and replaces the process by the command.
func (f filter) become(path string, args []string) error {
	program, err := f.program()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is the thread's, and the one that execs hands it on
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	const filtered = 2 // SECCOMP_MODE_FILTER
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, filtered, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("the kernel takes no filter: %w", err)
	}
	runtime.KeepAlive(program)
	return syscall.Exec(path, args, os.Environ())
}
