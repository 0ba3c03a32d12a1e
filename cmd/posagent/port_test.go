package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The token is made once, for owner and group, and never replaced; a file that holds none is not taken for one.
func TestPortToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port.token")
	first, err := portToken(path)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(first.Reveal()), 26, "128 bits")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	again, err := portToken(path)
	require.NoError(t, err)
	require.Equal(t, first.Reveal(), again.Reveal())
	for _, text := range []string{"", "\n", "short\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
		_, err = portToken(path)
		require.ErrorContains(t, err, "holds no token")
	}
}
