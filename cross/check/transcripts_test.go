package check

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A wire transcript was written from the specification, never from the code. A change of the code changes none:
// testdata/transcripts.sum holds the hash of each, in the form that sha256sum -c reads. A transcript may go where another
// covers its case; what remains is byte-identical.
func TestTranscriptsAreFrozen(t *testing.T) {
	f, err := os.Open("testdata/transcripts.sum")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	listed, remain := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		want, name, ok := strings.Cut(lines.Text(), "  ")
		require.True(t, ok, "%q is no line of sha256sum", lines.Text())
		listed++
		data, err := os.ReadFile(filepath.Join(root(t), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		sum := sha256.Sum256(data)
		require.Equal(t, want, hex.EncodeToString(sum[:]), "%s was changed: write a new transcript beside it", name)
		remain++
	}
	require.Equal(t, 2019, listed)
	require.NotZero(t, remain)
}
