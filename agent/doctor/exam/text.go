package exam

import "strings"

// Text is what a check says in one language.
type Text struct {
	Title string // what is so when it passes
	Means string // what a failure means for the shop
	How   string // how it is found
	Do    string // its remedy
}

// Texts reads the paragraphs of a language, by the ids of their checks: id, title, what a failure means, how it is found, what to do.
func Texts(language string) map[string]Text {
	list := map[string]Text{}
	for paragraph := range strings.SplitSeq(language, "\n\n") {
		if lines := strings.Split(strings.TrimSpace(paragraph), "\n"); len(lines) == 5 {
			list[lines[0]] = Text{lines[1], lines[2], lines[3], lines[4]}
		}
	}
	return list
}
