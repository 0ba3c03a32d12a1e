package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// width is how much of a line the quiet story shows in a terminal window, in runes.
const width = 110

// window is what the person sees: every line has a speaker. The quiet story leaves out what repeats and what only a
// developer of a register reads; verbose shows all of it.
type window struct {
	verbose bool
	narrow  bool // it is a terminal window: long lines are cut; a file has them whole

	mu      sync.Mutex
	say     func(line string)
	code    bool // the first code was shown whole
	receipt bool // so was the first receipt, to its end
	status  string
}

// teller returns what prints the lines of one process of a speaker.
func (w *window) teller(who string) func(string) {
	return func(line string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.verbose || w.tells(who, line) {
			w.say(fmt.Sprintf("%-10s│ %s", who, w.cut(line)))
		}
	}
}

// tells decides whether the quiet story shows a line.
func (w *window) tells(who, line string) bool {
	switch who {
	case "terminal":
		if word := strings.TrimSpace(line); strings.HasPrefix(word, "ready") || strings.HasPrefix(word, "not ready") {
			return true
		}
		shown := !w.code
		w.code = w.code || strings.Contains(line, "valid for")
		return shown && strings.TrimSpace(line) != ""
	case "register":
		if line == w.status {
			return false
		}
		if strings.HasPrefix(line, "terminal: ") { // what the terminal says while the register waits
			w.status = line
			return !w.receipt || !strings.Contains(line, "please wait")
		}
		if strings.HasPrefix(line, "  ") { // a receipt
			return !w.receipt && strings.TrimSpace(line) != ""
		}
		w.receipt = w.receipt || strings.HasPrefix(line, "approved")
	case "sending":
		return strings.HasPrefix(line, "accepted")
	}
	return true
}

// another makes the next receipt one that is shown.
func (w *window) another() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receipt = false
}

// shorten is the body of an answer in one line. It is long enough for the ids in it.
func (w *window) shorten(body []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, body) != nil {
		b.Reset()
		b.Write(bytes.TrimSpace(body))
	}
	if r := []rune(b.String()); w.narrow && len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return b.String()
}

// cut shortens a line to the width of the window.
func (w *window) cut(line string) string {
	if r := []rune(line); w.narrow && !w.verbose && len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return line
}
