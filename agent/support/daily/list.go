package daily

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"posagent/agent/support/reconcile"
	"posagent/device/file"
	"posagent/schemes/wire"
)

// MaxList is how many bytes a list has at most that is compared beside sales: some 20,000 rows.
const MaxList = 2 << 20

// Trouble is why a till's list cannot be used, and what to do.
type Trouble struct {
	Words  string // what is wrong with the file
	Remedy string
}

// Error implements error.
func (t *Trouble) Error() string { return t.Words + ": " + t.Remedy }

func trouble(remedy, format string, args ...any) *Trouble {
	return &Trouble{Words: clean(fmt.Sprintf(format, args...)), Remedy: clean(remedy)}
}

// content is a list, and what tells it from another one.
type content struct {
	list   reconcile.List
	digest string
	at     time.Time // when the file was written
}

// written is when the file was written, 0 = there is none.
func (c content) written() int64 {
	if c.at.IsZero() {
		return 0
	}
	return c.at.UnixNano()
}

// Look reads the list and forgets it. Its error is a *Trouble.
func Look(path, currency string, zone *time.Location) error {
	if _, t := read(path, currency, zone); t != nil {
		return t
	}
	return nil
}

// read reads the list; nil = it can be used.
func read(path, currency string, zone *time.Location) (c content, t *Trouble) {
	data, info, err := file.Read(path, file.Follow, MaxList)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, trouble("let the till write its list there before the time of [reconcile] at, or correct [reconcile] file", "the till's list %s is not there", path)
	case errors.Is(err, fs.ErrPermission):
		return c, trouble("let the terminal's account read the file and its directory: ls -l "+path, "the till's list %s may not be read", path)
	case errors.Is(err, file.ErrIrregular):
		return c, trouble("set [reconcile] file to the file that the till writes", "the till's list %s is no file", path)
	case errors.Is(err, file.ErrTooLong):
		return c, trouble("let the till write the sales since its list before, and no older ones", "the till's list %s has more than %d MiB", path, MaxList>>20)
	case err != nil:
		return c, trouble("ls -l "+path+"; dmesg | tail shows errors of the disk", "the till's list %s cannot be read, %v", path, cause(err))
	}
	if c.list, err = reconcile.Read(bytes.NewReader(data), currency, zone); err != nil {
		return c, trouble("posagent reconcile "+path+" says the same; let the till write its list as agent/support/reconcile/README.md has it",
			"the till's list %s has an error, %v", path, err)
	}
	if timed := func(r reconcile.Row) bool { return !r.At.IsZero() }; len(c.list.Rows) > 0 && !slices.ContainsFunc(c.list.Rows, timed) {
		return c, trouble("let the till write the time of each sale: what its list lacks is looked for from its first time to its last", "the till's list %s has no times", path)
	}
	sum := sha256.Sum256(data)
	c.digest, c.at = hex.EncodeToString(sum[:]), info.ModTime()
	return c, nil
}

// cause is an error of a file without its path, which the words have.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// longest is how many letters of a text are kept.
const longest = 600

// clean masks card numbers in a text from outside, takes out what would break a line, and bounds it.
func clean(s string) string {
	s = wire.MaskPANs(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)) // masked as it is shown, and before it is cut
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}
