package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Layer is a configuration beneath the file: what the terminal was given from elsewhere.
type Layer struct {
	Name string // for the origin of its values: NAME:LINE
	Text []byte // TOML; it names no files of secrets, it holds them
}

// Load reads the layers, the highest last, and the file at path ("" = none; a named one must exist) over them, lets env
// ("NAME=value" lines, as from os.Environ) override it, and validates. The error joins everything that is wrong; beside it the
// configuration has what could be read, and is not to be used.
func Load(path string, env []string, under ...Layer) (Config, error) {
	var text []byte
	private := false
	if path != "" {
		b, mode, err := readFile(path, maxFile)
		if err != nil {
			return Config{}, fmt.Errorf("config: %w%s", err, remedy(path, err))
		}
		text, private = b, mode&0o077 == 0
	}
	return parse(path, text, private, env, under...)
}

// parse is Load over the text of the file.
func parse(path string, text []byte, private bool, env []string, under ...Layer) (Config, error) {
	c := Default()
	l := loader{c: &c, fields: map[string]field{}, seen: map[string]string{}, secrets: map[string]string{}}
	for _, f := range fields(&c) {
		l.fields[f.path] = f
		l.known = append(l.known, f.path)
	}
	c.origin = l.seen
	whole := true
	for _, below := range under {
		l.open(below.Name, true, true)
		whole = l.file(below.Text) && whole
	}
	l.open(path, private, false)
	whole = l.file(text) && whole
	l.env(env)
	l.certificates()
	l.shared()
	c.complete()
	if whole {
		l.validate()
	}
	if len(l.errs) > 0 {
		inLineOrder(l.errs)
		return c, errors.Join(l.errs...)
	}
	return c, nil
}

// certificates reports files of the connection that the file or a variable names, and that are not there. One that this account may
// not look at is left to the terminal.
func (l *loader) certificates() {
	u := l.c.Upstream
	for _, f := range []struct{ key, path string }{
		{"upstream.roots_file", u.RootsFile}, {"upstream.client_cert", u.ClientCert}, {"upstream.client_key", u.ClientKey},
	} {
		if !l.here[f.key] || !isPath(f.path) {
			continue
		}
		if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
			l.fail(l.seen[f.key], f.key, fmt.Errorf("%w %s: put it there, or name the file that is", ErrNoFile, f.path))
		}
	}
}

// remedy is what to do about a file that cannot be read.
func remedy(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return ": type it as root or as the terminal's account"
	case errors.Is(err, fs.ErrNotExist):
		return ": posagent config example > " + path + " makes one"
	}
	return ""
}

// inLineOrder sorts errors by their lines within each text, as a person goes through it; those without a line come last there.
func inLineOrder(errs []error) {
	place := func(err error) (text string, line int) {
		where := ""
		if one := (*KeyError)(nil); errors.As(err, &one) {
			where = one.Where
		}
		if i := strings.LastIndexByte(where, ':'); i >= 0 {
			if n, err := strconv.Atoi(where[i+1:]); err == nil {
				return where[:i], n
			}
		}
		return where, math.MaxInt
	}
	texts := map[string]int{}
	for _, err := range errs {
		if text, _ := place(err); texts[text] == 0 {
			texts[text] = len(texts) + 1
		}
	}
	slices.SortStableFunc(errs, func(a, b error) int {
		textA, lineA := place(a)
		textB, lineB := place(b)
		return cmp.Or(cmp.Compare(texts[textA], texts[textB]), cmp.Compare(lineA, lineB))
	})
}

// validate adds what is wrong with the values that could be read, each with its place.
func (l *loader) validate() {
	failed := map[string]bool{}
	for _, e := range Problems(errors.Join(l.errs...)) {
		key := strings.TrimSuffix(e.Key, "_file")
		failed[e.Key], failed[key] = true, true
		if strings.HasPrefix(key, "port.clients.") { // without its token a client has another error, which says nothing new
			failed[strings.TrimSuffix(key, ".token")] = true
		}
	}
	list := l.c.wrong()
	for _, e := range list {
		if e.Where = l.seen[e.Key]; e.Where == "" && l.path != "" {
			e.Where = l.at(e.Key)
		}
	}
	slices.SortStableFunc(list, func(a, b *KeyError) int {
		return cmp.Or(l.lines.of(a.Key)-l.lines.of(b.Key), strings.Compare(a.Key, b.Key))
	})
	for _, e := range list {
		if !failed[e.Key] {
			l.errs = append(l.errs, e)
		}
	}
}
