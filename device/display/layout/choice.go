package layout

import (
	"image"
	"image/color"
	"strconv"

	"posagent/device/display/glyph"
	"posagent/device/display/scene"
)

// choice places a scene in which the customer picks a method: title, amount and what to do above, the numbered methods below.
// More says that there are more methods than one choice shows.
func (p *placer) choice(room image.Rectangle, t scene.Texts, more bool) error {
	items := []item{
		{text: t.Title, share: 60, bold: true, lines: 4, drop: 4},
		{text: t.Amount, share: 100, bold: true, amount: true},
		{text: t.Headline, share: 55, lines: 2, drop: 3},
		{text: t.Note, share: 45, lines: 2, drop: 1},
		{text: t.Detail, share: 45, lines: 2, drop: 2},
	}
	for _, try := range reduced(items) {
		for base := p.largest(room); base >= p.least(); base = min(base-1, base*24/25) {
			l, ok := p.lay(try.items, room.Dx(), room.Dy(), base, try.cut)
			used := room.Dy() - l.left
			if !ok || 2*used > room.Dy() && base > p.least() { // the methods get their half
				continue
			}
			above, below := room, room
			above.Max.Y = room.Min.Y + used
			below.Min.Y = above.Max.Y + p.margin
			if p.grid(below, t.Options, max(p.floor, base*3/4)) {
				l.left = 0
				p.put(above, l)
				if more {
					return ErrTooSmall
				}
				return nil
			}
		}
	}
	t.Options = nil
	_ = p.stack(room, p.items(t, color.RGBA{}), p.largest(room)) // it is too small already
	return ErrTooSmall
}

// grid places methods with their numbers in one column or two, with letters of at most largest; false where they do not fit.
func (p *placer) grid(room image.Rectangle, options []string, largest int) bool {
	if len(options) == 0 {
		return true
	}
	for size := largest; size >= p.floor; size-- {
		for columns := 1; columns <= 2; columns++ {
			if cells, ok := p.cells(room, options, size, columns); ok {
				for _, c := range cells {
					p.cell(c)
				}
				return true
			}
		}
	}
	return false
}

// cell is one method as it stands.
type cell struct {
	box    image.Rectangle
	number int
	rows   []string
	st     glyph.Style
}

// cells lays methods out with letters of a size.
func (p *placer) cells(room image.Rectangle, options []string, size, columns int) (cells []cell, ok bool) {
	st := glyph.Style{Size: size}
	rows := (len(options) + columns - 1) / columns
	gap := max(2, size/4)
	w := (room.Dx() - (columns-1)*p.margin) / columns
	h := (room.Dy() - (rows-1)*gap) / rows
	h = min(h, 3*glyph.Line(size))
	top := room.Min.Y + (room.Dy()-rows*h-(rows-1)*gap)/2
	for i, o := range options {
		if o == "" { // no key of that number takes anything
			continue
		}
		x, y := room.Min.X+i/rows*(w+p.margin), top+i%rows*(h+gap)
		c := cell{box: image.Rect(x, y, x+w, y+h), number: i + 1, st: st}
		if c.rows, ok = p.wrap(o, st, p.floor, w-p.badge(size)-gap); !ok || p.height(c) > h || p.badge(size) > h {
			return nil, false
		}
		cells = append(cells, c)
	}
	return cells, true
}

// height is the height of a method's label.
func (p *placer) height(c cell) int { return len(c.rows) * glyph.Line(c.st.Size) }

// badge is the side of a method's number.
func (p *placer) badge(size int) int { return glyph.Line(size) }

// cell adds a method: its number in a square, its label beside it.
func (p *placer) cell(c cell) {
	side := p.badge(c.st.Size)
	top := c.box.Min.Y + (c.box.Dy()-side)/2
	badge := image.Rect(c.box.Min.X, top, c.box.Min.X+side, top+side)
	bold := glyph.Style{Size: c.st.Size, Bold: true}
	number := strconv.Itoa(c.number)
	p.add(Element{Kind: Rect, Box: badge, Ink: p.ink})
	p.write(number, bold, p.page.Ground, badge.Min.X+(side-p.width(number, bold))/2, top)
	y := c.box.Min.Y + (c.box.Dy()-p.height(c))/2
	for _, row := range c.rows {
		p.write(row, c.st, p.ink, badge.Max.X+max(2, c.st.Size/4), y)
		y += glyph.Line(c.st.Size)
	}
}
