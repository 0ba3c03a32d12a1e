package marks

import (
	"encoding/binary"
	"hash/crc32"

	"posagent/store"
)

// Flags of a slot.
const (
	Ending uint32 = 1 << iota // the journal is about to be removed
	Ended                     // the journal was removed: the next start begins afresh
	Lost                      // and that journal had been lost; why says what was done about it
	Locked                    // and that no key opened it
)

// Folding names the write-ahead log that is being checkpointed (folded into the file): its salts, and how many of its frames
// must be there as long as this stands in the mark. The zero value means that none is.
type Folding struct {
	Salt1, Salt2, Frames uint32
}

// Slot is one of the two records of a mark.
type Slot struct {
	Turn  uint64 // counts the writes; the slot with the higher one is the newer
	End   store.End
	Flags uint32
	Fold  Folding
	Why   string // the reason a person gave
}

// A mark is two slots, written in turn. MACBytes is the length of a slot's MAC.
const (
	Slots    = 2
	MACBytes = 32
)

const (
	slotBytes  = 512
	slotMagic  = "posamark"
	slotFormat = 1
	whyMost    = 256
	macAt      = 448
	crcAt      = macAt + MACBytes
)

// encode returns the slot's bytes. The MAC says whose they are, the checksum behind it whether they
// are whole: it can be checked where the key is not at hand.
func (s Slot) encode(mac func([]byte) []byte) []byte {
	b := make([]byte, slotBytes)
	copy(b, slotMagic)
	binary.BigEndian.PutUint32(b[8:], slotFormat)
	binary.BigEndian.PutUint32(b[12:], s.Flags)
	binary.BigEndian.PutUint64(b[16:], s.Turn)
	binary.BigEndian.PutUint64(b[24:], uint64(s.End.Generation))
	binary.BigEndian.PutUint64(b[32:], uint64(s.End.Sequence))
	copy(b[40:72], s.End.Head[:])
	copy(b[72:104], s.End.Note[:])
	binary.BigEndian.PutUint32(b[104:], s.Fold.Salt1)
	binary.BigEndian.PutUint32(b[108:], s.Fold.Salt2)
	binary.BigEndian.PutUint32(b[112:], s.Fold.Frames)
	why := s.Why
	if len(why) > whyMost {
		why = why[:whyMost]
	}
	binary.BigEndian.PutUint16(b[116:], uint16(len(why)))
	copy(b[118:], why)
	copy(b[macAt:], mac(b[:macAt]))
	binary.BigEndian.PutUint32(b[crcAt:], crc32.ChecksumIEEE(b[:crcAt]))
	return b
}

// decodeSlot returns false for bytes that are torn, damaged or no slot. sum is the slot's MAC,
// which is not checked.
func decodeSlot(b []byte) (s Slot, sum []byte, ok bool) {
	if len(b) != slotBytes || string(b[:8]) != slotMagic || binary.BigEndian.Uint32(b[8:]) != slotFormat ||
		binary.BigEndian.Uint32(b[crcAt:]) != crc32.ChecksumIEEE(b[:crcAt]) {
		return s, nil, false
	}
	s.Flags = binary.BigEndian.Uint32(b[12:])
	s.Turn = binary.BigEndian.Uint64(b[16:])
	s.End.Generation = int64(binary.BigEndian.Uint64(b[24:]))
	s.End.Sequence = int64(binary.BigEndian.Uint64(b[32:]))
	copy(s.End.Head[:], b[40:72])
	copy(s.End.Note[:], b[72:104])
	s.Fold = Folding{binary.BigEndian.Uint32(b[104:]), binary.BigEndian.Uint32(b[108:]), binary.BigEndian.Uint32(b[112:])}
	n := int(binary.BigEndian.Uint16(b[116:]))
	if n > whyMost {
		return s, nil, false
	}
	s.Why = string(b[118 : 118+n])
	return s, b[macAt:crcAt], true
}

// newer reports whether s was written after t.
func (s Slot) newer(t Slot) bool {
	if s.End.Generation != t.End.Generation {
		return s.End.Generation > t.End.Generation
	}
	return s.Turn > t.Turn
}
