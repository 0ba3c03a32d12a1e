package drive

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
)

// TestField_L13EveryRefusalHasAGermanText: a German terminal refused in English.
func TestField_L13EveryRefusalHasAGermanText(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	call := regexp.MustCompile(`\brefuse\(ecr\.\w+, ("(?:[^"\\]|\\.)*")`)
	found := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			format := strings.Trim(m[1], `"`)
			found[format] = true
			require.NotEmpty(t, german[format], "%s: %s", name, format)
		}
	}
	require.Greater(t, len(found), 30)
	for format := range german {
		require.True(t, found[format], "nothing is refused with %q any more", format)
	}
}

func TestField_L13ARefusalSpeaksTheTerminalsLanguage(t *testing.T) {
	d := &Drive{cfg: Config{Language: "de"}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{refuse(ecr.WrongCurrency, "this terminal takes %s", "EUR"), "dieses Terminal nimmt EUR"},
		{refuse(ecr.NotReversible, "%q names no transaction", "Tx"), `"Tx" nennt keine Transaktion`},
		{refuse(ecr.Busy, "%s is running", "payment of 1.00 EUR"), "ein anderer Vorgang läuft"},
	} {
		var no *ecr.Refusal
		require.ErrorAs(t, d.inLanguage(c.err), &no)
		require.Equal(t, c.want, no.Text)
	}
	d.cfg.Language = "en"
	var no *ecr.Refusal
	require.ErrorAs(t, d.inLanguage(refuse(ecr.WrongCurrency, "this terminal takes %s", "EUR")), &no)
	require.Equal(t, "this terminal takes EUR", no.Text)
}
