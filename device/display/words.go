package display

import "strings"

// words are our own words on a screen.
type words struct {
	sandbox, expired, tooSmall, valid, until, validFor string
}

// wordsFor returns the words of a language, English where it is not known.
func wordsFor(language string) words {
	if strings.HasPrefix(strings.ToLower(language), "de") {
		return words{"SANDBOX - kein echtes Geld", "Dieser Code ist nicht mehr gültig.", "Dieser Bildschirm ist zu klein für den Code.", "gültig", "bis", "noch"}
	}
	return words{"SANDBOX - no real money", "This code is no longer valid.", "This screen is too small for the code.", "valid", "until", "for"}
}
