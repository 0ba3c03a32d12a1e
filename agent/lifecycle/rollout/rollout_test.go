package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// stateDir is a terminal's state directory with an enrolment.
func stateDir(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "enrolment"), 0o700))
	return dir
}

// TestHeld: a version that the fleet holds is refused with the boxes it is held for, until the fleet holds it no more.
func TestHeld(t *testing.T) {
	dir := stateDir(t)
	require.Empty(t, Held(dir, "2.0.0"), "nothing was ever held")
	require.Empty(t, Held(filepath.Join(dir, "none"), "2.0.0"), "a box without a terminal's state")
	require.NoError(t, Keep(dir, []Hold{{"2.0.0", 3, 40}, {"1.5.0", 2, 2}}))
	require.Equal(t, "3 of 40 boxes took it back", Held(dir, "2.0.0"))
	require.Equal(t, "2 of 2 boxes took it back", Held(dir, "1.5.0"))
	require.Empty(t, Held(dir, "2.0.1"))
	require.Empty(t, Held(dir, ""))
	info, err := os.Stat(holdsPath(dir))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, Keep(dir, []Hold{{"2.0.0", 3, 40}, {"1.5.0", 2, 2}}))
	again, err := os.Stat(holdsPath(dir))
	require.NoError(t, err)
	require.True(t, os.SameFile(info, again), "what is kept is not written again, every minute")
	require.NoError(t, Keep(dir, []Hold{{"1.5.0", 2, 2}}))
	require.Empty(t, Held(dir, "2.0.0"), "lifted")
	require.NoError(t, Keep(dir, nil))
	require.NoFileExists(t, holdsPath(dir))
	require.NoError(t, Keep(dir, nil))
	require.Empty(t, Held(dir, "1.5.0"))
}

// TestManyHoldsFit: as many as a fleet holds, with versions as long as they may be.
func TestManyHoldsFit(t *testing.T) {
	dir := stateDir(t)
	var list []Hold
	for i := range 50 {
		list = append(list, Hold{fmt.Sprintf("%064d", i), 1 << 30, 1 << 30})
	}
	require.NoError(t, Keep(dir, list))
	require.Equal(t, "1073741824 of 1073741824 boxes took it back", Held(dir, list[49].Version))
}

// TestWhatCannotBeReadHolds: the file is another account's. Whatever lies there is read as one short regular file, nothing of it is
// shown, and where it is no list of holds everything is held.
func TestWhatCannotBeReadHolds(t *testing.T) {
	const held = "what the fleet holds cannot be read in "
	const empty = `{"schema":"posagent.held/1","held":[],"sha256":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"}` // of []
	dir := stateDir(t)
	require.NoError(t, Keep(dir, []Hold{{"2.0.0", 3, 40}}))
	good, err := os.ReadFile(holdsPath(dir))
	require.NoError(t, err)
	for at := range good {
		for _, bit := range []byte{0x01, 0x20, 0x80} {
			spoilt := append([]byte{}, good...)
			spoilt[at] ^= bit
			require.NoError(t, os.WriteFile(holdsPath(dir), spoilt, 0o600))
			require.NotEmpty(t, Held(dir, "2.0.0"), "one spoilt byte ends no hold: %s", spoilt)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "cut off": string(good[:len(good)-3]), "another schema": `{"schema":"x/1"}`, "none": "{}", "null": "null", "secret": "s3cret",
		"long": empty + strings.Repeat(" ", maxFile),
	} {
		require.NoError(t, os.WriteFile(holdsPath(dir), []byte(text), 0o600))
		require.Equal(t, held+holdsPath(dir)+", which the terminal writes anew once its fleet answers", Held(dir, "9.9.9"), name)
	}
	require.NoError(t, os.WriteFile(holdsPath(dir), []byte(empty), 0o600))
	require.Empty(t, Held(dir, "2.0.0"), "a list of none is one")
	require.NoError(t, Keep(dir, []Hold{{"2.0.0", 3, 40}}), "the next answer mends it")
	require.Empty(t, Held(dir, "9.9.9"))

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(elsewhere, []byte(empty), 0o600))
	for name, put := range map[string]func(path string) error{
		"a link":   func(path string) error { return os.Symlink(elsewhere, path) },
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		dir := stateDir(t)
		require.NoError(t, put(holdsPath(dir)), name)
		require.Contains(t, Held(dir, "9.9.9"), held, name)
	}
}

// TestLast: how the last update ended is for everybody to read.
func TestLast(t *testing.T) {
	program := filepath.Join(t.TempDir(), "posagent")
	none, err := Last(program)
	require.NoError(t, err)
	require.Equal(t, Outcome{}, none)
	want := Outcome{Schema: "posagent.update-outcome/1", Version: "2.0.0", Reason: "it did not start", At: "2026-11-23T10:00:00Z"}
	require.NoError(t, Outcome{Version: "2.0.0", Reason: "it did not start", At: "2026-11-23T10:00:00Z"}.Leave(program))
	got, err := Last(program)
	require.NoError(t, err)
	require.Equal(t, want, got)
	info, err := os.Stat(program + ".outcome")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
	for _, bad := range []string{"", "{}", `{"version":"2.0.0"}`, "x"} {
		require.NoError(t, os.WriteFile(program+".outcome", []byte(bad), 0o600))
		_, err := Last(program)
		require.ErrorContains(t, err, "is damaged", bad)
	}
}
