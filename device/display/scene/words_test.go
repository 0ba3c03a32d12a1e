package scene

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryWordIsThere(t *testing.T) {
	require.Len(t, texts, 10)
	for _, language := range Languages() {
		for i, s := range texts[language] {
			require.NotEmpty(t, s, "%s %d", language, i)
			require.Equal(t, s, Clean(s), language)
			if w := word(i); w == validFor {
				require.Equal(t, 1, strings.Count(s, "%s"), s)
			} else {
				require.NotContains(t, s, "%", language)
			}
		}
		require.True(t, strings.HasPrefix(texts[language][sandbox], "SANDBOX - "), language)
	}
}

func TestTheLanguageOfAScene(t *testing.T) {
	for _, c := range [][3]string{{"", "", "en"}, {"", "de-CH", "de"}, {"no", "", "nb"}, {"fr", "de", "fr"}, {"xx", "PL", "pl"}, {"xx", "xx", "en"}} {
		require.Equal(t, c[2], Scene{Chosen: c[0], Language: c[1]}.Spoken())
	}
	require.Equal(t, Keys{Cancel: "Abbrechen", Confirm: "Bestätigen", Correct: "Löschen", Up: "Vorherige Seite", Down: "Nächste Seite"}, Scene{Language: "de"}.Keys())
}
