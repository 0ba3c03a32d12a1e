package exam

import (
	"slices"
	"strings"
	"unicode"
)

// Passed is a check that found nothing wrong. A finding saw names and values by turns; "seen" is the sentence for a person.
func Passed(saw ...string) Finding { return Finding{Status: Pass, Saw: saw} }

// Failed is a check that found a fault.
func Failed(saw ...string) Finding { return Finding{Status: Fail, Saw: saw} }

// Warned is a check that found what may become one.
func Warned(saw ...string) Finding { return Finding{Status: Warn, Saw: saw} }

// FailedIf fails with the sentence where bad is so, and passes otherwise.
func FailedIf(bad bool, sentence string) Finding {
	if bad {
		return Failed("seen", sentence)
	}
	return Passed()
}

// WarnedIf warns with the sentence where bad is so, and passes otherwise.
func WarnedIf(bad bool, sentence string) Finding {
	if bad {
		return Warned("seen", sentence)
	}
	return Passed()
}

// FailedBy fails with an error, and passes where there is none.
func FailedBy(err error) Finding {
	if err != nil {
		return Failed("seen", err.Error())
	}
	return Passed()
}

// Measured are names and values by turns that a finding shows, whether it passes or not.
type Measured []string

// Passed is a check that measured nothing wrong.
func (m Measured) Passed() Finding { return Passed(m...) }

// Failed is a check whose figures are a fault.
func (m Measured) Failed(sentence string) Finding {
	return Failed(slices.Concat(m, Measured{"seen", sentence})...)
}

// Warned is a check whose figures may become a fault.
func (m Measured) Warned(sentence string) Finding {
	return Warned(slices.Concat(m, Measured{"seen", sentence})...)
}

// Nothing is a check that has nothing to look at.
func Nothing(why string) Finding { return Finding{Status: Skip, Saw: []string{"seen", why}} }

// Behind is a check that waits for another one's failure that its facts show.
func Behind(id string) Finding { return Finding{Status: Skip, Waits: id} }

// Typed gives a finding a remedy of its own.
func (f Finding) Typed(text, command string) Finding {
	f.Do, f.Type = text, command
	return f
}

// Clean takes what would break a line, or a terminal, out of a text from outside, and bounds it.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// longest is how many letters of a text from outside are shown.
const longest = 240
