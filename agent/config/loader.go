package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"posagent/device/file"
)

// loader collects values and errors.
type loader struct {
	path    string
	private bool // only the owner can read the file
	given   bool // the text was given from elsewhere: it names no files of secrets
	c       *Config
	fields  map[string]field
	known   []string
	seen    map[string]string // key -> origin
	here    map[string]bool   // the keys that this text has set
	lines   lines
	secrets map[string]string // key -> the file that its secret was read from
	errs    []error
}

// open begins with a text.
func (l *loader) open(path string, private, given bool) {
	l.path, l.private, l.given, l.here, l.lines = path, private, given, map[string]bool{}, nil
}

// set notes where the value of a key comes from.
func (l *loader) set(key, where string) { l.seen[key], l.here[key] = where, true }

func (l *loader) fail(where, key string, err error) {
	l.errs = append(l.errs, &KeyError{where, key, err})
}

func (l *loader) at(key string) string {
	if n := l.lines.of(key); n > 0 {
		return fmt.Sprintf("%s:%d", l.path, n)
	}
	return l.path
}

// unknown reports a name that is no setting, with the one that was meant.
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
		if l.here[f.path] {
			l.fail(where, key, fmt.Errorf("%s is given too", f.path))
			return
		}
		if l.given {
			l.fail(where, key, fmt.Errorf("a configuration that is given to the terminal names none of its files: give %s itself", f.path))
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
	if l.given && !f.mayBeGiven(raw) {
		l.fail(where, key, errors.New("a configuration that is given to the terminal names none of its files: set it in the box's own file"))
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
	l.set(key, where)
}

// secretFile reads a secret from its own file.
func (l *loader) secretFile(f field, where, key, path string) {
	b, mode, err := readFile(path, maxSecret)
	switch {
	case err != nil:
		l.fail(where, key, err)
		return
	case mode&0o037 != 0:
		advice := "chmod 600 " + path
		if strings.HasPrefix(key, "port.") { // a client of the local port reads it, too, by its group
			advice = fmt.Sprintf("chgrp GROUP %s; chmod 640 %s, with the group of the client's account", path, path)
		}
		l.fail(where, key, fmt.Errorf("%s can be read by others: %s", path, advice))
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
	l.set(f.path, where)
	l.secrets[f.path] = path
}

const (
	maxFile   = 1 << 20
	maxSecret = 64 << 10
)

// readFile reads a regular file of at most limit bytes and gives its mode.
func readFile(path string, limit int64) ([]byte, os.FileMode, error) {
	if path == "" {
		return nil, 0, errors.New("no path")
	}
	data, info, err := file.Read(path, file.Follow, limit)
	if err != nil {
		return nil, 0, err
	}
	return data, info.Mode().Perm(), nil
}
