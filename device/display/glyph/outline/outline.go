package outline

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Op is what a pen does.
type Op byte

// What a pen does.
const (
	Move Op = iota // a line begins at the first point
	Line           // straight to the first point
	Quad           // to the second point by way of the first
)

// Segment is one step of the pen, in units of the em. y grows downwards.
type Segment struct {
	Op Op
	P  [2][2]int
}

// points is how many points an op has.
func (o Op) points() int {
	if o == Quad {
		return 2
	}
	return 1
}

// Letter is one letter of a face.
type Letter struct {
	Rune     rune // 0 = what stands for a letter that the face lacks
	Advance  int  // how far it moves the pen, in units of the em
	Segments []Segment
}

// Face is letters by their characters.
type Face struct {
	Em      int // units
	letters []found
	data    []byte
}

// found is where a letter begins.
type found struct {
	r       rune
	advance uint16
	at      uint32
}

// ErrBroken is Parse's answer to bytes that are no face.
var ErrBroken = errors.New("no face of letters")

// Write returns the bytes of a face. The letters are in the order of their characters, beginning with 0.
func Write(em int, letters []Letter) []byte {
	b := binary.AppendUvarint(nil, uint64(em))
	b = binary.AppendUvarint(b, uint64(len(letters)))
	last := rune(0)
	for _, l := range letters {
		var body []byte
		x, y := 0, 0
		for _, s := range l.Segments {
			body = append(body, byte(s.Op))
			for _, p := range s.P[:s.Op.points()] {
				body = binary.AppendVarint(body, int64(p[0]-x))
				body = binary.AppendVarint(body, int64(p[1]-y))
				x, y = p[0], p[1]
			}
		}
		b = binary.AppendUvarint(b, uint64(l.Rune-last))
		b = binary.AppendUvarint(b, uint64(l.Advance))
		b = binary.AppendUvarint(b, uint64(len(body)))
		b = append(b, body...)
		last = l.Rune
	}
	return b
}

// reader takes a face apart. bad stays set once something was missing.
type reader struct {
	data []byte
	at   int
	bad  bool
}

func (r *reader) uvarint(most uint64) int {
	n, size := binary.Uvarint(r.data[r.at:])
	if size <= 0 || n > most {
		r.bad = true
		return 0
	}
	r.at += size
	return int(n)
}

func (r *reader) varint() int {
	n, size := binary.Varint(r.data[r.at:])
	if size <= 0 || n > 1<<15 || n < -1<<15 {
		r.bad = true
		return 0
	}
	r.at += size
	return int(n)
}

// Parse reads a face. It keeps data. ErrBroken.
func Parse(data []byte) (*Face, error) {
	r := &reader{data: data}
	f := &Face{Em: r.uvarint(1 << 14), data: data}
	count := r.uvarint(1 << 16)
	last := rune(0)
	for i := 0; i < count && !r.bad; i++ {
		last += rune(r.uvarint(1 << 20))
		l := found{r: last, advance: uint16(r.uvarint(1<<16 - 1))}
		l.at = uint32(r.at)
		size := r.uvarint(uint64(len(data)))
		if r.bad || size > len(data)-r.at || i > 0 && l.r <= f.letters[i-1].r {
			return nil, ErrBroken
		}
		end := r.at + size
		for r.at < end && !r.bad {
			r.segment(&Segment{}, &[2]int{})
		}
		if r.at != end {
			return nil, ErrBroken
		}
		f.letters = append(f.letters, l)
	}
	if r.bad || r.at != len(data) || f.Em == 0 || len(f.letters) == 0 || f.letters[0].r != 0 {
		return nil, ErrBroken
	}
	return f, nil
}

// segment reads the next step of a pen that stands at pen.
func (r *reader) segment(s *Segment, pen *[2]int) {
	if r.at >= len(r.data) || Op(r.data[r.at]) > Quad {
		r.bad = true
		return
	}
	s.Op = Op(r.data[r.at])
	r.at++
	for i := range s.Op.points() {
		if r.at >= len(r.data) {
			r.bad = true
			return
		}
		pen[0] += r.varint()
		if r.at >= len(r.data) {
			r.bad = true
			return
		}
		pen[1] += r.varint()
		s.P[i] = *pen
	}
}

// find is a letter's place; where the face lacks it, that of what stands for it.
func (f *Face) find(c rune) found {
	i, ok := slices.BinarySearchFunc(f.letters, c, func(l found, c rune) int { return int(l.r) - int(c) })
	if !ok {
		return f.letters[0]
	}
	return f.letters[i]
}

// Has says whether the face has a letter.
func (f *Face) Has(c rune) bool { return c != 0 && f.find(c).r == c }

// Advance is how far a letter moves the pen, in units of the em.
func (f *Face) Advance(c rune) int { return int(f.find(c).advance) }

// Outline appends the steps of a letter to list.
func (f *Face) Outline(list []Segment, c rune) []Segment {
	r := &reader{data: f.data, at: int(f.find(c).at)}
	size := r.uvarint(uint64(len(f.data)))
	end, pen := r.at+size, [2]int{}
	for r.at < end && !r.bad {
		var s Segment
		r.segment(&s, &pen)
		list = append(list, s)
	}
	return list
}
