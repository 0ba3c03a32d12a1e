package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor"
	"posagent/agent/doctor/exam"
	"posagent/cmd/usage"
)

// TestEachRemedyNamesACommandThatExists: a verb of this program with flags that it has, or a tool that every Linux system has a package of.
func TestEachRemedyNamesACommandThatExists(t *testing.T) {
	tools := strings.Fields("date timedatectl dmesg df ls ip cat getent findmnt curl fuser ss systemctl free journalctl ps swapon")
	known := map[string]usage.Row{}
	for _, r := range usageOf(commands()).Rows() {
		known[r.Path] = r
	}
	for _, c := range doctor.Checks() {
		command := strings.NewReplacer("{run}", "posagent run --config FILE --state DIR", "{flags}", " --config FILE --state DIR", "{state}", "DIR", "{host}", "HOST", "{name}", "HOST", "{device}", "DEVICE").Replace(c.Command)
		words := strings.Fields(command)
		if words[0] != "posagent" {
			require.Contains(t, tools, words[0], c.ID)
			continue
		}
		path := "posagent " + words[1]
		if len(words) > 2 && known[path+" "+words[2]].Name != "" {
			path += " " + words[2]
		}
		require.Contains(t, known, path, "%s: %s", c.ID, command)
		for _, word := range words {
			if name, is := strings.CutPrefix(word, "--"); is && name != "help" {
				has := false
				for _, f := range usage.FlagsOf(known[path].Flags) {
					has = has || f.Name == name
				}
				require.True(t, has, "%s: %s has no flag --%s", c.ID, path, name)
			}
		}
	}
}

// TestBuiltAt: the day a version names is when the program was built, at the latest.
func TestBuiltAt(t *testing.T) {
	day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for version, want := range map[string]time.Time{
		"2026.11.22-0123456789ab": day, "2026.11.22-0123456789ab+changed": day, "2026.11.22": day, "2026.11.22.235959-0123456789ab": day,
		"1.2.3": {}, "unknown": {}, "0123456789ab+changed": {}, "": {},
	} {
		require.Equal(t, want, usage.BuiltAt(version), version)
	}
}

// TestDoctorExit: configuration and journal have exit codes of their own; a warning is a failure where that is asked for.
func TestDoctorExit(t *testing.T) {
	for _, tc := range []struct {
		failed string
		status exam.Status
		strict bool
		want   int
	}{
		{"PA-NET-001", exam.Fail, false, 1}, {"PA-CFG-003", exam.Fail, false, 3}, {"PA-DB-001", exam.Fail, false, 9}, {"PA-KEY-002", exam.Fail, false, 9},
		{"PA-KEY-003", exam.Fail, false, 1}, {"PA-NET-001", exam.Warn, false, 0}, {"PA-NET-001", exam.Warn, true, 1}, {"PA-NET-001", exam.Skip, true, 0},
	} {
		err := doctorExit([]exam.Result{{ID: "PA-SYS-001", Status: exam.Pass}, {ID: tc.failed, Status: tc.status}}, tc.strict)
		if tc.want == 0 {
			require.NoError(t, err)
			continue
		}
		var coded *exit
		require.ErrorAs(t, err, &coded, tc.failed)
		require.Equal(t, tc.want, coded.Code, tc.failed)
	}
}

// TestFixFollowsNoLink: a file that bears the name of one of ours and is another one keeps its mode.
func TestFixFollowsNoLink(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("x"), 0o644))
	require.NoError(t, os.Symlink(other, filepath.Join(dir, "agent.db")))
	require.NoError(t, os.Symlink(filepath.Dir(other), filepath.Join(dir, "keys")))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(other), "device.key"), []byte("x"), 0o644))
	twice := filepath.Join(dir, "agent.db-shm")
	require.NoError(t, os.WriteFile(twice, []byte("x"), 0o644))
	require.NoError(t, os.Link(twice, filepath.Join(dir, "second name")))
	ours := filepath.Join(dir, "agent.db-wal")
	require.NoError(t, os.WriteFile(ours, []byte("x"), 0o444))
	code, _, talk := ask(t, "doctor", "--fix", "--state", dir)
	require.NotEqual(t, exitUsage, code)
	for path, want := range map[string]os.FileMode{
		other: 0o644, filepath.Join(filepath.Dir(other), "device.key"): 0o644, twice: 0o644, ours: 0o400, // no right is given, only taken
	} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), "%s\n%s", path, talk)
	}
}
