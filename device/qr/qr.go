package qr

import (
	"errors"
	"fmt"

	"github.com/skip2/go-qrcode"
)

// MaxPayload is the longest payload in bytes.
const MaxPayload = 1024

// QuietZone is the light margin around a code in modules; it is part of every size and rendering.
const QuietZone = 4

// Errors of New.
var (
	ErrEmpty   = errors.New("empty payload")
	ErrTooLong = errors.New("payload too long for a readable code")
)

// Level is the error correction of a code.
type Level int

// The levels, with the part of the code that may be unreadable.
const (
	Auto     Level = iota // M, or L for a long payload or a small screen
	Low                   // L, 7 %
	Medium                // M, 15 %
	Quartile              // Q, 25 %
	High                  // H, 30 %
)

func (l Level) String() string {
	switch l {
	case Low:
		return "L"
	case Medium:
		return "M"
	case Quartile:
		return "Q"
	case High:
		return "H"
	}
	return "auto"
}

func (l Level) encoder() (qrcode.RecoveryLevel, bool) {
	switch l {
	case Low:
		return qrcode.Low, true
	case Medium:
		return qrcode.Medium, true
	case Quartile:
		return qrcode.High, true
	case High:
		return qrcode.Highest, true
	}
	return 0, false
}

// Options choose the look of a code. The zero value suits a phone held to a screen.
type Options struct {
	Level Level
	// MaxModules is the largest side, quiet zone included, that the screen can show; 0 = no limit.
	// A console of 24 rows shows 48, a 384-dot printer at 4 dots per module 96.
	MaxModules int
}

// Code is one QR code. It does not change after New.
type Code struct {
	payload string
	level   Level
	version int
	size    int
	dark    []bool // size*size, row by row, quiet zone included
}

// longestMediumVersion is the largest code that Auto still makes at M.
const longestMediumVersion = 10

// side is the side of a version in modules, quiet zone included.
func side(version int) int { return 17 + 4*version + 2*QuietZone }

// New encodes payload once. Errors: ErrEmpty; ErrTooLong when the payload has more than MaxPayload bytes or
// its code is larger than MaxModules.
func New(payload string, opts Options) (*Code, error) {
	if payload == "" {
		return nil, ErrEmpty
	}
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLong, len(payload), MaxPayload)
	}
	levels := []Level{opts.Level}
	if opts.Level == Auto {
		levels = []Level{Medium, Low}
	}
	for i, level := range levels {
		recovery, ok := level.encoder()
		if !ok {
			return nil, fmt.Errorf("unknown error level %d", int(level))
		}
		enc, err := qrcode.New(payload, recovery) // chooses the version; the matrix is made by Bitmap
		if err != nil {
			return nil, fmt.Errorf("%w: level %v: %w", ErrTooLong, level, err)
		}
		size, last := side(enc.VersionNumber), i == len(levels)-1
		tooLarge := opts.MaxModules > 0 && size > opts.MaxModules
		if !last && (tooLarge || enc.VersionNumber > longestMediumVersion) {
			continue
		}
		if tooLarge {
			return nil, fmt.Errorf("%w: %d bytes need %d modules a side, the screen has %d", ErrTooLong, len(payload), size, opts.MaxModules)
		}
		return fromMatrix(payload, level, enc.VersionNumber, enc.Bitmap())
	}
	return nil, ErrTooLong
}

func fromMatrix(payload string, level Level, version int, matrix [][]bool) (*Code, error) {
	size := side(version)
	if len(matrix) != size {
		return nil, fmt.Errorf("encoder made %d rows for version %d, want %d", len(matrix), version, size)
	}
	c := &Code{payload: payload, level: level, version: version, size: size, dark: make([]bool, 0, size*size)}
	for _, row := range matrix {
		if len(row) != size {
			return nil, fmt.Errorf("encoder made a row of %d modules, want %d", len(row), size)
		}
		c.dark = append(c.dark, row...)
	}
	return c, nil
}

// Payload returns what the code says.
func (c *Code) Payload() string { return c.payload }

// Level returns the error level that was chosen, never Auto.
func (c *Code) Level() Level { return c.level }

// Version returns the QR version, 1 to 40.
func (c *Code) Version() int { return c.version }

// Size returns the side in modules, quiet zone included.
func (c *Code) Size() int { return c.size }

// Dark reports whether the module in column x, row y is dark; outside the code everything is light.
func (c *Code) Dark(x, y int) bool {
	return x >= 0 && y >= 0 && x < c.size && y < c.size && c.dark[y*c.size+x]
}

// Bitmap returns a copy of the matrix, bitmap[y][x], true = dark, quiet zone included.
func (c *Code) Bitmap() [][]bool {
	cells := append([]bool(nil), c.dark...)
	rows := make([][]bool, c.size)
	for y := range rows {
		rows[y] = cells[y*c.size : (y+1)*c.size : (y+1)*c.size]
	}
	return rows
}
