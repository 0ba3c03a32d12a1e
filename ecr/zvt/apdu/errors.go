package apdu

import (
	"errors"
	"fmt"
)

// The causes of a SyntaxError.
var (
	ErrTruncated = errors.New("data ends too early")
	ErrTrailing  = errors.New("data after the end")
	ErrDigits    = errors.New("length digit is not F0..F9")
	ErrTag       = errors.New("malformed tag")
	ErrLength    = errors.New("malformed length")
	ErrDepth     = errors.New("nested too deeply")
	ErrBCD       = errors.New("not a BCD digit")
	ErrValue     = errors.New("value does not fit its field")
)

// SyntaxError says where an APDU is malformed.
type SyntaxError struct {
	Offset int    // byte offset in what was decoded, 0 = CLASS
	Path   string // e.g. "06/24/07", "LEN", "22"; "" = the APDU itself
	Err    error  // one of the causes above
}

func (e *SyntaxError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("apdu: offset %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("apdu: %s at offset %d: %v", e.Path, e.Offset, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// UnknownBMPError is data that contains a byte which is no known BMP where a BMP must stand; the terminal answers
// 84 83 00.
type UnknownBMPError struct {
	BMP    byte
	Offset int
}

func (e *UnknownBMPError) Error() string {
	return fmt.Sprintf("apdu: unknown BMP %02X at offset %d", e.BMP, e.Offset)
}
