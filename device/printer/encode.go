package printer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"posagent/device/qr"
)

// Control codes of ESC/POS. Their meanings are those of Epson's command reference; where two makers differ, the Profile says which.
const (
	lf  = 0x0a
	dle = 0x10
	eot = 0x04
	esc = 0x1b
	fs  = 0x1c
	gs  = 0x1d
)

// The commands besides the status commands.
var (
	initialize = []byte{esc, '@'}    // also drops what is left of a line
	usLetters  = []byte{esc, 'R', 0} // # $ @ [ \ ] ^ ` { | } ~ as in ASCII
	noKanji    = []byte{fs, '.'}
)

// maxPiece is how many bytes are sent before the printer is asked how it is. At 9600 baud it takes 1.2 s.
const maxPiece = 1 << 10

// before says what was sent to a printer before a document.
type before int

const (
	ended   before = iota // a whole document
	unknown               // by an earlier run of the program
	cutOff                // a part of a document
)

// encoder makes the bytes of documents for one printer.
type encoder struct {
	layout
	profile Profile
}

func newEncoder(p Profile) encoder {
	return encoder{layout: layout{newSpeller(p.Pages), p.Columns}, profile: p}
}

// Encode returns the bytes that print a document, from the command that initializes the printer to the last. Errors: ErrDocument,
// and the faults of the profile.
func Encode(p Profile, d Document) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("printer profile: %w", err)
	}
	e := newEncoder(p)
	pieces, err := e.pieces(d)
	return slices.Concat(e.start(), slices.Concat(pieces...)), err
}

// start sets the printer up. It prints nothing.
func (e encoder) start() []byte {
	out := append(slices.Clone(initialize), esc, 't', e.profile.Pages[0].Number)
	if e.profile.Kanji {
		out = append(out, noKanji...)
	}
	return append(out, usLetters...) // last: a number of 16 before a status request would hide it
}

// rest ends what an earlier document left unended: a printer in the middle of a picture takes the next bytes for dots. Zeros are
// dots without ink there, and nothing elsewhere; a piece of them is longer than any picture.
func (e encoder) rest() []byte { return make([]byte, maxPiece) }

// stream is a document on its way into pieces.
type stream struct {
	done [][]byte
	now  []byte
}

// add puts a command into the current piece, or into the next one.
func (s *stream) add(b ...byte) {
	if len(s.now)+len(b) > maxPiece {
		s.flush()
	}
	s.now = append(s.now, b...)
}

func (s *stream) flush() {
	if len(s.now) > 0 {
		s.done, s.now = append(s.done, s.now), nil
	}
}

// pieces are the bytes of a document after the start, each at most maxPiece long and made of whole lines and commands; its short
// form is not among them. Errors: ErrDocument.
func (e encoder) pieces(d Document) ([][]byte, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	var s stream
	page := 0
	for i, l := range d.Lines {
		switch l.Kind {
		case Text:
			page = e.rows(&s, e.text(l), page)
		case Pair:
			page = e.rows(&s, e.pair(l), page)
		case Rule:
			page = e.rows(&s, []row{{slices.Repeat([]cell{{letter: '-', byte: '-', page: ascii}}, e.columns), l.Bold, false}}, page)
		case Code:
			if e.profile.Codes == CodeText {
				if i+1 >= len(d.Lines) || d.Lines[i+1].Kind != Text || d.Lines[i+1].Text != l.Text { // it stands below it anyhow
					page = e.rows(&s, e.text(Line{Text: l.Text}), page)
				}
				break
			}
			draw := e.bands
			if e.profile.Codes == CodeOwn {
				draw = e.own
			}
			bands, err := draw(l.Text)
			if err != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrDocument, i+1, err)
			}
			for _, b := range bands {
				s.add(b...)
				s.flush() // the printer is asked after each of them
			}
		case Feed:
			s.add(esc, 'd', byte(l.Lines))
		case Cut:
			s.add(e.cut()...)
		}
	}
	s.flush()
	return s.done, nil
}

// cut ends a piece of paper.
func (e encoder) cut() []byte {
	switch e.profile.Cut {
	case PartialCut:
		return []byte{gs, 'V', 'B', 0} // feeds to the knife first
	case FullCut:
		return []byte{gs, 'V', 'A', 0}
	}
	if e.profile.Tail == 0 {
		return nil
	}
	return []byte{esc, 'd', byte(e.profile.Tail)}
}

// rows adds lines of text, each with the settings it needs and without them at its end, and returns the page that is selected then.
func (e encoder) rows(s *stream, rows []row, page int) int {
	var b bytes.Buffer
	for _, r := range rows {
		b.Reset()
		if r.bold {
			b.Write([]byte{esc, 'E', 1})
		}
		if r.double {
			b.Write([]byte{gs, '!', 0x11})
		}
		for _, c := range trimRight(r.cells) {
			if c.page != ascii && c.page != page {
				if same, ok := e.on(page, c.letter); ok {
					c = same
				} else {
					page = c.page
					b.Write([]byte{esc, 't', e.profile.Pages[page].Number})
				}
			}
			b.WriteByte(c.byte)
		}
		b.WriteByte(lf)
		if r.double {
			b.Write([]byte{gs, '!', 0})
		}
		if r.bold {
			b.Write([]byte{esc, 'E', 0})
		}
		s.add(b.Bytes()...)
	}
	return page
}

// Sizes of a module of a code in dots. Three dots are 0.38 mm at 203 dots an inch; runs of at least two dots also mean that no byte
// of a picture is DLE, which a printer would take for a command that it answers at once.
const (
	minModule = 3
	maxModule = 6
)

// bands draws a code in the middle of the paper as raster pictures of full width that follow each other without a gap. It fails where
// the code has no room.
func (e encoder) bands(payload string) ([][]byte, error) {
	c, err := qr.New(payload, qr.Options{MaxModules: e.profile.Dots / minModule})
	if err != nil {
		return nil, err
	}
	module := min(maxModule, e.profile.Dots/c.Size())
	side := c.Size() * module
	indent := (e.profile.Dots - side) / 2
	width := (indent + side + 7) / 8 // bytes of a row of dots; what is right of the code is left out
	height := (maxPiece - 8) / width
	var bands [][]byte
	for top := 0; top < side; top += height {
		rows := min(height, side-top)
		band := []byte{gs, 'v', '0', 0, byte(width), 0, byte(rows), byte(rows >> 8)}
		for y := top; y < top+rows; y++ {
			line := make([]byte, width)
			for x := range side {
				if c.Dark(x/module, y/module) {
					line[(indent+x)/8] |= 0x80 >> ((indent + x) % 8)
				}
			}
			band = append(band, line...)
		}
		bands = append(bands, band)
	}
	return bands, nil
}

// longestOwn is how many bytes of a code's text a printer is given to draw: with the commands around it they are one piece.
const longestOwn = maxPiece - 64

// own lets the printer draw a code in the middle of the paper (GS ( k): model 2, modules as large as they fit, correction of level M.
func (e encoder) own(payload string) ([][]byte, error) {
	if len(payload) > longestOwn || strings.ContainsFunc(payload, unicode.IsControl) { // some are obeyed wherever they stand
		return nil, fmt.Errorf("a code of %d bytes, and a printer draws at most %d without control characters", len(payload), longestOwn)
	}
	c, err := qr.New(payload, qr.Options{MaxModules: e.profile.Dots / minModule})
	if err != nil {
		return nil, err
	}
	module := min(maxModule, e.profile.Dots/c.Size())
	out := []byte{esc, 'a', 1}
	command := func(b ...byte) { out = append(append(out, gs, '(', 'k', byte(len(b)), byte(len(b)>>8)), b...) }
	command('1', 'A', '2', 0)
	command('1', 'C', byte(module))
	command('1', 'E', '1')
	command(append([]byte{'1', 'P', '0'}, payload...)...)
	command('1', 'Q', '0')
	return [][]byte{append(out, esc, 'a', 0)}, nil
}
