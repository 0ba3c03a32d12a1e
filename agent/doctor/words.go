package doctor

import (
	_ "embed"
	"strings"
)

// A language has a paragraph for each check: id, title, what a failure means, how it is found, what to do.
var (
	//go:embed english.txt
	englishText string
	//go:embed german.txt
	germanText string
)

// Text is what a check says in one language.
type Text struct {
	Title string // what is so when it passes
	Means string // what a failure means for the shop
	How   string // how it is found
	Do    string // its remedy
}

// texts reads the paragraphs of a language, by the ids of their checks.
func texts(language string) map[string]Text {
	list := map[string]Text{}
	for paragraph := range strings.SplitSeq(language, "\n\n") {
		if lines := strings.Split(strings.TrimSpace(paragraph), "\n"); len(lines) == 5 {
			list[lines[0]] = Text{lines[1], lines[2], lines[3], lines[4]}
		}
	}
	return list
}

// Words are the labels of an explanation in one language.
type Words struct{ Means, How, Do, Type, After string }

// TextOf returns a check's text in a language, and the language that it is in: English where it has no other.
func TextOf(c Check, language string) (t Text, in string) {
	if language == "de" {
		if t, ok := texts(germanText)[c.ID]; ok {
			return t, "de"
		}
	}
	return c.Text, "en"
}

// WordsOf returns the labels in a language, English where there are no others.
func WordsOf(language string) Words {
	if language == "de" {
		return Words{"heißt", "gefunden", "tun", "tippen", "setzt voraus"}
	}
	return Words{"means", "found", "do", "type", "depends on"}
}
