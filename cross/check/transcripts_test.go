package check

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A wire transcript was written from the specification, never from the code. A change of the code changes none:
// testdata/transcripts.sum holds the hash of each, in the form that sha256sum -c reads. A new transcript adds its line; a
// transcript goes, with its line, only where another covers its case (schemes/wire/wiretest says what a case is).
func TestTranscriptsAreFrozen(t *testing.T) {
	list, err := os.ReadFile("testdata/transcripts.sum")
	require.NoError(t, err)
	require.Empty(t, thawed(t, root(t), string(list)))
	require.True(t, slices.IsSortedFunc(strings.Split(strings.TrimSpace(string(list)), "\n"), func(a, b string) int {
		_, a, _ = strings.Cut(a, "  ")
		_, b, _ = strings.Cut(b, "  ")
		return strings.Compare(a, b)
	}), "the list is sorted by names")
}

// thawed compares the transcripts below a folder's schemes with a list of their hashes. It returns a line for each that was
// changed, is missing, or is not in the list.
func thawed(t *testing.T, dir, list string) (found []string) {
	t.Helper()
	sums := map[string]string{}
	for line := range strings.Lines(list) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.True(t, ok, "%q is no line of sha256sum", line)
		require.NotContains(t, sums, name, "twice in the list")
		sums[name] = sum
	}
	require.NotEmpty(t, sums)
	files := os.DirFS(dir)
	require.NoError(t, fs.WalkDir(files, "schemes", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".txtar" {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		switch want, listed := sums[name]; {
		case !listed:
			found = append(found, name+" is not in the list: add its line")
		case want != hex.EncodeToString(sum[:]):
			found = append(found, name+" was changed: write a new transcript beside it")
		}
		delete(sums, name)
		return nil
	}))
	for name := range sums {
		found = append(found, name+" is missing: bring it back")
	}
	slices.Sort(found)
	return found
}

func TestAThawedTranscriptIsSeen(t *testing.T) {
	dir := t.TempDir()
	both := filepath.Join(dir, "schemes", "tokens", "testdata", "both")
	require.NoError(t, os.MkdirAll(both, 0o700))
	for _, name := range []string{"same", "changed", "new"} {
		require.NoError(t, os.WriteFile(filepath.Join(both, name+".txtar"), []byte("abc"), 0o600))
	}
	const (
		abc   = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2 B.1
		empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		at    = "schemes/tokens/testdata/both/"
	)
	require.Equal(t, []string{
		at + "changed.txtar was changed: write a new transcript beside it",
		at + "gone.txtar is missing: bring it back",
		at + "new.txtar is not in the list: add its line",
	}, thawed(t, dir, abc+"  "+at+"same.txtar\n"+empty+"  "+at+"changed.txtar\n"+abc+"  "+at+"gone.txtar\n"))
}
