package usage

import (
	"io"
	"log"
	"strings"
	"unicode"
)

// Libraries sends what libraries print by themselves, with package log, to to: its cause, without what came over a network. Go's HTTP
// client prints the beginning of an answer that nobody asked for, which may hold a token. A main calls it first.
func Libraries(to io.Writer) {
	log.SetFlags(0)
	log.SetOutput(masking{to})
}

// masking writes what a library prints on one line, as a program's own log is written: whole where it is a stack, else its words alone.
type masking struct{ to io.Writer }

func (m masking) Write(p []byte) (int, error) {
	first, rest, _ := strings.Cut(strings.TrimRight(string(p), "\n"), "\n")
	line := "level=WARN msg=\"a library says\" text=\"" + worded(first) + "\"\n"
	if strings.HasPrefix(rest, "goroutine ") { // of a panic
		line += rest + "\n"
	}
	if _, err := io.WriteString(m.to, line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// longWord is the longest word that is one of a language, not a secret of letters alone.
const longWord = 20

// worded keeps the words of a text up to its first quotation. Whatever is no word is left out: numbers, addresses, and what looks like
// a secret.
func worded(text string) string {
	text, _, _ = strings.Cut(text, `"`)
	var said []string
	for word := range strings.FieldsSeq(text) {
		bare := strings.Trim(word, ".,:;()'<>=")
		if len(bare) > longWord || strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '/' && r != '.' }) {
			word = "…"
		}
		said = append(said, word)
	}
	if len(said) > 40 {
		said = append(said[:40], "…")
	}
	return strings.Join(said, " ")
}
