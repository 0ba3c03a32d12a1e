package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// system is a directory that dpkg installs into, as into a machine of its own.
type system struct {
	t    *testing.T
	dir  string
	dpkg []string
}

// newSystem returns an empty system; nil where a tool is missing.
func newSystem(t *testing.T) *system {
	t.Helper()
	s := &system{t: t, dir: t.TempDir()}
	dpkg := need.Tool(t, "dpkg")
	s.dpkg = []string{dpkg}
	if os.Geteuid() != 0 {
		fakeroot := need.Tool(t, "fakeroot")
		s.dpkg = []string{fakeroot, dpkg}
	}
	for _, name := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "etc", "tmp"} {
		require.NoError(t, os.MkdirAll(s.at(name), 0o755))
	}
	for _, name := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
		require.NoError(t, os.WriteFile(s.at(name), nil, 0o644))
	}
	return s
}

func (s *system) at(name string) string { return filepath.Join(s.dir, name) }
func (s *system) state() string         { return s.at("var/lib/posagent") }
func (s *system) program() string       { return s.at("usr/bin/posagent") }

// do runs dpkg on the system.
func (s *system) do(args ...string) (code int, said string) {
	s.t.Helper()
	all := append(append([]string{}, s.dpkg[1:]...), "--root="+s.dir, "--force-script-chrootless", "--force-unsafe-io", "--log="+s.at("dpkg.log"))
	path := "PATH=" + os.Getenv("PATH") + ":/usr/local/sbin:/usr/sbin:/sbin"
	return ran(s.t, []string{path, "LC_ALL=C"}, s.dpkg[0], append(all, args...)...)
}

// must is do for what has to succeed.
func (s *system) must(args ...string) string {
	s.t.Helper()
	code, said := s.do(args...)
	require.Zero(s.t, code, "dpkg %v: %s", args, said)
	return said
}

// status returns what dpkg says of the package: wanted, and what is.
func (s *system) status() string {
	s.t.Helper()
	said := read(s.t, s.at("var/lib/dpkg/status"))
	m := regexp.MustCompile(`(?m)^Package: posagent\n(?:.*\n)*?Status: (.*)$`).FindStringSubmatch(said)
	if m == nil {
		return "none"
	}
	return m[1]
}

// account is the number of the terminal's account, which is that of its group too.
func (s *system) account() string {
	s.t.Helper()
	user := regexp.MustCompile(`(?m)^posagent:[^:]*:(\d+):(\d+):[^:]*:/var/lib/posagent:(/usr)?/s?bin/nologin$`).FindStringSubmatch(read(s.t, s.at("etc/passwd")))
	require.NotNil(s.t, user, read(s.t, s.at("etc/passwd")))
	require.Equal(s.t, user[1], user[2])
	return user[1]
}

// sold returns a state directory with one settled sale, and one with a second sale that is open.
func sold(t *testing.T, m *made) (settled, open string) {
	t.Helper()
	settled, open = filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "s")
	sells(t, m.older, settled, false)
	sells(t, m.older, open, true)
	code, said := ran(t, nil, m.older, "journal", "pending", "--state", open)
	require.Equal(t, 6, code, said)
	return settled, open
}

// destroys are words that a refusal must not lead to.
var destroys = regexp.MustCompile(`(?i)\b(reset|rm|delete|erase|--force\S*|restore)\b`)

// TestPackages makes the packages of two versions and plays the life of each.
func TestPackages(t *testing.T) {
	need.Verify(t, "makes packages of two versions")
	m := makeAll(t)
	if m == nil {
		return
	}
	settled, open := sold(t, m)
	t.Run("two directories give the same bytes", func(t *testing.T) { sameBytes(t, m) })
	t.Run("install", func(t *testing.T) { install(t, m) })
	t.Run("upgrade and downgrade keep everything", func(t *testing.T) { upgrade(t, m, settled, open) })
	t.Run("remove and purge", func(t *testing.T) { remove(t, m, settled, open) })
	t.Run("updates", func(t *testing.T) { updates(t, m) })
	t.Run("server", func(t *testing.T) { servers(t, m) })
	t.Run("the unit", func(t *testing.T) { unit(t, m) })
	t.Run("system calls", func(t *testing.T) { systemCalls(t, m) })
	t.Run("OpenWrt", func(t *testing.T) { openWrt(t, m, settled, open) })
	t.Run("what is inside", func(t *testing.T) { inside(t, m) })
	t.Run("how it was built", func(t *testing.T) { built(t, m) })
}

// sameBytes compares the two folders that were made of the same version.
func sameBytes(t *testing.T, m *made) {
	list, err := os.ReadDir(m.first)
	require.NoError(t, err)
	require.Len(t, list, 10, "deb, ipk, list of what is inside, each of the terminal and of the updater; deb and list of the backend; manifest, provenance")
	for _, f := range list {
		require.Equal(t, read(t, filepath.Join(m.first, f.Name())), read(t, filepath.Join(m.again, f.Name())), f.Name())
	}
	require.NotContains(t, read(t, m.older), filepath.Dir(filepath.Dir(m.first)), "no path of the build")
}

// install: account, modes, a configuration that is valid, and no terminal that runs or would.
func install(t *testing.T, m *made) {
	s := newSystem(t)
	if s == nil {
		return
	}
	said := s.must("-i", deb(t, m.first))
	require.Contains(t, said, "posagent: enrol this terminal: posagent enroll CODE --url URL, with the code of the operator (or fill in /etc/posagent/config.toml, then: posagent config check); posagent status")
	require.Equal(t, "install ok installed", s.status())
	user := s.account()
	require.Regexp(t, `(?m)^dialout:[^:]*:\d+:posagent$`, read(t, s.at("etc/group")))
	for _, want := range []struct {
		path, mode string
		own        bool // by the account
	}{
		{"usr/bin/posagent", "-rwxr-xr-x", false},
		{"etc/posagent", "drwxr-x---", false},
		{"etc/posagent/config.toml", "-rw-r-----", false},
		{"var/lib/posagent", "drwx------", true},
		{"usr/lib/systemd/system/posagent.service", "-rw-r--r--", false},
		{"usr/lib/udev/rules.d/61-posagent.rules", "-rw-r--r--", false},
		{"usr/share/man/man1/posagent.1.gz", "-rw-r--r--", false},
		{"usr/share/bash-completion/completions/posagent", "-rw-r--r--", false},
		{"usr/share/zsh/vendor-completions/_posagent", "-rw-r--r--", false},
		{"usr/share/fish/vendor_completions.d/posagent.fish", "-rw-r--r--", false},
		{"usr/share/posagent/openapi.json", "-rw-r--r--", false},
		{"usr/share/posagent/sbom.cdx.json", "-rw-r--r--", false},
		{"usr/share/doc/posagent/changelog.gz", "-rw-r--r--", false},
		{"usr/share/doc/posagent/copyright", "-rw-r--r--", false},
		{"usr/share/doc/posagent/visit.txt", "-rw-r--r--", false},
	} {
		info, err := os.Stat(s.at(want.path))
		require.NoError(t, err)
		require.Equal(t, want.mode, info.Mode().String(), want.path)
		if os.Geteuid() == 0 {
			st := info.Sys().(*syscall.Stat_t)
			require.Equal(t, want.own, fmt.Sprint(st.Uid) == user, want.path)
			require.Equal(t, want.own || strings.HasPrefix(want.path, "etc/posagent"), fmt.Sprint(st.Gid) == user, want.path)
		}
	}
	if enabled, err := os.Readlink(s.at("etc/systemd/system/multi-user.target.wants/posagent.service")); os.Getenv(need.EnvRequireAll) == "1" || err == nil {
		require.NoError(t, err)
		require.Equal(t, "/usr/lib/systemd/system/posagent.service", strings.TrimPrefix(enabled, s.dir))
	}
	left, err := os.ReadDir(s.state())
	require.NoError(t, err)
	require.Empty(t, left, "no terminal has run")

	require.Equal(t, read(t, "../../../cmd/posagent/visit.txt"), read(t, s.at("usr/share/doc/posagent/visit.txt")))

	config := s.at("etc/posagent/config.toml")
	_, example := ran(t, nil, m.older, "config", "example")
	require.Equal(t, example, read(t, config))
	code, said := ran(t, nil, s.program(), "config", "check", "--config", config)
	require.Zero(t, code, said)
	var owner syscall.Stat_t
	require.NoError(t, syscall.Stat(s.state(), &owner))
	require.NoError(t, os.Chown(s.state(), os.Geteuid(), os.Getegid()), "root runs no terminal in the account's directory")
	require.Contains(t, waiting(t, s.program(), "run", "--no-sandbox", "--config", config, "--state", s.state()), "not ready: the terminal is not enrolled, and no [upstream] is set: posagent enroll ")
	require.NoFileExists(t, filepath.Join(s.state(), "agent.db"))
	require.NoError(t, os.Chown(s.state(), int(owner.Uid), int(owner.Gid)))

	require.Regexp(t, `"openapi": ?"3\.`, read(t, s.at("usr/share/posagent/openapi.json")))
	require.Contains(t, read(t, s.at("usr/share/posagent/openapi.json")), "http://127.0.0.1:8480")
	for _, name := range []string{"==== go1.", "==== modernc.org/sqlite v", "==== github.com/hashicorp/go-retryablehttp v", "==== the letters of the screen: LICENSE"} {
		require.Contains(t, read(t, s.at("usr/share/doc/posagent/copyright")), name)
	}
	s.must("--purge", "posagent")
	require.Equal(t, "none", s.status(), "nothing was there to lose")
	require.NoDirExists(t, s.state())
}

// upgrade, with a sale that is open, and back to a program that knows less.
func upgrade(t *testing.T, m *made, settled, open string) {
	s := newSystem(t)
	if s == nil {
		return
	}
	s.must("-i", deb(t, m.first))
	config := s.at("etc/posagent/config.toml")
	text := strings.Replace(read(t, config), "\n[upstream]\n", "\n[upstream]\nbase = \"https://backend.example\"\n", 1)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o640))
	require.NoError(t, os.WriteFile(s.at("etc/posagent/secret"), []byte("s"), 0o600))
	replace(t, open, s.state())
	before := journal(t, s.state())

	s.must("-i", deb(t, m.second))
	require.Equal(t, "install ok installed", s.status())
	code, said := ran(t, nil, s.program(), "--version")
	require.Zero(t, code, said)
	require.Contains(t, said, "2.0.0")
	require.Equal(t, text, read(t, config), "the shop's configuration")
	require.Equal(t, before, journal(t, s.state()))

	said = s.must("-i", deb(t, m.first))
	require.NotContains(t, said, "newer posagent", "no newer program has run yet")
	require.Equal(t, before, journal(t, s.state()))

	s.must("-i", deb(t, m.second))
	replace(t, settled, s.state())
	sells(t, s.program(), s.state(), false) // which brings the journal up to date
	before = journal(t, s.state())
	said = s.must("-i", deb(t, m.first))
	require.Contains(t, said, "a newer posagent wrote this journal")
	require.Contains(t, said, "the terminal does not sell until")
	require.Contains(t, said, "a newer version is installed again: 2.0.0 was installed before")
	require.NotRegexp(t, destroys, regexp.MustCompile(`(?m)^posagent: .*$`).FindAllString(said, -1))
	require.Equal(t, before, journal(t, s.state()))
	code, said = ran(t, nil, s.program(), "run", "--config", sandboxFile(t), "--state", s.state())
	require.Equal(t, 6, code, said)
	require.Contains(t, said, "install that program; the journal is whole")
	code, said = s.do("--purge", "posagent")
	require.NotZero(t, code, "what is open in a newer journal is not known")
	require.Contains(t, said, "not removed")
	require.Equal(t, before, journal(t, s.state()))

	said = s.must("-i", deb(t, m.second))
	require.NotContains(t, said, "newer posagent")
	sells(t, s.program(), s.state(), false)
	require.Equal(t, text, read(t, config))
	require.Equal(t, "s", read(t, s.at("etc/posagent/secret")))
}

// remove and purge, with and without money pending.
func remove(t *testing.T, m *made, settled, open string) {
	s := newSystem(t)
	if s == nil {
		return
	}
	refused := func(verb string) {
		t.Helper()
		before := journal(t, s.state())
		code, said := s.do(verb, "posagent")
		require.NotZero(t, code, "%s: %s", verb, said)
		require.Contains(t, said, "money is pending here: 1 sale(s)")
		require.Contains(t, said, "systemctl start posagent; posagent status")
		require.Contains(t, said, "posagent ops list --open")
		require.NotRegexp(t, destroys, regexp.MustCompile(`(?m)^posagent: .*$`).FindAllString(said, -1))
		require.Regexp(t, ` ok installed$`, s.status(), verb)
		require.FileExists(t, s.program())
		require.Equal(t, before, journal(t, s.state()))
	}
	s.must("-i", deb(t, m.first))
	replace(t, open, s.state())
	account := s.account()
	if os.Geteuid() == 0 { // as the service leaves it; root, who asks, must not leave files that it may not write
		code, said := ran(t, nil, "chown", "-R", account, s.state())
		require.Zero(t, code, said)
	}
	refused("--remove")
	refused("--purge")
	if os.Geteuid() == 0 {
		require.NoError(t, filepath.Walk(s.state(), func(path string, info os.FileInfo, err error) error {
			require.NoError(t, err)
			require.Equal(t, account, fmt.Sprint(info.Sys().(*syscall.Stat_t).Uid), path)
			return nil
		}))
	}

	// A program that cannot be asked is no answer.
	replace(t, settled, s.state())
	sound := read(t, s.program())
	require.NoError(t, os.WriteFile(s.program(), []byte("no program"), 0o755))
	code, said := s.do("--purge", "posagent")
	require.NotZero(t, code, said)
	require.Contains(t, said, "whether it is could not be told")
	require.NoError(t, os.WriteFile(s.program(), []byte(sound), 0o755))

	// Removed, everything of the shop is still there, and goes on.
	require.NoError(t, os.WriteFile(s.at("etc/posagent/secret"), []byte("s"), 0o600))
	before := journal(t, s.state())
	s.must("--remove", "posagent")
	require.Equal(t, "deinstall ok config-files", s.status())
	require.NoFileExists(t, s.program())
	require.FileExists(t, s.at("etc/posagent/config.toml"))
	require.Equal(t, before, journal(t, s.state()))
	s.must("-i", deb(t, m.first))
	sells(t, s.program(), s.state(), false)

	// Removed while nothing was pending: a purge deletes that very journal alone.
	s.must("--remove", "posagent")
	kept := filepath.Join(t.TempDir(), "kept")
	replace(t, s.state(), kept)
	replace(t, open, s.state())
	before = journal(t, s.state())
	code, said = s.do("--purge", "posagent")
	require.NotZero(t, code, said)
	require.Contains(t, said, "install the package again, then posagent journal pending")
	require.Equal(t, before, journal(t, s.state()))
	data, err := os.ReadFile(filepath.Join(kept, "settled"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s.state(), "settled"), data, 0o600))
	code, said = s.do("--purge", "posagent")
	require.NotZero(t, code, "what was settled was another journal: %s", said)
	require.Equal(t, before, journal(t, s.state()))
	replace(t, kept, s.state())
	s.must("--purge", "posagent")
	require.Equal(t, "none", s.status())
	require.NoDirExists(t, s.state())
	require.NoFileExists(t, s.at("etc/posagent/config.toml"))
	require.Equal(t, "s", read(t, s.at("etc/posagent/secret")), "a person's own file")

	// At once.
	s.must("-i", deb(t, m.first))
	replace(t, settled, s.state())
	s.must("--purge", "posagent")
	require.NoDirExists(t, s.state())
}
