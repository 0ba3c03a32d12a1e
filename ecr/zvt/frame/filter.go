package frame

import (
	"bytes"
	"time"
)

// filter recognises the peer's repetitions; see the package documentation.
type filter struct {
	gap, total time.Duration

	prev        []byte
	first, last time.Time
	own         []byte // the block we sent last, since prev arrived; nil = none
	refused     bool   // it was 84 xx, and the peer acknowledged it
	busy        bool   // it is being sent
	refusal     bool   // it is 84 xx
}

// oneStep reports messages that are a step of their own each time: replies, and what a terminal tells a register
// (status, text, print lines, completion). Two equal ones with a block of ours in between are two messages.
func oneStep(data []byte) bool {
	switch data[0] {
	case 0x80, 0x84, 0x04:
		return true
	case 0x06:
		return data[1] == 0x0F || data[1] == 0x1E || data[1] >= 0xD0 && data[1] <= 0xDF
	}
	return false
}

// repetition says whether data repeats the previous block, and which block of ours to send again.
func (f *filter) repetition(data []byte, now time.Time) (repeat bool, again []byte) {
	if f.prev == nil || !bytes.Equal(data, f.prev) {
		return false, nil
	}
	if oneStep(data) {
		return f.own == nil, nil
	}
	if f.refused || now.Sub(f.last) > f.gap || now.Sub(f.first) > f.total {
		return false, nil
	}
	if f.busy {
		return true, nil // it is on its way anyhow
	}
	return true, f.own
}

func (f *filter) received(data []byte, now time.Time) {
	f.prev, f.first, f.last = data, now, now
	f.own, f.refused, f.busy, f.refusal = nil, false, false, false
}

func (f *filter) refresh(now time.Time) { f.last = now }

func (f *filter) sending(data, block []byte) {
	f.own, f.busy, f.refused, f.refusal = block, true, false, len(data) > 1 && data[0] == 0x84 && data[1] != 0
}

func (f *filter) sent(acked bool) {
	f.busy = false
	f.refused = acked && f.refusal
}
