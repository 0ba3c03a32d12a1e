package printer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posagent/device/qr"
)

// Kind says what a Line is.
type Kind int

// The kinds of line.
const (
	Text Kind = iota // Line.Text, wrapped between words; a newline in it begins another line
	Pair             // Line.Text at the left and Line.Right, an amount, at the right
	Rule             // a line across the paper
	Code             // Line.Text as a QR code, in the middle
	Feed             // Line.Lines empty lines
	Cut              // the end of a piece of paper
)

// Align is where a Text stands.
type Align int

// The alignments.
const (
	Left Align = iota
	Centre
	Right
)

// Line is one entry of a Document; a field that its Kind does not name is ignored.
type Line struct {
	Kind   Kind
	Text   string // Text, Pair, Code
	Right  string // Pair
	Align  Align  // Text
	Bold   bool   // Text, Pair, Rule
	Double bool   // Text, Pair: twice as wide and high; of normal size where an amount or a word does not fit
	Lines  int    // Feed: 1 to MaxFeed
}

// Document is what stands on the paper, from top to bottom.
type Document struct {
	Lines []Line
	// Short is what it says in short: lines of Text and Pair that are printed once more, at its end, where the printer does not tell
	// that it has worked through the others. One that loses power for a moment forgets what it has not printed yet, and seems to be well.
	Short []Line
}

// split parts a document: the cuts at its end stand alone.
func (d Document) split() (body, end []Line) {
	n := len(d.Lines)
	for n > 0 && d.Lines[n-1].Kind == Cut {
		n--
	}
	return d.Lines[:n], d.Lines[n:]
}

// Limits of a Document.
const (
	MaxLines = 500
	MaxText  = 32 << 10 // bytes of all texts
	MaxFeed  = 15
	MaxCodes = 4
)

// ErrDocument is the error of a Document that cannot be printed. It names the line, counted from 1, and the rule.
var ErrDocument = errors.New("document cannot be printed")

// check refuses what is beyond the limits.
func (d Document) check() error {
	bad := func(i int, format string, args ...any) error {
		return fmt.Errorf("%w: line %d: %s", ErrDocument, i+1, fmt.Sprintf(format, args...))
	}
	text, codes, lines := 0, 0, 0
	for i, l := range slices.Concat(d.Lines, d.Short) {
		if i >= len(d.Lines) && l.Kind != Text && l.Kind != Pair {
			return bad(i, "neither text nor pair, in the short form")
		}
		lines++
		switch l.Kind {
		case Text, Pair:
			text += len(l.Text) + len(l.Right)
			lines += strings.Count(l.Text, "\n")
			if l.Align < Left || l.Align > Right {
				return bad(i, "unknown alignment %d", int(l.Align))
			}
		case Code:
			codes++
			if l.Text == "" || len(l.Text) > qr.MaxPayload {
				return bad(i, "a code of %d bytes, want 1 to %d", len(l.Text), qr.MaxPayload)
			}
		case Feed:
			if l.Lines < 1 || l.Lines > MaxFeed {
				return bad(i, "feed of %d lines, want 1 to %d", l.Lines, MaxFeed)
			}
		case Rule, Cut:
		default:
			return bad(i, "unknown kind %d", int(l.Kind))
		}
		if text > MaxText {
			return bad(i, "more than %d bytes of text", MaxText)
		}
		if codes > MaxCodes {
			return bad(i, "more than %d codes", MaxCodes)
		}
		if lines > MaxLines {
			return bad(i, "more than %d lines", MaxLines)
		}
	}
	return nil
}
