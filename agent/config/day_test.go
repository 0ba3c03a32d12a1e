package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestField2_L4ABoxWithoutARegisterClosesItsDays: a day is the register's to close where there is one, and midnight closes it elsewhere. A
// terminal whose lines are taken out for a while stays as it was.
func TestField2_L4ABoxWithoutARegisterClosesItsDays(t *testing.T) {
	const head = "[terminal]\nbax_id = \"1\"\nterminal_id = \"2\"\nmerchant_id = \"3\"\n[upstream]\nbase = \"https://pay.example\"\n[upstream.auth]\nbearer = \"b\"\n"
	const line = "[[ecr]]\ntcp = \"127.0.0.1:20007\"\n"
	load := func(text string) (Config, error) {
		file := filepath.Join(t.TempDir(), "c.toml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return Load(file, nil)
	}
	for text, want := range map[string]string{
		head: "00:00", head + line: ByRegister, head + line + "[checkout]\nend_of_day = \"23:30\"\n": "23:30",
		head + "[checkout]\nend_of_day = \"register\"\n": ByRegister, head + "[checkout]\nend_of_day = \"04:00\"\n": "04:00",
	} {
		c, err := load(text)
		require.NoError(t, err, text)
		require.Equal(t, want, c.EndOfDay(), text)
		c.NoRegisters()
		require.Equal(t, want, c.EndOfDay(), text)
	}
	for _, wrong := range []string{"24:00", "noon", "3:00"} {
		_, err := load(head + "[checkout]\nend_of_day = \"" + wrong + "\"\n")
		require.ErrorContains(t, err, "checkout.end_of_day")
	}
}
