package apdu

// Format is how the length of a BMP is known.
type Format uint8

// The formats.
const (
	Fixed  Format = iota + 1 // Len bytes
	LLVar                    // two length digits F0..F9
	LLLVar                   // three length digits
	BER                      // BER length, BMP 06 only
)

// Content is what the bytes of a BMP mean, for printing.
type Content uint8

// The contents.
const (
	Binary Content = iota
	Digits         // BCD
	Chars          // text in the line's character set
	Secret         // card data or a password
)

// Spec is one row of the BMP table.
type Spec struct {
	Name    string
	Format  Format
	Len     int // bytes of a Fixed field
	Content Content
}

// Lookup returns the table row of a BMP; ok is false for an unknown one.
func Lookup(bmp byte) (Spec, bool) {
	s := bmps[bmp]
	return s, s.Format != 0
}

// bmps is never written to.
var bmps = [256]Spec{
	0x01: {"timeout", Fixed, 1, Binary},
	0x02: {"max-status-infos", Fixed, 1, Binary},
	0x03: {"service-byte", Fixed, 1, Binary},
	0x04: {"amount", Fixed, 6, Digits},
	0x05: {"pump", Fixed, 1, Binary},
	0x06: {"tlv", BER, 0, Binary},
	0x0B: {"trace", Fixed, 3, Digits},
	0x0C: {"time", Fixed, 3, Digits},
	0x0D: {"date", Fixed, 2, Digits},
	0x0E: {"expiry", Fixed, 2, Digits},
	0x17: {"card-sequence", Fixed, 2, Digits},
	0x19: {"payment-type", Fixed, 1, Binary},
	0x22: {"card-number", LLVar, 0, Secret},
	0x23: {"track-2", LLVar, 0, Secret},
	0x24: {"track-3", LLLVar, 0, Secret},
	0x27: {"result", Fixed, 1, Binary},
	0x29: {"terminal-id", Fixed, 4, Digits},
	0x2A: {"vu-number", Fixed, 15, Chars},
	0x2D: {"track-1", LLVar, 0, Secret},
	0x2E: {"chip-data", LLLVar, 0, Secret},
	0x37: {"original-trace", Fixed, 3, Digits},
	0x3A: {"card-check-value", Fixed, 2, Secret},
	0x3B: {"authorisation", Fixed, 8, Chars},
	0x3C: {"additional-text", LLLVar, 0, Chars},
	0x3D: {"password", Fixed, 3, Secret},
	0x49: {"currency", Fixed, 2, Digits},
	0x60: {"totals", LLLVar, 0, Digits},
	0x70: {"image-width", Fixed, 4, Binary},
	0x71: {"image-height", Fixed, 4, Binary},
	0x72: {"image-type", Fixed, 1, Binary},
	0x73: {"image-encoding", Fixed, 1, Binary},
	0x74: {"image-position", Fixed, 1, Binary},
	0x75: {"image-scale", Fixed, 1, Binary},
	0x76: {"image-option", Fixed, 1, Binary},
	0x87: {"receipt", Fixed, 2, Digits},
	0x88: {"turnover", Fixed, 3, Digits},
	0x8A: {"card-type", Fixed, 1, Binary},
	0x8B: {"card-name", LLVar, 0, Chars},
	0x8C: {"card-type-id", Fixed, 1, Binary},
	0x9A: {"purse-payment", LLLVar, 0, Binary},
	0xA0: {"scheme-result", Fixed, 1, Binary},
	0xA7: {"chip-id", LLVar, 0, Secret},
	0xAA: {"date-ymd", Fixed, 3, Digits},
	0xAF: {"chip-info", LLLVar, 0, Secret},
	0xBA: {"aid-parameter", Fixed, 5, Binary},
	0xD0: {"key-algorithm", Fixed, 1, Binary},
	0xD1: {"card-pin-data", LLVar, 0, Secret},
	0xD2: {"direction", Fixed, 1, Binary},
	0xD3: {"key-position", Fixed, 1, Binary},
	0xE0: {"min-input", Fixed, 1, Binary},
	0xE1: {"input-text-1", LLVar, 0, Chars},
	0xE2: {"input-text-2", LLVar, 0, Chars},
	0xE3: {"input-text-3", LLVar, 0, Chars},
	0xE4: {"input-text-4", LLVar, 0, Chars},
	0xE5: {"input-text-5", LLVar, 0, Chars},
	0xE6: {"input-text-6", LLVar, 0, Chars},
	0xE7: {"input-text-7", LLVar, 0, Chars},
	0xE8: {"input-text-8", LLVar, 0, Chars},
	0xE9: {"max-input", Fixed, 1, Binary},
	0xEA: {"echo-input", Fixed, 1, Binary},
	0xEB: {"text-mac", Fixed, 8, Binary},
	0xF0: {"display-seconds", Fixed, 1, Binary},
	0xF1: {"text-1", LLVar, 0, Chars},
	0xF2: {"text-2", LLVar, 0, Chars},
	0xF3: {"text-3", LLVar, 0, Chars},
	0xF4: {"text-4", LLVar, 0, Chars},
	0xF5: {"text-5", LLVar, 0, Chars},
	0xF6: {"text-6", LLVar, 0, Chars},
	0xF7: {"text-7", LLVar, 0, Chars},
	0xF8: {"text-8", LLVar, 0, Chars},
	0xF9: {"beeps", Fixed, 1, Binary},
	0xFA: {"status", Fixed, 1, Binary},
	0xFB: {"confirm", Fixed, 1, Binary},
	0xFC: {"dialog-control", Fixed, 1, Binary},
	0xFD: {"display-control", Fixed, 1, Binary},
}
