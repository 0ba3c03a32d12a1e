package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"posagent/device/node"
)

// use is what the terminal does with the file that a value names; "" = the value is no path.
type use string

const (
	reads use = "read" // several keys may name it
	owns  use = "own"  // writes it, or lets nobody else use it
	plugs use = "line" // as owns; a line of the box, which has the same name on every box
)

// lineName is the name of a serial line or a printer's device, which says nothing about the files of a box.
var lineName = regexp.MustCompile(`^/dev/(tty[A-Za-z0-9_.-]+|serial/by-(id|path)/[A-Za-z0-9_.:+@,-]+|usb/lp[0-9]+|usblp[0-9]+)$`)

// mayBeGiven reports whether a configuration that is given to the terminal may name this value: it is written for many boxes by
// somebody who does not see their files, and may be anybody's who holds the operator's account.
func (f field) mayBeGiven(raw any) bool {
	s, ok := raw.(string)
	return f.use == "" || !ok || s == "" || f.use == plugs && (lineName.MatchString(s) || node.IsUSB(s))
}

// shared reports keys that name one file or device, of which the terminal wants one for itself alone. Two users of one line are no
// reason not to sell: one of them has it, and config check refuses it.
func (l *loader) shared() {
	type named struct {
		key, path string
		use       use
	}
	var list []named
	for _, f := range fields(l.c) {
		if f.use != "" && f.v.String() != "" {
			list = append(list, named{f.path, f.v.String(), f.use})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.secrets)) {
		list = append(list, named{key + "_file", l.secrets[key], reads})
	}
	for i, a := range list {
		if a.use == reads && isPath(a.path) && a.key != "reconcile.file" { // that one is read anew each day
			l.c.reads = append(l.c.reads, a.path)
		}
		for _, b := range list[:i] {
			if a.use == reads && b.use == reads || !samePlace(a.path, b.path) {
				continue
			}
			e := &KeyError{l.seen[strings.TrimSuffix(a.key, "_file")], a.key, fmt.Errorf("%q is what %s names, too: name another", a.path, b.key)}
			if a.use == plugs && b.use == plugs {
				l.c.twice = append(l.c.twice, e)
			} else {
				l.errs = append(l.errs, e)
			}
		}
	}
}

// Reads are the files that a terminal reads at its start: secrets, certificates, roots.
func (c Config) Reads() []string { return c.reads }

// Twice is nil where each line has one user. The terminal runs with two: one of them has the line.
func (c Config) Twice() error { return errors.Join(c.twice...) }

// Naming are the keys that name a device or file which the terminal has for itself, by whatever name.
func (c Config) Naming(path string) (keys []string) {
	for _, f := range fields(&c) {
		if (f.use == owns || f.use == plugs) && f.v.String() != "" && samePlace(f.v.String(), path) {
			keys = append(keys, f.path)
		}
	}
	return keys
}

// samePlace reports whether two values name one thing of the box: one device by whatever name, one file by whatever link. Anything else
// than a path or a converter is no name.
func samePlace(a, b string) bool {
	named := func(s string) bool { return isPath(s) || node.IsUSB(s) }
	return a == b || named(a) && named(b) && node.Same(a, b)
}

// Apart refuses what the terminal would write into the state directory, or over its configuration: its own keys, journal, tokens.
// file is the configuration's, "" = none. The embedded backend's own directory may lie there, under a name that no file there has.
func (c Config) Apart(state, file string) error {
	var errs []error
	for _, f := range fields(&c) {
		if f.use != owns && f.use != plugs || !isPath(f.v.String()) {
			continue
		}
		path := f.v.String()
		own := f.path == "backend.data" || f.path == "display.file" // whose name ends in .png or .svg, as nothing there does
		in, err := filepath.Rel(node.Real(state), node.Real(path))
		switch within := err == nil && in != ".." && !strings.HasPrefix(in, "../"); {
		case file != "" && samePlace(path, file):
			err = fmt.Errorf("%q is the configuration itself: name another file", path)
		case within && f.path == "backend.data" && in != "." && strings.Contains(in, "."): // a directory in the place of a file that is not there just now
			err = fmt.Errorf("%q has a name as the terminal's own files in the state directory have: name a directory without a dot, or a place outside %s", path, state)
		case within && (!own || in == "."):
			err = fmt.Errorf("%q lies in the state directory, among the terminal's keys and journals: name a place outside %s", path, state)
		default:
			continue
		}
		errs = append(errs, &KeyError{c.origin[f.path], f.path, err})
	}
	return errors.Join(errs...)
}
