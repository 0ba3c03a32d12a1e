package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/store"
)

// What a unit is started with is read as systemd shows it; where it does not say which state directory that is, no answer is guessed.
func TestWhatAUnitIsStartedWith(t *testing.T) {
	file := filepath.Join(t.TempDir(), "posagent.env")
	require.NoError(t, os.WriteFile(file, []byte("# settings\nPOSAGENT_STATE=\"/data/of env\"\nOTHER=1\n"), 0o600))
	start := func(argv string) string {
		return "ExecStart={ path=/usr/bin/posagent ; argv[]=" + argv + " ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 }\nLoadState=loaded\n"
	}
	for name, c := range map[string]struct {
		shown string
		want  unitSettings
		err   string
	}{
		"as installed": {shown: "Environment=GOMEMLIMIT=100MiB\n" + start("/usr/bin/posagent run --no-sandbox")},
		"a flag": {
			shown: start("/usr/bin/posagent run --no-sandbox --state /data/posagent --config=/data/c.toml"),
			want:  unitSettings{state: "/data/posagent", config: "/data/c.toml"},
		},
		"a quoted flag": {shown: start(`/usr/bin/posagent run --state "/data/my dir"`), want: unitSettings{state: "/data/my dir"}},
		"a variable": {
			shown: "Environment=GOMEMLIMIT=100MiB \"POSAGENT_STATE=/data/my dir\" POSAGENT_STORE_MARK=/media/m\n" + start("/usr/bin/posagent run"),
			want:  unitSettings{state: "/data/my dir", env: []string{"POSAGENT_STATE=/data/my dir", "POSAGENT_STORE_MARK=/media/m"}},
		},
		"a file of variables": {
			shown: "EnvironmentFiles=" + file + " (ignore_errors=yes)\n" + start("/usr/bin/posagent run"),
			want:  unitSettings{state: "/data/of env", env: []string{"POSAGENT_STATE=/data/of env"}},
		},
		"a flag over a variable": {
			shown: "Environment=POSAGENT_STATE=/one\n" + start("/usr/bin/posagent run --state /two"),
			want:  unitSettings{state: "/two", env: []string{"POSAGENT_STATE=/one"}},
		},
		"a relative one": {shown: start("/usr/bin/posagent run --state data"), want: unitSettings{state: "/data"}},
		"a script":       {shown: start("/usr/local/bin/start-terminal"), err: "which is not posagent run"},
		"not expanded":   {shown: start("/usr/bin/posagent run --state ${DATA}"), err: "its --state is ${DATA}"},
		"two":            {shown: start("/usr/bin/posagent run") + start("/usr/bin/posagent run"), err: "it starts 2 programs"},
		"none":           {shown: "LoadState=loaded\n", err: "it starts 0 programs"},
	} {
		s, there, err := readUnit(c.shown)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.True(t, there, name)
		require.Equal(t, c.want, s, name)
	}
	_, there, err := readUnit("LoadState=not-found\nExecStart=\n")
	require.NoError(t, err)
	require.False(t, there)
}

// A journal that was put back from an earlier time together with its mark is told by the mark on another medium. A link to nothing, a
// pipe, and a configuration that cannot be read beside a journal are no "nothing is pending", and nothing of it is waited for.
func TestPendingIsNotMisled(t *testing.T) {
	dir := t.TempDir()
	state, other, file := filepath.Join(dir, "s"), filepath.Join(dir, "other.mark"), filepath.Join(dir, "c.toml")
	require.NoError(t, os.WriteFile(file, []byte("[store]\nmark = \""+other+"\"\n"), 0o600))
	begin := func() {
		c := callOn(t, state)
		c.config = file
		keys, err := openKeys(c)
		require.NoError(t, err)
		db, err := openJournal(t.Context(), c, keys, logger(c), "")
		require.NoError(t, err)
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.Exec("CREATE TABLE IF NOT EXISTS x (id INTEGER) STRICT")
			return err
		}))
		require.NoError(t, db.Close())
	}
	pending := func() (int, string) {
		code, out, talk := ask(t, "journal", "pending", "--state", state, "--config", file)
		return code, out + talk
	}
	begin()
	code, said := pending()
	require.Equal(t, exitOK, code, said)
	old := map[string][]byte{}
	for _, name := range []string{"agent.db", "agent.db.mark"} {
		data, err := os.ReadFile(filepath.Join(state, name))
		require.NoError(t, err)
		old[name] = data
	}
	begin()
	for name, data := range old {
		require.NoError(t, os.WriteFile(filepath.Join(state, name), data, 0o600))
	}
	_ = os.Remove(filepath.Join(state, "agent.db-wal"))
	code, said = pending()
	require.Equal(t, exitDamaged, code, said)
	require.Contains(t, said, "commit")

	require.NoError(t, os.RemoveAll(state))
	code, said = pending()
	require.Equal(t, exitDamaged, code, "the whole directory is gone: %s", said)
	require.NoError(t, os.Rename(other, other+".away"))
	code, said = pending()
	require.Equal(t, exitOK, code, said)
	require.Contains(t, said, "the mark of [store] mark cannot be looked at")

	require.NoError(t, os.Symlink(filepath.Join(dir, "not mounted"), state))
	code, said = pending()
	require.Equal(t, exitRefused, code, said)
	require.NoError(t, os.Remove(state))

	require.NoError(t, os.Mkdir(state, 0o700))
	for _, name := range []string{"agent.db", "agent.db-journal", "agent.db.mark", "agent.db.lock", "agent.db.generation"} {
		if name == "agent.db-journal" || name == "agent.db.lock" {
			require.NoError(t, os.WriteFile(filepath.Join(state, "agent.db"), old["agent.db"], 0o600))
		}
		require.NoError(t, unix.Mkfifo(filepath.Join(state, name), 0o600))
		code, said = pending()
		require.NotEqual(t, exitOK, code, "%s: %s", name, said)
		require.NoError(t, os.Remove(filepath.Join(state, name)))
		_ = os.Remove(filepath.Join(state, "agent.db"))
	}
	require.NoError(t, os.WriteFile(file, []byte("[stor]\nmark = 1\n"), 0o600))
	code, said = pending()
	require.Equal(t, exitOK, code, "nothing has ever run here: %s", said)
	require.NoError(t, os.WriteFile(filepath.Join(state, "agent.db.mark"), old["agent.db.mark"], 0o600))
	code, said = pending()
	require.Equal(t, exitConfig, code, said)
	require.Contains(t, said, "stor")

	// What else is wrong with a configuration, like a secret's file that is gone, does not keep a package.
	require.NoError(t, os.RemoveAll(state))
	require.NoError(t, os.Rename(other+".away", other))
	require.NoError(t, os.WriteFile(file, []byte("[store]\nmark = \""+other+"\"\n[upstream.auth]\nbearer_file = \"/nowhere/at/all\"\n[terminal]\ncurrency = \"eur\"\n"), 0o600))
	code, said = pending()
	require.Equal(t, exitDamaged, code, "the journal is gone, says the mark: %s", said)
	require.NoError(t, os.Remove(other))
	code, said = pending()
	require.Equal(t, exitOK, code, said)
}
