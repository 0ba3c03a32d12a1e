package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// updates: the package of posagent-update brings a timer that asks nobody until there is a root, does not go while an update is on
// trial, and takes what it left with it.
func updates(t *testing.T, m *made) {
	s := newSystem(t)
	if s == nil {
		return
	}
	own := one(t, m.first, "posagent-update_*.deb")
	code, said := s.do("-i", own)
	require.NotZero(t, code, "it needs the terminal's package: %s", said)
	s.must("-i", deb(t, m.first))
	s.must("-i", own)
	for path, mode := range map[string]string{
		"usr/bin/posagent-update": "-rwxr-xr-x", "etc/posagent/update": "drwxr-xr-x", "usr/lib/systemd/system/posagent-update.service": "-rw-r--r--",
		"usr/lib/systemd/system/posagent-update.timer": "-rw-r--r--", "usr/share/posagent-update/sbom.cdx.json": "-rw-r--r--",
	} {
		info, err := os.Stat(s.at(path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().String(), path)
	}
	for _, path := range []string{
		"usr/share/man/man1/posagent-update.1.gz", "usr/share/bash-completion/completions/posagent-update",
		"usr/share/zsh/vendor-completions/_posagent_update", "usr/share/fish/vendor_completions.d/posagent-update.fish",
	} {
		info, err := os.Stat(s.at(path))
		require.NoError(t, err)
		require.Equal(t, "-rw-r--r--", info.Mode().String(), path)
	}
	code, said = ran(t, nil, "gzip", "-dc", s.at("usr/share/man/man1/posagent-update.1.gz"))
	require.Zero(t, code, said)
	require.Contains(t, said, ".SS posagent\\-update repository refresh\n")
	code, said = ran(t, nil, s.at("usr/bin/posagent-update"), "--version")
	require.Zero(t, code, said)
	require.Equal(t, "posagent-update 1.0.0\n", said)
	code, said = ran(t, nil, s.at("usr/bin/posagent-update"), "check", "--settings", s.at("etc/posagent/update"), "--program", s.program(), "--dir", s.at("tmp/updates"))
	require.Equal(t, 3, code, said)
	require.Contains(t, said, "no repository is configured")
	if enabled, err := os.Readlink(s.at("etc/systemd/system/timers.target.wants/posagent-update.timer")); os.Getenv(need.EnvRequireAll) == "1" || err == nil {
		require.NoError(t, err)
		require.Equal(t, "/usr/lib/systemd/system/posagent-update.timer", strings.TrimPrefix(enabled, s.dir))
	}

	require.NoError(t, os.WriteFile(s.at("usr/bin/posagent.trial"), nil, 0o644))
	code, said = s.do("--remove", "posagent-update")
	require.NotZero(t, code, said)
	require.Contains(t, said, "an update is on trial")
	require.NoError(t, os.Remove(s.at("usr/bin/posagent.trial")))
	for _, name := range []string{"usr/bin/posagent.previous", "usr/bin/posagent.outcome", "var/lib/posagent-update/record.json"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(s.at(name)), 0o755))
		require.NoError(t, os.WriteFile(s.at(name), nil, 0o644))
	}
	s.must("--purge", "posagent-update")
	for _, name := range []string{"usr/bin/posagent.previous", "usr/bin/posagent.outcome", "var/lib/posagent-update", "usr/bin/posagent-update"} {
		require.NoFileExists(t, s.at(name))
		require.NoDirExists(t, s.at(name))
	}
	require.FileExists(t, s.program())

	analyze := need.Tool(t, "systemd-analyze")
	tree := t.TempDir()
	for _, path := range []string{deb(t, m.first), own} {
		code, said = ran(t, nil, "dpkg-deb", "-x", path, tree)
		require.Zero(t, code, said)
	}
	units := filepath.Join(tree, "usr/lib/systemd/system")
	for _, name := range []string{"sysinit", "basic", "network", "network-online", "multi-user", "timers", "time-sync", "time-set", "shutdown", "umount"} {
		text := "[Unit]\nDescription=a stand-in\nDefaultDependencies=no\n"
		require.NoError(t, os.WriteFile(filepath.Join(units, name+".target"), []byte(text), 0o644))
	}
	code, said = ran(t, nil, analyze, "verify", "--man=no", "--root="+tree, "posagent-update.service", "posagent-update.timer")
	require.Zero(t, code, said)
	require.Empty(t, said)
	code, said = ran(t, nil, analyze, "security", "--offline=true", "--threshold=40", "--no-pager", filepath.Join(units, "posagent-update.service"))
	require.Zero(t, code, said)
	t.Log(regexp.MustCompile(`Overall exposure.*`).FindString(said))
}
