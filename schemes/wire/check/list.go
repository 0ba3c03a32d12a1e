package check

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"posagent/schemes/wire"
)

// Checked is a request that knows its own rules: Check adds what is wrong with it to the list.
type Checked interface{ Check(l *List) }

// Request applies the rules of a request. The error is *wire.Error with code Invalid and names every field that is wrong, never
// its content. op names the call in it.
func Request(op string, in Checked) error {
	var l List
	in.Check(&l)
	return l.Err(op)
}

// List collects the rules that a request breaks. The zero value is a request without faults.
type List struct {
	First  bool // of several broken rules the first gives the error its reason; otherwise none does
	faults []error
	whole  error
}

// fault is a broken rule, with the word of the service's catalogue for it where there is one.
type fault struct {
	wire.FieldError
	reason string
}

// Unwrap lets wire find the field.
func (f *fault) Unwrap() error { return &f.FieldError }

// Add adds a broken rule. why carries nothing that was read.
func (l *List) Add(path, why string) { l.Reason(path, why, "") }

// Reason is Add with the catalogue's word for the rule.
func (l *List) Reason(path, why, reason string) {
	l.faults = append(l.faults, &fault{wire.FieldError{Path: path, Reason: why, Code: wire.Invalid}, reason})
}

// Len is how many rules are broken so far.
func (l *List) Len() int { return len(l.faults) }

// Err returns the broken rules as one *wire.Error with code Invalid, nil where there are none. Its Reason is set where one rule
// alone is broken, and where First is.
func (l *List) Err(op string) error {
	switch {
	case l.whole != nil:
		return wire.AsError(op, l.whole)
	case len(l.faults) == 0:
		return nil
	}
	e := wire.AsError(op, errors.Join(l.faults...))
	if f := (*fault)(nil); (len(l.faults) == 1 || l.First) && errors.As(l.faults[0], &f) {
		e.Reason = f.reason
	}
	return e
}

// Refuse refuses a request as a whole, in the service's own words. It counts where nothing is wrong so far, not even that.
func (l *List) Refuse(err error) {
	if len(l.faults) == 0 && l.whole == nil {
		l.whole = err
	}
}

// Count refuses a list of more than limit entries, and returns whether it may be looked at.
func (l *List) Count(path string, n, limit int) bool {
	if n > limit {
		l.Add(path, "more than "+strconv.Itoa(limit)+" entries")
	}
	return n <= limit
}

// OneOf refuses a word that words does not have; "" is absent.
func (l *List) OneOf(path, s string, words ...string) {
	if s != "" && !slices.Contains(words, s) {
		l.Add(path, "want one of "+strings.Join(words, ", "))
	}
}

// Word refuses what cannot be a piece of a path or a stored reference: see wire.PathWord. It must be there.
func (l *List) Word(path, s string, limit int) {
	if !wire.PathWord(s, limit) {
		l.Add(path, "want 1 to "+strconv.Itoa(limit)+" characters")
	}
}

// Text refuses a text longer than limit bytes, and one that cannot stand in one line of a screen, a slip or a log.
func (l *List) Text(path, s string, limit int) {
	if !wire.PlainText(s, limit) || strings.ContainsAny(s, "\u2028\u2029") {
		l.Add(path, "longer than "+strconv.Itoa(limit)+" bytes, or control characters")
	}
}
