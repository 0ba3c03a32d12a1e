package config

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// file takes the text of the file; false = it is no TOML at all.
func (l *loader) file(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		l.fail(l.path, "", errors.New("not a text file in UTF-8"))
		return false
	}
	var raw map[string]any
	if _, err := toml.Decode(string(text), &raw); err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			// The message may quote the line, which may hold a secret: only the library's own words are kept.
			l.fail(fmt.Sprintf("%s:%d", l.path, p.Position.Line), "", errors.New(l.syntax(p)))
			return false
		}
		l.fail(l.path, "", errors.New("not valid TOML"))
		return false
	}
	l.lines = lineNumbers(text)
	l.table("", raw)
	return true
}

// syntax says what is wrong with the TOML without repeating a value.
func (l *loader) syntax(p toml.ParseError) string {
	msg := p.Message
	if strings.Contains(msg, "already been defined") || strings.Contains(msg, "already defined") {
		if p.LastKey == "" {
			return "this section is given twice"
		}
		return p.LastKey + " is given twice"
	}
	if own, _, found := strings.Cut(msg, " but "); found {
		msg = strings.TrimRight(own, ",") // what was expected; what stood there instead follows
		if msg == "expected value" {
			msg = l.wanted(p.LastKey)
		}
	} else if i := strings.IndexAny(msg, "\"'`"); i >= 0 {
		msg = strings.TrimRight(msg[:i], " :(")
	}
	if p.LastKey != "" {
		return "not valid TOML after " + p.LastKey + ": " + msg
	}
	return "not valid TOML: " + msg
}

// wanted says what kind of value a key has.
func (l *loader) wanted(key string) string {
	if f, ok := l.fields[key]; ok {
		return f.set(struct{}{}).Error() // which no key has, so nothing is set
	}
	if f, ok := l.fields[strings.TrimSuffix(key, "_file")]; ok && f.secret() {
		return want("a path in quotes", nil).Error()
	}
	return want("a text in quotes, a number, true or false, or a list", nil).Error()
}

func (l *loader) table(prefix string, raw map[string]any) {
	names := make([]string, 0, len(raw))
	for n := range raw {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		key := prefix + n
		if f := l.fields[key]; f.secrets() {
			l.named(f, raw[n])
			continue
		}
		if list, ok := raw[n].([]map[string]any); ok && key == "ecr" && len(list) > 0 {
			l.registers(list)
			continue
		}
		if sub, ok := raw[n].(map[string]any); ok && l.fields[key].path == "" {
			if !l.section(key) {
				l.unknown(l.at(key), key, l.sections(), "section")
				continue
			}
			l.table(key+".", sub)
			continue
		}
		l.value(key, raw[n])
	}
}

func (l *loader) section(key string) bool {
	for _, k := range l.known {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

func (l *loader) sections() []string {
	var list []string
	for _, k := range l.known {
		s := k[:strings.LastIndexByte(k, '.')]
		if len(list) == 0 || list[len(list)-1] != s {
			list = append(list, s)
		}
	}
	return list
}
