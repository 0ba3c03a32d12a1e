package printer

import (
	"fmt"
	"strings"
)

// The answers, told apart by their fixed bits.
type answer int

const (
	noise    answer = iota // XON, XOFF, or not of ESC/POS
	realTime               // 0xx1xx10, to DLE EOT
	inOrder                // 0xx0xxxx, to GS r
	block                  // 0xx1xx00, the first of four bytes
)

func kindOf(b byte) answer {
	switch {
	case b&0x93 == 0x12:
		return realTime
	case b&0x93 == 0x10:
		return block
	case b&0x90 == 0:
		return inOrder
	}
	return noise
}

// condition is what a printer has said of itself.
type condition struct {
	offline, cover, feeding, paperOut, nearEnd, errored, cutter, broken bool
}

// trouble is why it does not print, nil where it does.
func (c condition) trouble() error {
	var why []string
	for _, one := range []struct {
		is   bool
		what string
	}{{c.cover, "cover open"}, {c.feeding, "the feed button is pressed"}, {c.cutter, "the knife is stuck"}, {c.broken, "error that needs service"}, {c.errored, "error"}} {
		if one.is {
			why = append(why, one.what)
		}
	}
	switch {
	case c.paperOut && !c.cover: // with an open cover the sensor says anything
		return ErrPaperOut
	case len(why) > 0:
		return fmt.Errorf("%w: %s", ErrOffline, strings.Join(why, ", "))
	case c.offline:
		return ErrOffline
	}
	return nil
}

// questions are the values of DLE EOT n, with what the bits of the answers mean.
var questions = []func(c *condition, b byte){
	1: func(c *condition, b byte) { c.offline = b&0x08 != 0 },
	2: func(c *condition, b byte) {
		c.cover, c.feeding, c.paperOut, c.errored = b&0x04 != 0, b&0x08 != 0, c.paperOut || b&0x20 != 0, b&0x40 != 0
	},
	3: func(c *condition, b byte) { c.cutter, c.broken = b&0x08 != 0, b&0x20 != 0 },
	4: func(c *condition, b byte) { c.nearEnd, c.paperOut = b&0x0c != 0, c.paperOut || b&0x60 != 0 },
}

// blockOf reads the four bytes of GS a.
func blockOf(b [4]byte) condition {
	return condition{
		offline: b[0]&0x08 != 0, cover: b[0]&0x20 != 0, feeding: b[0]&0x40 != 0,
		cutter: b[1]&0x08 != 0, broken: b[1]&0x20 != 0, errored: b[1]&0x40 != 0,
		nearEnd: b[2]&0x03 != 0, paperOut: b[2]&0x0c != 0,
	}
}
