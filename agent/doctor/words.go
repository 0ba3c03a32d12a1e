package doctor

import (
	_ "embed"

	"posagent/agent/doctor/exam"
)

// A language has a paragraph for each check: id, title, what a failure means, how it is found, what to do.
var (
	//go:embed english.txt
	englishText string
	//go:embed german.txt
	germanText string
)

// Words are the labels of an explanation in one language.
type Words struct{ Means, How, Do, Type, After string }

// TextOf returns a check's text in a language, and the language that it is in: English where it has no other.
func TextOf(c Check, language string) (t exam.Text, in string) {
	if language == "de" {
		if t, ok := exam.Texts(germanText)[c.ID]; ok {
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
