package sqlite

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"posagent/store/marks"
)

// The layout of a write-ahead log (sqlite.org/fileformat2.html, section 4).
const (
	walHeadBytes  = 32
	walFrameBytes = 24
	walMagic      = 0x377f0682 // the last bit says that checksums are big-endian
)

// walSum is the running checksum of a log.
type walSum struct {
	s1, s2 uint32
	order  binary.ByteOrder
}

func (w *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		w.s1 += w.order.Uint32(b) + w.s2
		w.s2 += w.order.Uint32(b[4:]) + w.s1
	}
}

// walHead reads the header of the log at path and returns its salts; an error says that there is no
// valid one.
func walHead(r io.Reader) (salt1, salt2, page uint32, sum walSum, err error) {
	head := make([]byte, walHeadBytes)
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, 0, 0, sum, fmt.Errorf("log header: %w", err)
	}
	switch binary.BigEndian.Uint32(head) {
	case walMagic:
		sum.order = binary.LittleEndian
	case walMagic + 1:
		sum.order = binary.BigEndian
	default:
		return 0, 0, 0, sum, fmt.Errorf("log header: magic %x", head[:4])
	}
	sum.add(head[:24])
	if sum.s1 != binary.BigEndian.Uint32(head[24:]) || sum.s2 != binary.BigEndian.Uint32(head[28:]) {
		return 0, 0, 0, sum, fmt.Errorf("log header: checksum")
	}
	return binary.BigEndian.Uint32(head[16:]), binary.BigEndian.Uint32(head[20:]), binary.BigEndian.Uint32(head[8:]), sum, nil
}

// walSalts returns the salts of the log beside the database at path.
func walSalts(path string) (salt1, salt2 uint32, err error) {
	f, err := os.Open(path + "-wal")
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	salt1, salt2, _, _, err = walHead(f)
	return salt1, salt2, err
}

// holds reports whether the log beside the database at path is the one that was being folded, with
// all the frames it had then.
func holds(f marks.Folding, path string) bool {
	log, err := openBeside(path + "-wal")
	if err != nil {
		return false
	}
	defer log.Close()
	r := bufio.NewReaderSize(log, 64<<10)
	salt1, salt2, page, sum, err := walHead(r)
	if err != nil || salt1 != f.Salt1 || salt2 != f.Salt2 || page < 512 || page > 64<<10 {
		return false
	}
	frame := make([]byte, walFrameBytes+page)
	for range f.Frames {
		if _, err := io.ReadFull(r, frame); err != nil {
			return false
		}
		sum.add(frame[:8])
		sum.add(frame[walFrameBytes:])
		if binary.BigEndian.Uint32(frame[8:]) != salt1 || binary.BigEndian.Uint32(frame[12:]) != salt2 ||
			binary.BigEndian.Uint32(frame[16:]) != sum.s1 || binary.BigEndian.Uint32(frame[20:]) != sum.s2 {
			return false
		}
	}
	return true
}
