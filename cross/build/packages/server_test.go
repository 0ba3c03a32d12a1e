package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/program"
)

// servers: the package of posagent-backend has what the terminal's has: the list of what is inside, the licences, man page, completions.
func servers(t *testing.T, m *made) {
	if !here().server() { // it is packed for servers alone
		list, err := filepath.Glob(filepath.Join(m.first, "posagent-backend_*"))
		require.NoError(t, err)
		require.Empty(t, list)
		return
	}
	s := newSystem(t)
	if s == nil {
		return
	}
	s.must("-i", one(t, m.first, "posagent-backend_*.deb"))
	for path, mode := range map[string]string{
		"usr/bin/posagent-backend": "-rwxr-xr-x", "usr/share/posagent-backend/sbom.cdx.json": "-rw-r--r--",
		"usr/share/doc/posagent-backend/copyright": "-rw-r--r--", "usr/share/doc/posagent-backend/changelog.gz": "-rw-r--r--",
		"usr/share/doc/posagent-backend/README.md": "-rw-r--r--", "usr/share/doc/posagent-backend/grafana.json": "-rw-r--r--",
		"usr/share/man/man1/posagent-backend.1.gz": "-rw-r--r--", "usr/share/bash-completion/completions/posagent-backend": "-rw-r--r--",
		"usr/share/zsh/vendor-completions/_posagent_backend": "-rw-r--r--", "usr/share/fish/vendor_completions.d/posagent-backend.fish": "-rw-r--r--",
	} {
		info, err := os.Stat(s.at(path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().String(), path)
	}
	require.Equal(t, read(t, one(t, m.first, "posagent-backend_*.cdx.json")), read(t, s.at("usr/share/posagent-backend/sbom.cdx.json")), "the same stands beside the package")
	tells(t, s.at("usr/bin/posagent-backend"), s.at("usr/share/posagent-backend/sbom.cdx.json"), s.at("usr/share/doc/posagent-backend/copyright"))
	code, said := ran(t, nil, s.at("usr/bin/posagent-backend"), "--version")
	require.Zero(t, code, said)
	require.Contains(t, said, "1.0.0")
	s.must("--purge", "posagent-backend")
	require.NoFileExists(t, s.at("usr/bin/posagent-backend"))
}

// tells wants every module that a binary was linked of, by what the Go tool says of it, in its list and among its licences.
func tells(t *testing.T, binary, list, licences string) {
	t.Helper()
	code, said := ran(t, nil, "go", "version", "-m", binary)
	require.Zero(t, code, said)
	var inside struct {
		Components []struct{ Name, Version string }
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, list)), &inside))
	have := map[string]bool{}
	for _, c := range inside.Components {
		have[c.Name+" "+c.Version] = true
	}
	deps := 0
	for line := range strings.SplitSeq(said, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "dep" {
			continue
		}
		deps++
		require.True(t, have[f[1]+" "+f[2]], "%s has no %s %s", list, f[1], f[2])
		require.Contains(t, read(t, licences), "==== "+f[1]+" "+f[2]+": ")
	}
	require.Greater(t, deps, 5)
	require.Contains(t, read(t, licences), "==== go1.")
}

// TestField2_G7EachProgramTellsWhatIsInside: of each program that is given away, with a package or without one, the folder in which it is
// made has the list of what is inside and the licences. The kind: terminal, updater, backend.
func TestField2_G7EachProgramTellsWhatIsInside(t *testing.T) {
	t.Setenv("VERSION", "1.0.0")
	t.Setenv("SOURCE_DATE_EPOCH", "1795000000")
	dir := t.TempDir()
	t.Chdir("../../..")
	args := []string{"about"}
	programs := []string{"posagent", "posagent-update", "posagent-backend"}
	for _, name := range programs {
		data, err := os.ReadFile(program.Path(t, name))
		require.NoError(t, err)
		args = append(args, filepath.Join(dir, name))
		require.NoError(t, os.WriteFile(args[len(args)-1], data, 0o755))
	}
	require.NoError(t, run(args, os.Stderr))
	for _, name := range programs {
		path := filepath.Join(dir, name)
		tells(t, path, path+".cdx.json", path+".copyright")
	}
	require.ErrorContains(t, run([]string{"about", "Makefile"}, os.Stderr), "could not read Go build info")
}
