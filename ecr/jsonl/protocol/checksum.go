package protocol

import (
	"bytes"
	"fmt"
	"strconv"
)

// Checksum is CRC-16/CCITT-FALSE: polynomial 1021, from FFFF, most significant bit first.
func Checksum(data []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, b := range data {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// state says whether a line is what its sender sent.
type state uint8

const (
	bare    state = iota // it has no checksum
	right                // it has the right one
	damaged              // it has a wrong one
)

// split returns the object of a line without its newline. The checksum stands behind the last brace,
// because an object ends with one.
func split(line []byte) (object []byte, s state) {
	line = bytes.TrimRight(line, " \t\r")
	end := bytes.LastIndexByte(line, '}') + 1
	object, tail := line[:end], line[end:]
	if len(tail) == 0 {
		return line, bare
	}
	if len(tail) != 5 || tail[0] != '*' {
		return line, damaged
	}
	want, err := strconv.ParseUint(string(tail[1:]), 16, 16)
	if err != nil || uint16(want) != Checksum(object) {
		return line, damaged
	}
	return object, right
}

// seal is an object with its checksum.
func seal(object []byte) []byte { return fmt.Appendf(nil, "%s*%04X", object, Checksum(object)) }
