package layout

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"unicode/utf8"

	"posagent/device/display/glyph"
	"posagent/device/display/scene"
)

// item is one part of a stack from top to bottom.
type item struct {
	text   string
	room   string // text is placed as if it were this one; "" = as it is
	share  int    // its size in per cent of the amount's
	bold   bool
	amount bool       // no line breaks it but before its currency, and its size has a bound of its own
	field  bool       // stands in a frame
	band   color.RGBA // behind it, over the whole width; none where A is 0
	lines  int        // it may be cut to so many where there is no room; 0 = it is never cut
	drop   int        // the smallest is left out first; 0 = it never is
	square int        // a place of this height and width, in place of text
}

// block is an item as it stands.
type block struct {
	item
	rows []string
	st   glyph.Style
	pad  int // above and below the text
	h    int
}

// laid is a stack that fits.
type laid struct {
	blocks []block
	base   int // the size of its amount
	gap    int // between two blocks, at least
	left   int // pixels of height that are free
}

// lay lays items out for an amount of size base; ok is false where they do not fit.
func (p *placer) lay(items []item, w, h, base int, cut bool) (l laid, ok bool) {
	l = laid{base: base, gap: max(2, base/6), left: h}
	for _, it := range items {
		if it.text == "" && it.square == 0 {
			continue
		}
		b, ok := p.block(it, w, base, cut)
		if !ok {
			return l, false
		}
		if len(l.blocks) > 0 {
			l.left -= l.gap
		}
		l.blocks = append(l.blocks, b)
		l.left -= b.h
	}
	return l, l.left >= 0
}

func (p *placer) block(it item, w, base int, cut bool) (b block, ok bool) {
	b = block{item: it, h: it.square, st: glyph.Style{Size: max(p.floor, base*it.share/100), Bold: it.bold}}
	if it.square > 0 {
		return b, it.square <= w
	}
	if it.amount {
		b.st.Size = base
	} else if it.share < 100 {
		b.st.Size = min(b.st.Size, max(p.floor, base-1))
	}
	if it.band.A != 0 || it.field {
		b.pad = max(3, b.st.Size/4)
		if it.field {
			w -= 2 * b.pad
		}
	}
	switch {
	case it.amount:
		b.rows, ok = p.amountRows(it.text, b.st, w)
	case it.field:
		b.rows, ok = p.fieldRows(it.text, b.st, w, cut)
	default:
		b.rows, ok = p.rows(it, b.st, w, cut)
	}
	b.h = len(b.rows)*glyph.Line(b.st.Size) + 2*b.pad
	return b, ok && !slices.ContainsFunc(b.rows, func(row string) bool { return p.width(row, b.st) > w })
}

// amountRows is an amount in one line. Its currency may have a second one where the first would make the amount small.
func (p *placer) amountRows(text string, st glyph.Style, w int) (rows []string, ok bool) {
	if p.width(text, st) <= w {
		return []string{text}, true
	}
	number, currency, _ := strings.Cut(text, " ")
	return []string{number, currency}, currency != "" && 2*st.Size <= 3*p.least()
}

// maxFieldRows is how many lines a typed value may take.
const maxFieldRows = 3

// fieldRows is a typed value: broken anywhere, and its beginning left out where it is too long.
func (p *placer) fieldRows(text string, st glyph.Style, w int, cut bool) (rows []string, ok bool) {
	for {
		if rows = p.broken(text, st, w); len(rows) <= maxFieldRows {
			return rows, true
		}
		if !cut {
			return nil, false
		}
		r := []rune(strings.TrimPrefix(text, "…"))
		text = "…" + string(r[1:])
	}
}

// rows is a text in lines, no more than the item may have; where it is cut it ends with ….
func (p *placer) rows(it item, st glyph.Style, w int, cut bool) (rows []string, ok bool) {
	least := max(p.floor, p.least()*it.share/100)
	if it.room != "" {
		if rows, ok = p.wrap(it.room, st, least, w); !ok {
			return nil, false
		}
		return like(rows, it.text), true
	}
	if rows, ok = p.wrap(it.text, st, least, w); !cut || it.lines == 0 || len(rows) <= it.lines {
		return rows, ok
	}
	rest := strings.Join(rows[it.lines-1:], " ")
	rest = rest[:p.letters.Cut(rest, st, w)]
	for rest != "" && p.width(rest+"…", st) > w {
		_, n := utf8.DecodeLastRuneInString(rest)
		rest = strings.TrimRight(rest[:len(rest)-n], " ")
	}
	return append(rows[:it.lines-1:it.lines-1], rest+"…"), ok
}

// like breaks a text where another of as many words is broken.
func like(rows []string, text string) []string {
	words := strings.Split(text, " ")
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		n := min(len(words), 1+strings.Count(r, " "))
		out = append(out, strings.Join(words[:n], " "))
		words = words[n:]
	}
	if len(words) > 0 {
		out[len(out)-1] += " " + strings.Join(words, " ")
	}
	return out
}

// wrap breaks a text into lines of at most w pixels; ok is false where a word would have to be broken that the least size keeps.
func (p *placer) wrap(text string, st glyph.Style, least, w int) (rows []string, ok bool) {
	smaller := glyph.Style{Size: min(st.Size, least), Bold: st.Bold}
	for word := range strings.SplitSeq(text, " ") {
		if n := p.letters.Units(word, st.Bold); p.letters.Pixels(n, st) > w && p.letters.Pixels(n, smaller) <= w {
			return nil, false
		}
	}
	return p.broken(text, st, w), true
}

// broken breaks a text into lines of at most w pixels, at spaces where it can.
func (p *placer) broken(text string, st glyph.Style, w int) (rows []string) {
	space := p.letters.Units(" ", st.Bold)
	for text != "" {
		row, units := 0, 0 // bytes and units that the line has
		for row < len(text) {
			from := row
			if row > 0 {
				from++ // the space
			}
			to := len(text)
			if i := strings.IndexByte(text[from:], ' '); i >= 0 {
				to = from + i
			}
			n := units + p.letters.Units(text[from:to], st.Bold)
			if row > 0 {
				n += space
			}
			if p.letters.Pixels(n, st) > w {
				break
			}
			row, units = to, n
		}
		if row == 0 { // not even one word
			if row = p.letters.Cut(text, st, w); row == 0 { // nor one letter
				return append(rows, text)
			}
		}
		rows = append(rows, text[:row])
		text = strings.TrimPrefix(text[row:], " ")
	}
	return rows
}

// stack places items in the middle of room, as large as they fit, the amount at most largest. Where they do not fit at the least
// size, texts are cut, then left out, then the amount is made smaller than it should be, and at last left out too: ErrTooSmall.
func (p *placer) stack(room image.Rectangle, items []item, largest int) error {
	tries := reduced(items)
	for _, try := range tries {
		if l, ok := p.fit(try, room, largest); ok {
			p.put(room, l)
			return nil
		}
	}
	const legible = 8
	bare := tries[len(tries)-1].items
	for base := p.least() - 1; base >= legible; base-- {
		p.floor = min(p.floor, base)
		if l, ok := p.lay(bare, room.Dx(), room.Dy(), base, true); ok {
			p.put(room, l)
			return ErrTooSmall
		}
	}
	bare = slices.DeleteFunc(slices.Clone(bare), func(it item) bool { return it.amount })
	if l, ok := p.lay(bare, room.Dx(), room.Dy(), legible, true); ok {
		p.put(room, l)
	}
	return ErrTooSmall
}

// fit finds the largest size at which an attempt fits into room; ok is false where it does not at the least one.
func (p *placer) fit(a attempt, room image.Rectangle, largest int) (l laid, ok bool) {
	w, h, least := room.Dx(), room.Dy(), p.least()
	if l, ok = p.lay(a.items, w, h, least, a.cut); !ok {
		return l, false
	}
	for base := largest; base > least; base = min(base-1, base*24/25) {
		if larger, ok := p.lay(a.items, w, h, base, a.cut); ok {
			return larger, true
		}
	}
	return l, true
}

// attempt is a stack that some texts were taken out of.
type attempt struct {
	items []item
	cut   bool // texts may end with …
}

// reduced are items as they are, then with texts that may be cut, then with one text after the other left out.
func reduced(items []item) []attempt {
	list := []attempt{{items, false}, {items, true}}
	for n := 1; n <= 9; n++ {
		var fewer []item
		gone := false
		for _, it := range items {
			if it.drop == n && it.text != "" {
				gone = true
				continue
			}
			fewer = append(fewer, it)
		}
		if gone {
			items = fewer
			list = append(list, attempt{items, true})
		}
	}
	return list
}

// put places a stack in the middle of room, and spreads what is free between its blocks. It returns the place of the square.
func (p *placer) put(room image.Rectangle, l laid) (square image.Rectangle) {
	if len(l.blocks) == 0 {
		return square
	}
	more := min(l.left/(len(l.blocks)+1), l.base/2)
	y := room.Min.Y + (l.left-more*(len(l.blocks)-1))/2
	for _, b := range l.blocks {
		ink := p.ink
		switch {
		case b.square > 0:
			left := room.Min.X + (room.Dx()-b.square)/2
			square = image.Rect(left, y, left+b.square, y+b.square)
		case b.field:
			frame := image.Rect(room.Min.X, y, room.Max.X, y+b.h)
			p.add(Element{Kind: Rect, Box: frame, Ink: p.ink})
			p.add(Element{Kind: Rect, Box: frame.Inset(max(2, b.pad/3)), Ink: p.page.Ground})
		case b.band.A != 0:
			p.add(Element{Kind: Rect, Box: image.Rect(0, y, p.page.W, y+b.h), Ink: b.band})
			ink = scene.Ink(b.band)
		}
		p.centre(b.rows, b.st, ink, room.Min.X, room.Max.X, y+b.pad)
		y += b.h + l.gap + more
	}
	return square
}
