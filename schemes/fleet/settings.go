package fleet

import (
	"strconv"
	"strings"

	"posagent/schemes/wire/check"
)

// Setting is one key of a terminal's configuration.
type Setting struct {
	Key   string `json:"key" wire:"required"`   // "offline.max_count"
	Value string `json:"value" wire:"required"` // as TOML writes it in one line
}

// Limits of the settings of a roll-out.
const (
	MaxSettings = 20
	maxValue    = 1000 // bytes
)

// Fleetwide returns why a key cannot be the same on all terminals; "" = it can. What a terminal is called, its register lines and
// its secrets are its own.
func Fleetwide(key string) string {
	if !strings.Contains(key, ".") || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_.") != "" || strings.Contains("."+key+".", "..") {
		return "want a section and a key, as in offline.max_count"
	}
	if key == "terminal.bax_id" || key == "terminal.terminal_id" || strings.HasPrefix(key, "ecr.") {
		return "each terminal has its own: give it with fleet configure"
	}
	for _, secret := range []string{"auth", "token", "secret", "client", "credentials"} {
		if strings.Contains(key, secret) {
			return "a secret, or a file of the terminal: give it with fleet configure"
		}
	}
	return ""
}

func settings(l *check.List, list []Setting) {
	if len(list) == 0 {
		l.Add("settings", "want at least one")
	}
	if !l.Count("settings", len(list), MaxSettings) {
		return
	}
	seen := map[string]bool{}
	for i, s := range list {
		at := "settings[" + strconv.Itoa(i) + "]."
		if why := Fleetwide(s.Key); why != "" {
			l.Add(at+"key", why)
		} else if seen[s.Key] {
			l.Add(at+"key", "twice in the list")
		}
		seen[s.Key] = true
		if len(s.Value) > maxValue || !printable(s.Value) || s.Value == "" || valueEnd(s.Value, 0) != len(s.Value) {
			l.Add(at+"value", "want one value as TOML writes it, of at most "+strconv.Itoa(maxValue)+" bytes of printable ASCII in one line")
		}
	}
}

// Apply returns a configuration with settings, and the values that they replace. An empty value means that the key is not there:
// Apply with what it returned restores the values of before. It reads the forms of TOML that people write; a terminal refuses a
// text in which it found no place.
func Apply(text string, list []Setting) (changed string, before []Setting) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, s := range list {
		e, section := find(text, s.Key)
		before = append(before, Setting{s.Key, text[e.value:e.end]})
		dot := strings.LastIndexByte(s.Key, '.')
		line := s.Key[dot+1:] + " = " + s.Value + "\n"
		switch {
		case e.end > e.value && s.Value == "":
			text = text[:e.line] + text[e.next:]
		case e.end > e.value:
			text = text[:e.value] + s.Value + text[e.end:]
		case s.Value == "":
		case section > 0:
			text = text[:section] + line + text[section:]
		default:
			text += "[" + s.Key[:dot] + "]\n" + line
		}
	}
	return text, before
}

// entry is where a key stands in a text: its lines, and its value.
type entry struct{ line, value, end, next int }

// find returns where a key stands in a text of whole lines, the zero value = nowhere, and where the lines of its section begin, 0 = it has none.
func find(text, key string) (e entry, section int) {
	in := ""
	for at := 0; at < len(text); {
		line := at
		at = blanks(text, at)
		switch text[at] { // the text ends with a line
		case '\n', '#':
			at = lineEnd(text, at)
		case '[':
			next := lineEnd(text, at)
			name, _, _ := strings.Cut(text[at+1:next], "]")
			in = bare(name) + "." // of a list of tables it is "[name.", which no key begins with
			if at = next; key[:strings.LastIndexByte(key, '.')+1] == in {
				section = next
			}
		default:
			name, _, found := strings.Cut(text[at:lineEnd(text, at)], "=")
			if !found {
				at = lineEnd(text, at)
				continue
			}
			value := blanks(text, at+len(name)+1)
			end := min(valueEnd(text, value), len(text))
			at = lineEnd(text, end)
			if in+bare(name) == key {
				e = entry{line, value, end, at}
			}
		}
	}
	return e, section
}

// bare is a name without blanks and quotes.
func bare(name string) string {
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(name)
}

// blanks returns where the blanks end that may begin at a place.
func blanks(text string, at int) int {
	return len(text) - len(strings.TrimLeft(text[at:], " \t\r"))
}

// lineEnd returns where the next line begins.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// valueEnd returns where the value ends that begins at a place.
func valueEnd(text string, at int) int {
	depth, end := 0, at
	for at < len(text) {
		c := text[at]
		switch {
		case c == '"' || c == '\'':
			at = stringEnd(text, at)
			end = at
			continue
		case c == '#' && depth == 0, c == '\n' && depth == 0:
			return end
		case c == '#':
			at = lineEnd(text, at)
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		at++
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			end = at
		}
	}
	if depth != 0 {
		return at + 1 // it has no end
	}
	return end
}

// stringEnd returns where a string ends that begins at a place; one byte behind the text = it does not end.
func stringEnd(text string, at int) int {
	quote := text[at : at+1]
	if strings.HasPrefix(text[at:], quote+quote+quote) {
		quote += quote + quote
	}
	for at += len(quote); at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], quote):
			at += len(quote)
			for len(quote) == 3 && at < len(text) && text[at] == quote[0] { // quotes before the closing ones
				at++
			}
			return at
		case text[at] == '\\' && quote[0] == '"':
			at++
		case text[at] == '\n' && len(quote) == 1:
			return at
		}
	}
	return len(text) + 1
}
