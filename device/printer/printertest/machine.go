package printertest

import (
	"fmt"
	"slices"
)

// glyph is one character in the line that is not printed yet.
type glyph struct {
	letter     rune
	bold       bool
	wide, high int
}

// machine obeys commands that have left the receive buffer.
type machine struct {
	columns, dots int
	kanjiFirst    bool
	answer        func(command string, n byte)

	pending []byte // of a command that is not whole

	bold       bool
	wide, high int
	align      byte
	spacing    int
	page       byte
	kanji      bool
	line       []glyph
	own        string // the text of the code that GS ( k draws

	paper   paper
	strange []string
	wrapped int // lines that were too long
}

const (
	spacing   = 30 // dots from line to line
	cellHigh  = 24 // dots of a character of normal size
	printable = 0x20
)

// reset is ESC @.
func (m *machine) reset() {
	m.pending, m.line = nil, nil
	m.settings()
	m.kanji = m.kanjiFirst
}

func (m *machine) settings() {
	m.bold, m.wide, m.high, m.align, m.spacing, m.page = false, 1, 1, 0, spacing, 0
	m.line = nil
}

// take takes the next byte, and obeys the command that it completes.
func (m *machine) take(b byte) {
	m.pending = append(m.pending, b)
	if len(m.pending) < m.length() {
		return
	}
	c := m.pending
	m.pending = nil
	m.obey(c)
}

// lengths of the commands that begin with ESC, GS and FS, where they are not 2.
var lengths = map[string]int{
	"\x1b!": 3, "\x1b-": 3, "\x1b3": 3, "\x1bE": 3, "\x1bG": 3, "\x1bJ": 3, "\x1bM": 3, "\x1bR": 3, "\x1ba": 3, "\x1bd": 3, "\x1bt": 3, "\x1b{": 3, "\x1b ": 3,
	"\x1b$": 4, "\x1b\\": 4, "\x1bp": 5,
	"\x1d!": 3, "\x1dB": 3, "\x1da": 3, "\x1dr": 3, "\x1dV": 3, "\x1dL": 4, "\x1dW": 4, "\x1dv": 8, "\x1d(": 5,
}

// length is how many bytes the pending command has, as far as that is known.
func (m *machine) length() int {
	c := m.pending
	switch {
	case c[0] == 0x10:
		return 3
	case c[0] >= 0x80 && m.kanji:
		return 2
	case c[0] != 0x1b && c[0] != 0x1d && c[0] != 0x1c:
		return 1
	case len(c) == 1:
		return 2
	}
	n, known := lengths[string(c[:2])]
	switch {
	case !known:
		return 2
	case string(c[:2]) == "\x1d(" && len(c) < 5:
		return 5
	case string(c[:2]) == "\x1d(":
		return 5 + (int(c[3]) | int(c[4])<<8)
	case string(c[:2]) == "\x1dV" && len(c) == 3 && c[2] >= 'A':
		return 4
	case string(c[:2]) == "\x1dV" && len(c) == 4:
		return 4
	case string(c[:2]) == "\x1dv" && len(c) >= 8:
		return 8 + (int(c[4])|int(c[5])<<8)*(int(c[6])|int(c[7])<<8)
	}
	return n
}

// obey obeys a whole command.
func (m *machine) obey(c []byte) {
	if c[0] >= printable && c[0] != 0x7f {
		m.letter(c)
		return
	}
	var n byte
	if len(c) > 2 {
		n = c[2]
	}
	name := string(c[:min(2, len(c))])
	switch name {
	case "\x00", "\r":
	case "\n":
		m.flush(true)
	case "\x1b@":
		m.settings()
		m.answer("ESC @", 0)
	case "\x1bt":
		m.page = n
		if codePages[n].name == "" {
			m.odd("code page %d", n)
		}
	case "\x1bR":
		if n != 0 {
			m.odd("national letters %d", n)
		}
	case "\x1bE", "\x1bG":
		m.bold = n&1 != 0
	case "\x1b!":
		m.bold, m.wide, m.high = n&0x08 != 0, 1+int(n>>5&1), 1+int(n>>4&1)
	case "\x1d!":
		m.wide, m.high = 1+int(n>>4&7), 1+int(n&7)
	case "\x1ba":
		if len(m.line) > 0 {
			m.odd("ESC a within a line")
		}
		m.align = n % '0'
	case "\x1b2":
		m.spacing = spacing
	case "\x1b3":
		m.spacing = int(n)
	case "\x1bd":
		m.flush(false)
		for range n {
			m.feed(m.spacing)
			m.paper.list(Line{})
		}
	case "\x1bJ":
		m.flush(false)
		m.feed(int(n))
	case "\x1dV":
		m.flush(false)
		full := n == 0 || n == '0' || n == 'A'
		m.paper.later(func() { m.paper.cut(m.dots, full) })
		m.paper.list(Line{Cut: true, Full: full})
	case "\x1dv":
		m.raster(c)
	case "\x1d(":
		m.code(c)
	case "\x1dr":
		m.answer("GS r", n%'0')
	case "\x1da":
		m.answer("GS a", n)
	case "\x1c.":
		m.kanji = false
	case "\x1c&":
		m.kanji = true
	default:
		m.odd("% X", c)
	}
}

func (m *machine) odd(format string, args ...any) {
	m.strange = append(m.strange, fmt.Sprintf(format, args...))
}

// letter puts a character into the line.
func (m *machine) letter(c []byte) {
	g := glyph{bold: m.bold, wide: m.wide, high: m.high}
	if len(c) == 2 {
		g.letter, g.wide = '〓', 2*m.wide
	} else {
		var ok bool
		if g.letter, ok = letterOf(codePages[m.page].name, c[0]); !ok {
			m.odd("no letter % X in code page %d", c, m.page)
		}
	}
	if m.width()+g.wide*m.cell() > m.dots {
		m.wrapped++
		m.flush(true)
	}
	m.line = append(m.line, g)
}

func (m *machine) feed(dots int) { m.paper.later(func() { m.paper.feed(dots) }) }

func (m *machine) cell() int { return m.dots / m.columns }

// width is how many dots of the line are taken.
func (m *machine) width() (n int) {
	for _, g := range m.line {
		n += g.wide * m.cell()
	}
	return n
}

// flush prints the line; an empty one too, where asked to.
func (m *machine) flush(empty bool) {
	if len(m.line) == 0 && !empty {
		return
	}
	left := m.indent(m.width())
	line, high := Line{Wide: 1, High: 1}, 1
	for _, g := range m.line {
		line.Bold = line.Bold || g.bold
		line.Wide, line.High, high = max(line.Wide, g.wide), max(line.High, g.high), max(high, g.high)
	}
	text := slices.Repeat([]rune{' '}, left/m.cell()/line.Wide)
	for _, g := range m.line {
		text = append(text, g.letter)
	}
	line.Text = string(text)
	tall, glyphs := max(m.spacing, high*cellHigh), m.line
	m.paper.later(func() { m.paper.print(m.dots, left, m.cell(), tall, glyphs) })
	m.paper.list(line)
	m.line = nil
}

// indent is how far from the left something of a width stands.
func (m *machine) indent(width int) int {
	switch m.align {
	case 1:
		return max(0, m.dots-width) / 2
	case 2:
		return max(0, m.dots-width)
	}
	return 0
}

// raster is GS v 0.
func (m *machine) raster(c []byte) {
	width, height := int(c[4])|int(c[5])<<8, int(c[6])|int(c[7])<<8
	switch {
	case c[2] != '0' || c[3]%'0' != 0 || width*height == 0:
		m.odd("% X", c[:8])
		return
	case len(m.line) > 0: // printers ignore it, or print the line before it
		m.odd("a picture within a line")
		return
	case width*8 > m.dots+7:
		m.odd("a picture of %d dots on paper of %d", width*8, m.dots)
	}
	left := m.indent(width * 8)
	m.paper.later(func() { m.paper.picture(m.dots, left, width, c[8:]) })
	m.paper.list(Line{Picture: height})
}

// code is GS ( k: a code that the printer draws itself.
func (m *machine) code(c []byte) {
	if c[2] != 'k' || len(c) < 7 || c[5] != '1' {
		m.odd("% X", c[:min(8, len(c))])
		return
	}
	switch c[6] {
	case 'A', 'C', 'E':
	case 'P':
		m.own = string(c[8:])
	case 'Q':
		if len(m.line) > 0 || m.align != 1 {
			m.odd("a code within a line, or not in the middle")
		}
		m.paper.later(func() { m.paper.feed(m.dots / 2) })
		m.paper.list(Line{Code: m.own})
	default:
		m.odd("% X", c[:8])
	}
}
