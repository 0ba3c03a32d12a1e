package doctor

import (
	_ "embed"
	"strings"
)

// germanText has a paragraph for each check: id, title, what a failure means, how it is found, what to do.
//
//go:embed german.txt
var germanText string

// german returns the text of a check in German; false where there is none.
func german(id string) (t Text, ok bool) {
	for paragraph := range strings.SplitSeq(germanText, "\n\n") {
		if lines := strings.Split(strings.TrimSpace(paragraph), "\n"); len(lines) == 5 && lines[0] == id {
			return Text{lines[1], lines[2], lines[3], lines[4]}, true
		}
	}
	return Text{}, false
}
