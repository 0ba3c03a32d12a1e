package frame

import (
	"errors"
	"fmt"

	"posagent/ecr/zvt/apdu"
)

// The control bytes of the serial link.
const (
	stx byte = 0x02
	etx byte = 0x03
	dle byte = 0x10
	ACK byte = 0x06 // the block was received
	NAK byte = 0x15 // the block was damaged, send it again
)

// MaxAPDU is the largest APDU of the protocol: header, long length and 65535 bytes of data.
const MaxAPDU = 5 + apdu.MaxData

// The reasons for which a block is refused.
var (
	ErrCRC      = errors.New("frame: checksum does not agree")
	ErrStuffing = errors.New("frame: malformed block")
	ErrLength   = errors.New("frame: length byte does not agree with the block")
	ErrTooLong  = errors.New("frame: longer than allowed")
	ErrPause    = errors.New("frame: pause inside a block") // T1
)

// crcTable drives CRC-16/KERMIT (reflected 0x1021, start 0, no final xor) four bits at a time.
var crcTable = [16]uint16{
	0x0000, 0x1081, 0x2102, 0x3183, 0x4204, 0x5285, 0x6306, 0x7387,
	0x8408, 0x9489, 0xA50A, 0xB58B, 0xC60C, 0xD68D, 0xE70E, 0xF78F,
}

func crcByte(crc uint16, b byte) uint16 {
	crc = crc>>4 ^ crcTable[(crc^uint16(b))&0x0F]
	return crc>>4 ^ crcTable[(crc^uint16(b>>4))&0x0F]
}

// Checksum is the CRC-16/KERMIT of b.
func Checksum(b []byte) uint16 {
	var crc uint16
	for _, x := range b {
		crc = crcByte(crc, x)
	}
	return crc
}

// EncodeBlock wraps one APDU: 10 02, the APDU with every 10 doubled, 10 03, checksum (low byte first, never doubled)
// over the APDU and the 03.
func EncodeBlock(data []byte) []byte {
	out := make([]byte, 0, len(data)+8)
	out = append(out, dle, stx)
	for _, b := range data {
		if b == dle {
			out = append(out, dle)
		}
		out = append(out, b)
	}
	crc := crcByte(Checksum(data), etx)
	return append(out, dle, etx, byte(crc), byte(crc>>8))
}

// DecodeBlock unwraps exactly one block and nothing around it. Errors: ErrStuffing, ErrCRC, ErrLength, ErrTooLong.
func DecodeBlock(block []byte) ([]byte, error) {
	if len(block) < 2 || block[0] != dle || block[1] != stx {
		return nil, fmt.Errorf("%w: does not begin with 10 02", ErrStuffing)
	}
	data := make([]byte, 0, len(block))
	for i := 2; i < len(block); i++ {
		if block[i] != dle {
			data = append(data, block[i])
			continue
		}
		i++
		switch {
		case i >= len(block):
			return nil, fmt.Errorf("%w: ends after 10", ErrStuffing)
		case block[i] == dle:
			data = append(data, dle)
		case block[i] != etx:
			return nil, fmt.Errorf("%w: 10 %02X at offset %d", ErrStuffing, block[i], i-1)
		case len(block)-i != 3:
			return nil, fmt.Errorf("%w: %d bytes after 10 03", ErrStuffing, len(block)-i-1)
		default:
			return data, check(data, uint16(block[i+1])|uint16(block[i+2])<<8)
		}
	}
	return nil, fmt.Errorf("%w: no 10 03", ErrStuffing)
}

// check compares checksum and length byte of an unstuffed block.
func check(data []byte, got uint16) error {
	if want := crcByte(Checksum(data), etx); got != want {
		return fmt.Errorf("%w: %04X, computed %04X", ErrCRC, got, want)
	}
	if one, rest, missing := apdu.Next(data); missing != 0 || len(rest) != 0 || len(one) > MaxAPDU {
		return ErrLength
	}
	return nil
}
