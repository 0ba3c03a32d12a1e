package sqlite

import (
	"encoding/binary"
	"hash/crc32"

	"posagent/store"
)

// Flags of a slot.
const (
	flagEnding uint32 = 1 << iota // the journal is about to be removed
	flagEnded                     // the journal was removed: the next start begins afresh
	flagLost                      // and that journal had been lost; why says what was done about it
)

// folding names the log that is being folded into the file: its salts, and how many of its frames must be there as long as this
// stands in the mark. The zero value means that none is.
type folding struct {
	salt1, salt2, frames uint32
}

// slot is one of the two records of a mark.
type slot struct {
	turn  uint64 // counts the writes; the slot with the higher one is the newer
	end   store.End
	flags uint32
	fold  folding
	why   string // the reason a person gave
}

const (
	slotBytes  = 512
	slots      = 2
	slotMagic  = "posamark"
	slotFormat = 1
	whyMost    = 256
	macAt      = 448
	crcAt      = macAt + 32
)

// encode returns the slot's bytes. The MAC says whose they are, the checksum behind it whether they are whole: it can be
// checked where the key is not at hand.
func (s slot) encode(mac func([]byte) []byte) []byte {
	b := make([]byte, slotBytes)
	copy(b, slotMagic)
	binary.BigEndian.PutUint32(b[8:], slotFormat)
	binary.BigEndian.PutUint32(b[12:], s.flags)
	binary.BigEndian.PutUint64(b[16:], s.turn)
	binary.BigEndian.PutUint64(b[24:], uint64(s.end.Generation))
	binary.BigEndian.PutUint64(b[32:], uint64(s.end.Sequence))
	copy(b[40:72], s.end.Head[:])
	copy(b[72:104], s.end.Note[:])
	binary.BigEndian.PutUint32(b[104:], s.fold.salt1)
	binary.BigEndian.PutUint32(b[108:], s.fold.salt2)
	binary.BigEndian.PutUint32(b[112:], s.fold.frames)
	why := s.why
	if len(why) > whyMost {
		why = why[:whyMost]
	}
	binary.BigEndian.PutUint16(b[116:], uint16(len(why)))
	copy(b[118:], why)
	copy(b[macAt:], mac(b[:macAt]))
	binary.BigEndian.PutUint32(b[crcAt:], crc32.ChecksumIEEE(b[:crcAt]))
	return b
}

// decodeSlot returns false for bytes that are torn, damaged or no slot. sum is the slot's MAC, which is not checked.
func decodeSlot(b []byte) (s slot, sum []byte, ok bool) {
	if len(b) != slotBytes || string(b[:8]) != slotMagic || binary.BigEndian.Uint32(b[8:]) != slotFormat ||
		binary.BigEndian.Uint32(b[crcAt:]) != crc32.ChecksumIEEE(b[:crcAt]) {
		return s, nil, false
	}
	s.flags = binary.BigEndian.Uint32(b[12:])
	s.turn = binary.BigEndian.Uint64(b[16:])
	s.end.Generation = int64(binary.BigEndian.Uint64(b[24:]))
	s.end.Sequence = int64(binary.BigEndian.Uint64(b[32:]))
	copy(s.end.Head[:], b[40:72])
	copy(s.end.Note[:], b[72:104])
	s.fold = folding{binary.BigEndian.Uint32(b[104:]), binary.BigEndian.Uint32(b[108:]), binary.BigEndian.Uint32(b[112:])}
	n := int(binary.BigEndian.Uint16(b[116:]))
	if n > whyMost {
		return s, nil, false
	}
	s.why = string(b[118 : 118+n])
	return s, b[macAt:crcAt], true
}

// newer reports whether s was written after t.
func (s slot) newer(t slot) bool {
	if s.end.Generation != t.end.Generation {
		return s.end.Generation > t.end.Generation
	}
	return s.turn > t.turn
}
