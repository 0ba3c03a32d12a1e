package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

//go:embed CHANGELOG.md
var changelog string

// release is what one day changed.
type release struct {
	Version string   `json:"version"` // "2026.11.22"
	Changes []change `json:"changes"`
}

// change is one line of a release.
type change struct {
	Kind string `json:"kind"` // added, changed, fixed, security, removed
	Text string `json:"text"`
}

// releases reads the text of CHANGELOG.md: "## VERSION", "### Kind" and "- text" that goes on in indented lines. It
// passes over everything before the first version.
func releases(text string) []release {
	var list []release
	kind, open := "", false // open: the last change goes on in an indented line
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		last := len(list) - 1
		if version, ok := strings.CutPrefix(line, "## "); ok {
			list = append(list, release{Version: version})
			kind, open = "", false
			continue
		}
		if last < 0 {
			continue
		}
		if name, ok := strings.CutPrefix(line, "### "); ok {
			kind, open = strings.ToLower(name), false
		} else if text, ok := strings.CutPrefix(line, "- "); ok {
			list[last].Changes = append(list[last].Changes, change{kind, text})
			open = true
		} else if text, ok := strings.CutPrefix(line, "  "); ok && open {
			c := &list[last].Changes[len(list[last].Changes)-1]
			c.Text += " " + text
		}
	}
	return list
}

// showChanges prints what each version changed, the newest first.
func showChanges(w io.Writer, asJSON bool) error {
	list := releases(changelog)
	if asJSON {
		return printJSON(w, struct {
			Schema   string    `json:"schema"`
			Version  string    `json:"version"` // of this binary
			Releases []release `json:"releases"`
		}{"posagent.changes/1", version, list})
	}
	_, err := fmt.Fprintf(w, "This is posagent %s.\n\n%s", version, changelog)
	return err
}
