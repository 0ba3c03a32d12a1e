package config

import "strings"

// lines are the lines of the keys and sections of a file.
type lines map[string]int

// of is the line of a key, or of its section; 0 = neither stands in the file.
func (l lines) of(key string) int {
	for k := key; k != ""; {
		if n := l[k]; n > 0 {
			return n
		}
		k = k[:max(0, strings.LastIndexByte(k, '.'))]
	}
	return 0
}

// add keeps the first line of a key.
func (l lines) add(key string, line int) {
	if l[key] == 0 {
		l[key] = line
	}
}

// lineNumbers finds the line of each "section" and "section.key" in a file that has parsed. It knows the
// forms people write; a key in a form it does not know has the line of its section.
func lineNumbers(text []byte) lines {
	found := lines{}
	section := ""
	entries := 0 // of the list [[ecr]]
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[[ecr]]") {
			section = LineKey(entries)
			entries++
			found.add(section, i+1)
			section += "."
			continue
		}
		if strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "[[") {
			if name, _, ok := strings.Cut(line[1:], "]"); ok {
				section = plain(name)
				found.add(section, i+1)
				section += "."
			}
			continue
		}
		if key, _, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			found.add(section+plain(key), i+1)
		}
	}
	return found
}

// plain is a key without blanks and quotes.
func plain(key string) string {
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(key)
}
