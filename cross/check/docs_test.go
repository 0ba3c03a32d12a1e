package check

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// maxDoc is how many lines a doc.go has at most.
const maxDoc = 30

// longDocs are rooms whose doc.go is longer, or still holds decisions, with the reason.
var longDocs = map[string]string{}

// decision is how a decision, or a list of them, begins.
var decision = regexp.MustCompile(`^// (# )?(Decisions[,.:( ]*[0-9().:-]*(, .*)?$|20\d\d-\d\d-\d\d[.:])`)

// TestADocIsShort: a doc.go says what a room owns, guarantees and must not import. Decisions stand in DECISIONS.md beside it.
func TestADocIsShort(t *testing.T) {
	long := map[string]bool{}
	files(t, func(name string, data []byte) {
		if path.Base(name) != "doc.go" {
			return
		}
		room, lines := path.Dir(name), bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
		fault := ""
		if len(lines) > maxDoc {
			fault = "has more than 30 lines"
		}
		for _, line := range lines {
			if decision.Match(line) {
				fault = "holds decisions, which belong in DECISIONS.md"
			}
		}
		if fault == "" {
			return
		}
		long[room] = true
		if longDocs[room] == "" {
			t.Errorf("%s %s", name, fault)
		}
	})
	for room := range longDocs {
		require.True(t, long[room], "%s/doc.go is short now, or gone: take its row out of longDocs", room)
	}
}

// TestDecisionsAreDated: a decision is one dated paragraph.
func TestDecisionsAreDated(t *testing.T) {
	dated := regexp.MustCompile(`^(20\d\d-\d\d-\d\d)[:.] \S`)
	files(t, func(name string, data []byte) {
		if path.Base(name) != "DECISIONS.md" {
			return
		}
		require.FileExists(t, filepath.Join(root(t), filepath.FromSlash(path.Dir(name)), "doc.go"), name)
		for paragraph := range strings.SplitSeq(string(data), "\n\n") {
			paragraph = strings.TrimPrefix(strings.TrimSpace(paragraph), "- ")
			if strings.HasPrefix(paragraph, "#") || paragraph == "" {
				continue
			}
			if !dated.MatchString(paragraph) {
				t.Errorf("%s: a decision without its date: %.60s", name, paragraph)
			}
		}
	})
}

// TestField_U9TheReadmeIsReadInOrder: the promise was one dense sentence, figures stood before their use, neither technicians
// nor developers had a chapter, and nothing said what a bundle leaves out.
func TestField_U9TheReadmeIsReadInOrder(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	require.NoError(t, err)
	text, at := string(data), 0
	for _, chapter := range []string{
		"\n## Two commands\n", "\n## Two promises\n", "\n## Hardware and limits\n", "\n## Try it by hand\n", "\n## For the technician\n",
		"\n### Backup\n", "It leaves out:", "\n## For the developer of a register\n", "\n## For the developer of shop software\n", "\n## The house\n",
		"\n## How we know\n", "\n**Figures** of `make bench`",
	} {
		next := strings.Index(text[at:], chapter)
		require.GreaterOrEqual(t, next, 0, "%q is missing, or out of its order", chapter)
		at += next
	}
	require.NotRegexp(t, `(?i)show the token`, text)

	_, promise, _ := strings.Cut(text, "## Two promises\n")
	promise, _, _ = strings.Cut(promise, "\n## ")
	for _, sentence := range regexp.MustCompile(`[.:](\s|\*)|\n\n|\n[-|]`).Split(promise, -1) {
		require.LessOrEqual(t, len(strings.Fields(sentence)), 30, "a dense sentence: %s", sentence)
	}

	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if !code && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "    ") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 100, "README.md:%d", i+1)
		}
	}
}

// TestGuidesNameFilesThatExist: a newcomer follows the paths of README and CONTRIBUTING. A file that was moved takes its name there along.
func TestGuidesNameFilesThatExist(t *testing.T) {
	paths := regexp.MustCompile("`((?:agent|cmd|cross|device|ecr|schemes|store|SERVICE)(?:/[A-Za-z_]+)*(?:/[a-z_]+\\.[a-z]+)?)`")
	for _, guide := range []string{"README.md", ".github/CONTRIBUTING.md", "cross/README.md"} {
		data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(guide)))
		require.NoError(t, err)
		found := 0
		for _, m := range paths.FindAllStringSubmatch(string(data), -1) {
			found++
			name := strings.Replace(m[1], "SERVICE", "schemes/payments", 1)
			if _, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(name))); err != nil {
				t.Errorf("%s names %s, which is not there: write where it is now", guide, m[1])
			}
		}
		if guide == ".github/CONTRIBUTING.md" {
			require.Greater(t, found, 30, "paths in %s", guide)
		}
	}
}
