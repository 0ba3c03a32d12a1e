package check

import (
	"bytes"
	"errors"
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

// guides are the texts that lead a person to files, targets and chapters.
var guides = []string{"README.md", "cmd/posagent/README.md", "ecr/README.md", ".github/WORDS.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "cross/README.md", "cross/bench/README.md", "agent/port/README.md", "agent/support/reconcile/README.md", "agent/port/salesapi/README.md", "ecr/zvt/README.md", "ecr/jsonl/README.md", "ecr/torture/README.md", "schemes/backend/README.md"}

// maxReadme is how many lines the README has at most, firstScreens how many a window shows twice.
const (
	maxReadme    = 200
	firstScreens = 100
)

// TestField_U9TheReadmeIsReadInOrder: the promise was one dense sentence, figures stood before their use, neither technicians
// nor developers had a chapter, and nothing said what a bundle leaves out.
func TestField_U9TheReadmeIsReadInOrder(t *testing.T) {
	for name, chapters := range map[string][]string{
		"README.md": {
			"\n| you are | your chapter |\n", "\n**What works:**", "\n**Not yet:**", "\nA sale, as `make demo` plays it:\n", "\nInstall a box in three lines:\n", "\n## Two commands\n",
			"\n## At the counter\n", "\n### Two promises\n", "\n### The protocols\n", "\n### Hardware and limits\n", "\n### Credentials of the sandbox\n", "\n## Further\n",
		},
		"cmd/posagent/README.md":    {"\n## Install\n", "\n## Enrolment\n", "\n## Configuration\n", "\n## What is wrong\n", "\n## Backup\n", "It leaves out:", "\n## Exit codes\n"},
		"ecr/README.md":             {"\n## A terminal to test against\n", "\n**What ZVT cannot promise.**", "\n## One sale, message by message\n", "\n## Software beside the register\n"},
		"schemes/backend/README.md": {"\n## With a terminal, in four windows\n"},
		"cross/README.md":           {"\n| command | what it does |\n", "\n## Figures\n"},
		".github/WORDS.md":          {"\n| word | meaning |\n"},
	} {
		data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		text, at := string(data), 0
		for _, chapter := range chapters {
			next := strings.Index(text[at:], chapter)
			require.GreaterOrEqual(t, next, 0, "%s: %q is missing, or out of its order", name, chapter)
			at += next
		}
	}
	data, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	require.NoError(t, err)
	text := string(data)
	require.NotRegexp(t, `(?i)show the token`, text)
	require.LessOrEqual(t, strings.Count(text, "\n"), maxReadme, "lines: what is too deep for the README belongs beside its room")
	first := strings.Join(strings.Split(text, "\n")[:firstScreens], "\n")
	for _, needed := range []string{"\nmake demo ", "\nmake test ", "Both need Go 1.26", "run as any user and leave nothing behind", "**As root on Debian it\ninstalls software:**", "`TOOLS=no`"} {
		require.Contains(t, first, needed, "on the first two screens")
	}

	// U10: an evaluator reads for which backend it is, the sandbox first, and whether it may be used.
	intro, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), " | you are | your chapter | ")
	at := 0
	for _, needed := range []string{"**For which backend:**", "**sandbox**", "account at a provider", "S0, S1 and S2", "wallets", "card payments", "tokens", "payment links", "hosted build", "**May you use it?**", "licence"} {
		next := strings.Index(intro[at:], needed)
		require.GreaterOrEqual(t, next, 0, "%q is missing on the first screen, or out of its order", needed)
		at += next
	}
	_, err = os.Stat(filepath.Join(root(t), "LICENSE"))
	require.Equal(t, errors.Is(err, os.ErrNotExist), strings.Contains(intro, "No licence"), "the README says what LICENSE says")

	_, promise, _ := strings.Cut(text, "### Two promises\n")
	promise, _, _ = strings.Cut(promise, "\n### ")
	for _, sentence := range regexp.MustCompile(`[.:](\s|\*)|\n\n|\n[-|]`).Split(promise, -1) {
		require.LessOrEqual(t, len(strings.Fields(sentence)), 30, "a dense sentence: %s", sentence)
	}
}

// TestGuidesAreNarrow: a line of a guide fits into a window of 100 columns. Rows of tables are laid out by what shows them.
func TestGuidesAreNarrow(t *testing.T) {
	for _, name := range guides {
		data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		code := false
		for i, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if !strings.HasPrefix(line, "|") && (name == "README.md" || !code) {
				require.LessOrEqual(t, utf8.RuneCountInString(line), 100, "%s:%d", name, i+1)
			}
		}
	}
}

// TestGuidesLeadSomewhere: each link is a file that is there, or a heading; each target of make that is named exists.
func TestGuidesLeadSomewhere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	target := regexp.MustCompile("(?m)(?:`|^    )make ([a-z0-9-]+)")
	fenced := regexp.MustCompile("(?s)\n```.*?\n```")
	for _, name := range guides {
		data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		text := string(data)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			there := name
			if file != "" {
				there = path.Join(path.Dir(name), file)
			}
			led, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(there)))
			require.NoError(t, err, "%s leads to %s", name, m[1])
			if anchor != "" {
				require.Contains(t, anchors(string(led)), anchor, "%s leads to %s", name, m[1])
			}
		}
		text = fenced.ReplaceAllStringFunc(text, func(code string) string { return strings.ReplaceAll(code, "\n", "\n    ") })
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			require.Regexp(t, `(?m)^`+m[1]+`:`, string(makefile), "%s: make %s", name, m[1])
		}
	}
	require.Equal(t, []string{"the-first-line-of-status", "words"}, anchors("### The first line of `status`\ntext\n## Words\n"))
}

// anchors are the names under which the headings of a text are reached.
func anchors(text string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

// TestFiguresHaveTheirSource: each figure of the page of proof stands in the text that its row leads to.
func TestFiguresHaveTheirSource(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root(t), "cross", "README.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(data), "\n| what | figure | from |\n|---|---|---|\n")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			break
		}
		rows++
		_, source, _ := strings.Cut(cells[3], "](")
		source, _, _ = strings.Cut(source, ")")
		text, err := os.ReadFile(filepath.Join(root(t), "cross", filepath.FromSlash(source)))
		require.NoError(t, err, line)
		for _, figure := range regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`).FindAllString(cells[2], -1) {
			require.Regexp(t, `(^|[^0-9.])`+regexp.QuoteMeta(figure)+`($|[^0-9])`, string(text), line)
		}
	}
	require.Greater(t, rows, 6)
}

// TestGuidesNameFilesThatExist: a newcomer follows the paths of README and CONTRIBUTING. A file that was moved takes its name there along.
func TestGuidesNameFilesThatExist(t *testing.T) {
	paths := regexp.MustCompile("`((?:agent|cmd|cross|device|ecr|schemes|store|SERVICE)(?:/[A-Za-z_]+)*(?:/[a-z_]+\\.[a-z]+)?)`")
	for _, guide := range guides {
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
