package layout

import (
	"image"
	"slices"

	"posagent/device/display/scene"
	"posagent/device/qr"
)

// arrangement is a code and texts that fit.
type arrangement struct {
	module int
	texts  laid
	room   image.Rectangle // of the texts
	beside image.Rectangle // the code, where it stands beside the texts
}

// code places a scene with a code: the largest code, and around it the texts as large as they fit.
func (p *placer) code(room image.Rectangle, t scene.Texts, c *qr.Code) error {
	above := []item{
		{text: t.Title, share: 60, bold: true, lines: 4, drop: 4},
		{text: t.Amount, share: 100, bold: true, amount: true},
		{text: t.Note, share: 45, lines: 3, drop: 1},
	}
	below := []item{
		{text: t.Valid, room: t.Room, share: 45},
		{text: t.Headline, share: 60, bold: true, lines: 3, drop: 3},
		{text: t.Detail, share: 45, lines: 3, drop: 2},
	}
	tries := reduced(slices.Concat(above, []item{{square: 1}}, below))
	best := 0 // pixels of a module where every text but the one that is left out last is
	for _, try := range tries[max(0, len(tries)-2):] {
		if best = p.module(room, try, c); best > 0 {
			break
		}
	}
	if best == 0 { // no place for it, or none for the amount
		t.Headline, t.Note = t.TooSmall, ""
		_ = p.stack(room, p.items(t, red), p.largest(room)) // it is too small already
		return ErrTooSmall
	}
	for _, try := range tries {
		if m := p.module(room, try, c); 8*m >= 7*best { // a text costs a code an eighth of its size at most
			p.arrange(p.at(room, try, c, m), c)
			return nil
		}
	}
	return ErrTooSmall
}

// module returns the pixels of a module at which an attempt fits beside the code, 0 where it does at none.
func (p *placer) module(room image.Rectangle, a attempt, c *qr.Code) int {
	for m := min(room.Dx(), room.Dy()) / c.Size(); m >= MinModule; m-- {
		for _, way := range p.ways(room, a, c, m) {
			if _, ok := p.lay(way.items, way.room.Dx(), way.room.Dy(), p.least(), a.cut); ok {
				return m
			}
		}
	}
	return 0
}

// way is one way to place a code of a size.
type way struct {
	items  []item
	room   image.Rectangle // of the texts, and of the code among them
	beside image.Rectangle
}

// ways are the two ways: the code among the texts, or at the right of them.
func (p *placer) ways(room image.Rectangle, a attempt, c *qr.Code, module int) [2]way {
	side := module * c.Size()
	among, apart := slices.Clone(a.items), slices.Clone(a.items)
	for i := range among {
		if among[i].square > 0 {
			among[i].square, apart[i].square = side, 0
		}
	}
	top := room.Min.Y + (room.Dy()-side)/2
	left := room
	left.Max.X -= side + p.margin
	if left.Empty() {
		left = image.Rectangle{}
	}
	return [2]way{{items: among, room: room}, {items: apart, room: left, beside: image.Rect(room.Max.X-side, top, room.Max.X, top+side)}}
}

// at is the way in which the texts are larger, for a module at which one fits.
func (p *placer) at(room image.Rectangle, a attempt, c *qr.Code, module int) (best arrangement) {
	for _, w := range p.ways(room, a, c, module) {
		if l, ok := p.fit(attempt{w.items, a.cut}, w.room, p.short/5); ok && l.base > best.texts.base {
			best = arrangement{module: module, texts: l, room: w.room, beside: w.beside}
		}
	}
	return best
}

// arrange adds what fits.
func (p *placer) arrange(a arrangement, c *qr.Code) {
	box := p.put(a.room, a.texts)
	if box.Empty() {
		box = a.beside
	}
	p.add(Element{Kind: Code, Box: box, Code: c, Module: a.module})
}
