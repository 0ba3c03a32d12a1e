package main

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/cross/need"
	"posagent/cross/program"
)

// probing lets this binary be the command that is filtered.
const probing = "PROBING"

// TestProbe is run filtered: it says what the kernel answers.
func TestProbe(t *testing.T) {
	want := os.Getenv(probing)
	if want == "" {
		return
	}
	for family, let := range map[int]bool{unix.AF_UNIX: true, unix.AF_INET: true, unix.AF_NETLINK: true, unix.AF_PACKET: false, unix.AF_BLUETOOTH: false} {
		fd, err := unix.Socket(family, unix.SOCK_RAW, 0)
		if err == nil {
			require.NoError(t, unix.Close(fd))
		}
		if let {
			require.NotErrorIs(t, err, unix.EAFNOSUPPORT, "family %d", family)
		} else {
			require.ErrorIs(t, err, unix.EAFNOSUPPORT, "family %d", family)
		}
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, 0); want == "all" { // of @resources
		require.ErrorIs(t, err, unix.EPERM)
	} else {
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(t.TempDir(), "f"), []byte("x"), 0o600))
	require.NoError(t, exec.Command("/bin/true").Run())
}

// under is a command below the filters.
func under(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "unit")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	probe := exec.Command(path, "-families", "/bin/true")
	if out, err := probe.CombinedOutput(); err != nil {
		need.Missing(t, "seccomp filters ("+string(out)+")", "run it where the kernel lets a process filter itself")
	}
	return exec.Command(path, args...)
}

// What is let through and what is refused is what the unit says.
func TestTheFiltersAreTheUnits(t *testing.T) {
	cmd := under(t, "-families", os.Args[0], "-test.run", "^TestProbe$")
	cmd.Env = append(os.Environ(), probing+"=families")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	need.Tool(t, "systemd-analyze")
	cmd = under(t, os.Args[0], "-test.run", "^TestProbe$")
	cmd.Env = append(os.Environ(), probing+"=all")
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// The nexo line of a terminal under the unit's families has a certificate with every address that one without the unit has. The kind, each thing that the unit
// forbids and the program does, is what `make verify ONLY=unit` runs the program's packages for.
func TestField2_A8_TheUnitLetsTheAddressesBeRead(t *testing.T) {
	free := addresses(t, func(path string, args ...string) *exec.Cmd { return exec.Command(path, args...) })
	shut := addresses(t, func(path string, args ...string) *exec.Cmd {
		return under(t, append([]string{"-families", path}, args...)...)
	})
	require.Equal(t, free, shut)
	if len(free) < 3 { // loopback's two
		need.Missing(t, "an address besides loopback", "connect this machine to a network")
	}
}

// addresses are those of the certificate of a new nexo line on every network.
func addresses(t *testing.T, command func(path string, args ...string) *exec.Cmd) (list []netip.Addr) {
	t.Helper()
	dir := t.TempDir()
	config, state := filepath.Join(dir, "config.toml"), filepath.Join(dir, "s")
	require.NoError(t, os.WriteFile(config, []byte("[[ecr]]\nprotocol = \"nexo\"\ntcp = \"0.0.0.0:0\"\npoi_id = \"POSAGENT-000020000001\"\nallow = [\"127.0.0.1\"]\n"+
		"[port]\nlisten = \"127.0.0.1:0\"\n[backend]\nlisten = \"127.0.0.1:0\"\n[display]\nconsole = false\n"), 0o600))
	p, _, err := program.Start(command(program.Path(t, "posagent"), "run", "--config", config, "--state", state), "ready ")
	require.NoError(t, err)
	defer p.Kill()
	files, err := filepath.Glob(filepath.Join(state, "nexo-*.pem"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	block, _ := pem.Decode(data)
	require.NotNil(t, block)
	leaf, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	for _, ip := range leaf.IPAddresses {
		a, ok := netip.AddrFromSlice(ip)
		require.True(t, ok)
		list = append(list, a.Unmap())
	}
	return list
}
