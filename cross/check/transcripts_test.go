package check

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/wire/wiretest"
)

const transcriptSums = "testdata/transcripts.sum"

// A wire transcript was written from the specification, never from the code. A change of the code changes none:
// testdata/transcripts.sum holds the hash of each. A new transcript adds its line; a transcript goes, with its line, only where
// another covers its case (schemes/wire/wiretest says what a case is). `make goldens` writes the list anew, and the length of
// each request.
func TestTranscriptsAreFrozen(t *testing.T) {
	if os.Getenv("GOLDENS") == "write" {
		measure(t, root(t))
		var list []string
		for name, sum := range transcripts(t, root(t)) {
			list = append(list, sum+"  "+name+"\n")
		}
		slices.SortFunc(list, byName)
		require.NoError(t, os.WriteFile(transcriptSums, []byte(strings.Join(list, "")), 0o600))
	}
	list, err := os.ReadFile(transcriptSums)
	require.NoError(t, err)
	require.Empty(t, thawed(t, root(t), string(list)))
	require.True(t, slices.IsSortedFunc(strings.Split(strings.TrimSpace(string(list)), "\n"), byName), "the list is sorted by names")
}

// byName compares two lines of the list.
func byName(a, b string) int {
	_, a, _ = strings.Cut(a, "  ")
	_, b, _ = strings.Cut(b, "  ")
	return strings.Compare(a, b)
}

// transcriptFiles are the files below a folder's schemes.
func transcriptFiles(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "schemes", "*", "testdata", "*", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// transcripts are the hashes of the transcripts below a folder's schemes, by FOLDER/NAME.
func transcripts(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, path := range transcriptFiles(t, dir) {
		folder, err := filepath.Rel(dir, filepath.Dir(path))
		require.NoError(t, err)
		for _, tr := range wiretest.Read(t, path) {
			name := filepath.ToSlash(filepath.Join(folder, tr.Name))
			require.NotContains(t, sums, name, "two transcripts have one name")
			sum := sha256.Sum256([]byte(tr.Text()))
			sums[name] = hex.EncodeToString(sum[:])
		}
	}
	return sums
}

// thawed compares the transcripts below a folder's schemes with a list of their hashes. It returns a line for each that was
// changed, is missing, or is not in the list.
func thawed(t *testing.T, dir, list string) (found []string) {
	t.Helper()
	listed := map[string]string{}
	for line := range strings.Lines(list) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.True(t, ok, "%q is no line of the list", line)
		require.NotContains(t, listed, name, "twice in the list")
		listed[name] = sum
	}
	there := transcripts(t, dir)
	for name, sum := range there {
		switch want, ok := listed[name]; {
		case !ok:
			found = append(found, name+" is not in the list: make goldens")
		case want != sum:
			found = append(found, name+" was changed: write a new transcript beside it")
		}
	}
	for name := range listed {
		if there[name] == "" {
			found = append(found, name+" is missing: bring it back")
		}
	}
	slices.Sort(found)
	return found
}

var contentLength = regexp.MustCompile(`(?m)^Content-Length: \d+$`)

// measure writes the length of each request's body into its head.
func measure(t *testing.T, dir string) {
	t.Helper()
	for _, path := range transcriptFiles(t, dir) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if now := measured(string(text)); now != string(text) {
			require.NoError(t, os.WriteFile(path, []byte(now), 0o600))
		}
	}
}

// measured is a file of transcripts with the length of its request's body in the head.
func measured(text string) string {
	before, part, ok := strings.Cut(text, "-- request --\n")
	part, after, _ := strings.Cut(part, "\n-- ")
	head, body, _ := strings.Cut(part, "\n\n")
	if !ok || !contentLength.MatchString(head) {
		return text
	}
	head = contentLength.ReplaceAllString(head, "Content-Length: "+strconv.Itoa(len(body)))
	return before + "-- request --\n" + head + "\n\n" + body + "\n-- " + after
}

func TestAThawedTranscriptIsSeen(t *testing.T) {
	dir := t.TempDir()
	both := filepath.Join(dir, "schemes", "tokens", "testdata", "both")
	require.NoError(t, os.MkdirAll(both, 0o700))
	const asked = "-- call --\n{}\n-- request --\nPOST / HTTP/1.1\nContent-Length: 2\n\n{}\n"
	answer := func(name, body string) string {
		return "-- " + name + ": One. --\nHTTP/1.1 200 OK\n\n" + body + "\n-- result --\n{}\n"
	}
	path := filepath.Join(both, "a.txtar")
	require.NoError(t, os.WriteFile(path, []byte(asked+answer("same", "1")+answer("changed", "1")+answer("gone", "1")), 0o600))
	var list strings.Builder
	for name, sum := range transcripts(t, dir) {
		list.WriteString(sum + "  " + name + "\n")
	}
	require.Empty(t, thawed(t, dir, list.String()))
	require.NoError(t, os.WriteFile(path, []byte(asked+answer("same", "1")+answer("changed", "2")+answer("new", "1")), 0o600))
	const at = "schemes/tokens/testdata/both/"
	require.Equal(t, []string{
		at + "changed was changed: write a new transcript beside it",
		at + "gone is missing: bring it back",
		at + "new is not in the list: make goldens",
	}, thawed(t, dir, list.String()))
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(asked, "{}\n-- request", "{ }\n-- request", 1)+answer("same", "1")), 0o600))
	require.Contains(t, thawed(t, dir, list.String()), at+"same was changed: write a new transcript beside it", "its request counts")
}

func TestGoldensMeasureARequest(t *testing.T) {
	const text = "-- call --\n{}\n-- request --\nPOST / HTTP/1.1\nContent-Length: 2\nAccept: a\n\n{\"a\":1}\n-- one: One. --\nHTTP/1.1 200 OK\nContent-Length: 9\n\n{}\n-- result --\n{}\n"
	require.Equal(t, strings.Replace(text, "Content-Length: 2", "Content-Length: 7", 1), measured(text), "an answer's may be wrong by intention")
	require.Equal(t, strings.Replace(text, "Content-Length: 2\n", "", 1), measured(strings.Replace(text, "Content-Length: 2\n", "", 1)))
}
