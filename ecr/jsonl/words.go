package jsonl

import "posagent/ecr"

// words are the few texts for people that only this protocol has.
type words struct{ notFound, busy, endOfDay, undoing, resuming, closing string }

func wordsFor(language string) words {
	if ecr.German(language) {
		return words{"kein solcher Vorgang", "ein anderer Vorgang läuft: gleich noch einmal fragen", "Kassenschnitt nicht möglich: ein Vorgang ist offen",
			"bezahlt, nicht bestätigt: das Geld geht zurück", "Terminal startet", "Kassenschnitt läuft"}
	}
	return words{"no such sale", "another request is running: ask again in a moment", "the day is not closed: a sale is open or not settled",
		"paid, not acknowledged: the money goes back", "the terminal starts", "end of day is running"}
}
