package doctor

// Text is what a check says in one language.
type Text struct{ Title, Means, How, Do string }

// Words are the labels of an explanation in one language.
type Words struct{ Means, How, Do, Type, After string }

// TextOf returns a check's text in a language, and the language that it is in: English where it has no other.
func TextOf(c Check, language string) (t Text, in string) {
	if t, ok := german(c.ID); ok && language == "de" {
		return t, "de"
	}
	return Text{c.Title, c.Means, c.How, c.Remedy.Text}, "en"
}

// WordsOf returns the labels in a language, English where there are no others.
func WordsOf(language string) Words {
	if language == "de" {
		return Words{"heißt", "gefunden", "tun", "tippen", "setzt voraus"}
	}
	return Words{"means", "found", "do", "type", "depends on"}
}
