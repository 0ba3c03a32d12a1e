package need

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// The environment of a run.
const (
	EnvNotRun     = "NOT_RUN"     // file that collects what was not run; "" = it is not collected
	EnvRequireAll = "REQUIRE_ALL" // "1" turns each missing tool into a failure
)

// debian names the package that brings a program, where the two names differ.
func debian(tool string) string {
	switch tool {
	case "zbarimg":
		return "zbar-tools"
	case "qemu-arm-static", "qemu-aarch64-static", "qemu-i386-static":
		return "qemu-user-static"
	case "php":
		return "php-cli"
	case "systemd-analyze":
		return "systemd"
	case "dpkg-deb":
		return "dpkg"
	case "mcs":
		return "mono-mcs"
	case "mono":
		return "mono-runtime libmono-system-net-http4.0-cil libmono-system-runtime-serialization4.0-cil"
	case "rsvg-convert":
		return "librsvg2-bin"
	}
	return tool
}

// Tool returns the path of a program. It skips the test with -short and where the program is not installed; under
// REQUIRE_ALL=1 a missing program fails the test.
func Tool(t testing.TB, name string) string {
	t.Helper()
	Verify(t, "uses "+name)
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name, "apt-get install "+debian(name))
	}
	return path
}

// Verify skips the test with -short: make test leaves it to make verify, for the reason given.
func Verify(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("left to make verify: %s", why)
	}
}

// Size is how much of something a test does: short in make test, full in make verify.
func Size(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}

// Missing skips the test for want of what, says how to get it, and notes it in the list of what was not run. It fails the
// test under REQUIRE_ALL=1. For needs that are not a program (root, a network).
func Missing(t testing.TB, what, how string) {
	t.Helper()
	if os.Getenv(EnvRequireAll) == "1" {
		t.Fatalf("needs %s (%s)", what, how)
	}
	if list := os.Getenv(EnvNotRun); list != "" {
		if err := note(list, fmt.Sprintf("not run: %s needs %s (install: %s)\n", t.Name(), what, how)); err != nil {
			t.Fatalf("note what was not run: %v", err)
		}
	}
	t.Skipf("needs %s (%s)", what, how)
}

func note(list, line string) error {
	f, err := os.OpenFile(list, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// Ports returns n TCP ports of the loopback address that are free now, for programs that are started again
// at the same address. They lie below the range from which the kernel takes the ports of outgoing connections, so
// that no client of another test takes one in between, and are no other test's until this one ends. It fails the
// test when it finds none.
func Ports(t testing.TB, n int) []string {
	t.Helper()
	var ports []string
	for range 1000 {
		if len(ports) == n {
			return ports
		}
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			continue
		}
		taken, err := net.Listen("unix", "@posagent test port "+port) // tests of all processes see the name
		if err != nil {
			_ = ln.Close()
			continue
		}
		t.Cleanup(func() { _ = taken.Close() })
		defer ln.Close() // held until all are found: no port twice
		ports = append(ports, port)
	}
	t.Fatalf("found %d free ports of %d", len(ports), n)
	return nil
}
