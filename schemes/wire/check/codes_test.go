package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestField_B2LanguagesAndCountries(t *testing.T) {
	for _, s := range []string{"eng", "ENG", "ita", "deu", "ger", "fra", "fre", "nob", "nor", "zza", "aar", "qaa", "qtz", "mul"} {
		require.True(t, Language(s), s)
	}
	for _, s := range []string{"", "en", "english", "xxx", "qua", "e n", "\nen", "en ", "deutsch", "ééé"} {
		require.False(t, Language(s), "%q", s)
	}
	for _, s := range []string{"ITA", "CHE", "ABW", "ZWE", "SSD", "XKX"} {
		require.Equal(t, s != "XKX", Country3(s), s) // a code in use that ISO does not have
	}
	for _, s := range []string{"", "IT", "ita", "ZZZ", "ITALY", "IT ", "\nIT", "YUG", "SCG"} {
		require.False(t, Country3(s), "%q", s)
	}
	require.Len(t, strings.Fields(countries), 249)
	require.Len(t, strings.Fields(languages), 506) // 486 languages, 20 of which have two codes
}
