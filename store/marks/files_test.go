package marks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/store/marks"
)

// A mark that somebody has named is written over nothing else, at a start and while the terminal runs: device key, journal, token,
// configuration. What a power cut has left of a mark is one.
func TestField2_D1AMarkIsWrittenOverAMarkAlone(t *testing.T) {
	dir := t.TempDir()
	mac := func([]byte) []byte { return make([]byte, marks.MACBytes) }
	first := filepath.Join(dir, "agent.db.mark")
	write := func(path string) error {
		m := marks.NewFiles([]string{first, path}, nil)
		m.MAC = mac
		m.Read()
		require.NoError(t, m.Durably(func(s *marks.Slot) { s.End.Generation++ }))
		err := m.Health()[1].Err
		require.NoError(t, m.Close())
		return err
	}
	for name, held := range map[string]string{
		"device.key": strings.Repeat("k", 32), "journal": "SQLite format 3\x00" + strings.Repeat("x", 1<<16), "token": "t", "config.toml": "[store]\n",
		"long zeros": strings.Repeat("\x00", 1<<16) + "x",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(held), 0o600))
		require.ErrorIs(t, write(path), marks.ErrNotMark, name)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, held, string(got), name)
	}
	fresh := filepath.Join(dir, "fresh")
	require.NoError(t, write(fresh))
	require.NoError(t, write(fresh))
	whole, err := os.ReadFile(fresh)
	require.NoError(t, err)
	for _, left := range []string{"", strings.Repeat("\x00", len(whole)), string(whole[:20]), string(whole[:len(whole)/2]), string(whole)} {
		require.NoError(t, os.WriteFile(fresh, []byte(left), 0o600))
		require.NoError(t, write(fresh))
		r := marks.NewFiles([]string{first, fresh}, nil)
		require.True(t, r.Read()[1].OK)
		require.NoError(t, r.Close())
	}
}
