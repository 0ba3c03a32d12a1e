package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

const (
	maxFile   = 1 << 20
	maxSecret = 64 << 10
	envPrefix = "POSAGENT_"
)

// Load reads the file at path ("" = none; a named one must exist), lets env ("NAME=value" lines, as from
// os.Environ) override it, and validates. The error joins everything that is wrong.
func Load(path string, env []string) (Config, error) {
	var text []byte
	private := false
	if path != "" {
		b, mode, err := readFile(path, maxFile)
		if err != nil {
			return Config{}, fmt.Errorf("config: %w", err)
		}
		text, private = b, mode&0o077 == 0
	}
	return parse(path, text, private, env)
}

// parse is Load over the text of the file.
func parse(path string, text []byte, private bool, env []string) (Config, error) {
	c := Default()
	l := loader{path: path, private: private, c: &c, fields: map[string]field{}, seen: map[string]string{}}
	for _, f := range fields(&c) {
		l.fields[f.path] = f
		l.known = append(l.known, f.path)
	}
	c.origin = l.seen
	whole := l.file(text)
	l.env(env)
	c.complete()
	if whole {
		l.judge()
	}
	if len(l.errs) > 0 {
		return Config{}, errors.Join(l.errs...)
	}
	return c, nil
}

// KeyError is what is wrong with one key.
type KeyError struct {
	Where string // "FILE:LINE", "FILE" or the name of a variable, "" = it stands nowhere
	Key   string // "" = the place says it
	Err   error
}

func (e *KeyError) Error() string {
	s := "config: "
	for _, part := range []string{e.Where, e.Key} {
		if part != "" {
			s += part + ": "
		}
	}
	return s + e.Err.Error()
}

// Unwrap gives the reason.
func (e *KeyError) Unwrap() error { return e.Err }

// Problems takes an error of Load apart; what is no KeyError stands in one without a place.
func Problems(err error) (list []*KeyError) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			list = append(list, Problems(e)...)
		}
		return list
	}
	var one *KeyError
	if errors.As(err, &one) {
		return []*KeyError{one}
	}
	if err != nil {
		return []*KeyError{{Err: err}}
	}
	return nil
}

// judge adds what is wrong with the values that could be read, each with its place.
func (l *loader) judge() {
	failed := map[string]bool{}
	for _, e := range Problems(errors.Join(l.errs...)) {
		failed[e.Key], failed[strings.TrimSuffix(e.Key, "_file")] = true, true
	}
	list := l.c.judge()
	for _, e := range list {
		if e.Where = l.seen[e.Key]; e.Where == "" && l.path != "" {
			e.Where = l.at(e.Key)
		}
	}
	slices.SortStableFunc(list, func(a, b *KeyError) int { return cmp.Or(l.line(a.Key)-l.line(b.Key), strings.Compare(a.Key, b.Key)) })
	for _, e := range list {
		if !failed[e.Key] {
			l.errs = append(l.errs, e)
		}
	}
}

// line is where a key stands in the file, or its section, 0 = neither.
func (l *loader) line(key string) int {
	for k := key; k != ""; {
		if n := l.lines[k]; n > 0 {
			return n
		}
		k = k[:max(0, strings.LastIndexByte(k, '.'))]
	}
	return 0
}

// loader collects values and errors.
type loader struct {
	path    string
	private bool // only the owner can read the file
	c       *Config
	fields  map[string]field
	known   []string
	seen    map[string]string // key -> origin
	lines   map[string]int
	errs    []error
}

func (l *loader) fail(where, key string, err error) {
	l.errs = append(l.errs, &KeyError{where, key, err})
}

func (l *loader) at(key string) string {
	if n := l.line(key); n > 0 {
		return fmt.Sprintf("%s:%d", l.path, n)
	}
	return l.path
}

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
			l.fail(fmt.Sprintf("%s:%d", l.path, p.Position.Line), "", errors.New(syntax(p)))
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
func syntax(p toml.ParseError) string {
	msg := p.Message
	if strings.Contains(msg, "already been defined") || strings.Contains(msg, "already defined") {
		if p.LastKey == "" {
			return "this section is given twice"
		}
		return p.LastKey + " is given twice"
	}
	if own, _, found := strings.Cut(msg, " but "); found {
		msg = strings.TrimRight(own, ",") // what was expected; what stood there instead follows
	} else if i := strings.IndexAny(msg, "\"'`"); i >= 0 {
		msg = strings.TrimRight(msg[:i], " :(")
	}
	if p.LastKey != "" {
		return "not valid TOML after " + p.LastKey + ": " + msg
	}
	return "not valid TOML: " + msg
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

func (l *loader) unknown(where, key string, known []string, what string) {
	err := fmt.Errorf("unknown %s", what)
	name := key
	if name == "" {
		name = where
	}
	if s := suggest(name, known); s != "" {
		err = fmt.Errorf("unknown %s, did you mean %s?", what, s)
	}
	l.fail(where, key, err)
}

// value takes one key of the file.
func (l *loader) value(key string, raw any) {
	where := l.at(key)
	if f, ok := l.fields[strings.TrimSuffix(key, "_file")]; ok && strings.HasSuffix(key, "_file") && f.secret() {
		path, ok := raw.(string)
		if !ok {
			l.fail(where, key, want("a path in quotes", raw))
			return
		}
		if l.seen[f.path] != "" {
			l.fail(where, key, fmt.Errorf("%s is given too", f.path))
			return
		}
		l.secretFile(f, where, key, path)
		return
	}
	f, ok := l.fields[key]
	if !ok {
		l.unknown(where, key, l.known, "key")
		return
	}
	if f.secret() && !l.private {
		l.fail(where, key, fmt.Errorf("a secret in a file that others can read: chmod 600 %s, or use %s_file", l.path, key))
		return
	}
	if err := f.set(raw); err != nil {
		l.fail(where, key, err)
		return
	}
	l.seen[key] = where
}

// secretFile reads a secret from its own file.
func (l *loader) secretFile(f field, where, key, path string) {
	b, mode, err := readFile(path, maxSecret)
	switch {
	case err != nil:
		l.fail(where, key, err)
		return
	case mode&0o037 != 0:
		l.fail(where, key, fmt.Errorf("%s can be read by others: chmod 600 %s", path, path))
		return
	}
	s := strings.TrimRight(string(b), "\r\n")
	if s == "" {
		l.fail(where, key, fmt.Errorf("%s is empty", path))
		return
	}
	if err := f.set(s); err != nil {
		l.fail(where, key, fmt.Errorf("%s: %w", path, err))
		return
	}
	l.seen[f.path] = where
}

// env applies the variables.
func (l *loader) env(env []string) {
	names := map[string]string{} // POSAGENT_ECR_SERIAL -> ecr.serial
	sections := map[string]bool{}
	var known []string
	for _, k := range l.known {
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(k, ".", "_"))
		names[name] = k
		if known = append(known, name); l.fields[k].secret() {
			known[len(known)-1] += "_FILE"
		}
		first, _, _ := strings.Cut(k, ".")
		sections[strings.ToUpper(first)] = true
	}
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		first, _, _ := strings.Cut(name[len(envPrefix):], "_")
		if !sections[first] {
			l.foreign(name, known)
			continue
		}
		key, ok := names[name]
		if f := l.fields[names[strings.TrimSuffix(name, "_FILE")]]; !ok && f.path != "" && f.secret() {
			l.secretFile(f, name, f.path, value)
			continue
		}
		switch {
		case !ok:
			l.unknown(name, "", known, "variable")
		case l.fields[key].secret():
			l.fail(name, key, fmt.Errorf("a secret in a variable is seen by every child and dump: use %s_FILE", name))
		default:
			if err := l.fields[key].setText(value); err != nil {
				l.fail(name, key, err)
				continue
			}
			l.seen[key] = name
		}
	}
}

// others are the variables of the command line.
var others = []string{"POSAGENT_CONFIG", "POSAGENT_STATE", "POSAGENT_BACKUP_KEY_FILE"}

// foreign handles a variable that names no section. It accepts one of the command line's and refuses a misspelt name. It reports
// any other name and does not use it: another program may.
func (l *loader) foreign(name string, known []string) {
	if slices.Contains(others, name) {
		return
	}
	short := make([]string, 0, len(known)+len(others))
	for _, k := range slices.Concat(known, others) {
		short = append(short, k[len(envPrefix):])
	}
	if s := suggest(name[len(envPrefix):], short); s != "" {
		l.fail(name, "", fmt.Errorf("unknown variable, did you mean %s?", envPrefix+s))
		return
	}
	l.c.ignored = append(l.c.ignored, name)
}

// readFile reads a regular file of at most limit bytes and gives its mode.
func readFile(path string, limit int64) ([]byte, os.FileMode, error) {
	if path == "" {
		return nil, 0, errors.New("no path")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not block the start
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(b)) > limit {
		return nil, 0, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return b, st.Mode().Perm(), nil
}

// lineNumbers finds the line of each "section" and "section.key" in a file that has parsed. It knows the forms people
// write; a key in a form it does not know has the line of its section.
func lineNumbers(text []byte) map[string]int {
	lines := map[string]int{}
	section := ""
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "[[") {
			if name, _, ok := strings.Cut(line[1:], "]"); ok {
				section = plain(name)
				mark(lines, section, i+1)
				section += "."
			}
			continue
		}
		if key, _, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			mark(lines, section+plain(key), i+1)
		}
	}
	return lines
}

func mark(lines map[string]int, key string, line int) {
	if lines[key] == 0 {
		lines[key] = line
	}
}

// plain is a key without blanks and quotes.
func plain(key string) string {
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(key)
}
