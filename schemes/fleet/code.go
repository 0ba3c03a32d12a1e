package fleet

import (
	"errors"
	"fmt"
	"strings"

	"posagent/schemes/wire"
)

// alphabet is Crockford's: no I, L, O and U. A character's index is its value in GF(32).
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	codeData = 10           // characters that are drawn: 50 bits
	codeLen  = codeData + 1 // and the check digit
	maxTyped = 64           // of a code as a person types it, in bytes
	// CodeEntropy is how many bytes MakeCode wants.
	CodeEntropy = 8
)

// ErrCheckDigit is the answer to a code with a typing mistake.
var ErrCheckDigit = errors.New("the check digit does not fit: one character is wrong or two are swapped (read the code again)")

// MakeCode makes a code of CodeEntropy random bytes, in the form of ParseCode. It panics on fewer.
func MakeCode(random []byte) wire.Secret {
	var n uint64
	for _, b := range random[:CodeEntropy] {
		n = n<<8 | uint64(b)
	}
	out := make([]byte, codeLen)
	for i := range codeData {
		out[i] = byte(n & 31)
		n >>= 5
	}
	out[codeData] = checkDigit(out[:codeData])
	for i, v := range out {
		out[i] = alphabet[v]
	}
	return wire.Secret(out)
}

// ParseCode reads a code as a person types it: in any case of letters, with or without dashes and
// blanks, O for 0, I and L for 1. It returns the eleven characters alone. It fails on another
// length, on a character that no code has, and with ErrCheckDigit.
func ParseCode(typed string) (wire.Secret, error) {
	if len(typed) > maxTyped {
		return "", fmt.Errorf("want %d characters as in 7K3M-9QXD-2PV", codeLen)
	}
	var values []byte
	for _, r := range strings.ToUpper(typed) {
		switch r {
		case '-', ' ', '\t', '\u00a0', '\u2010', '\u2011', '\u2013':
			continue
		case 'O':
			r = '0'
		case 'I', 'L':
			r = '1'
		}
		v := strings.IndexRune(alphabet, r)
		if v < 0 {
			return "", fmt.Errorf("character %d is in no code: a code has digits, and letters without I, L, O and U", len(values)+1)
		}
		values = append(values, byte(v))
	}
	if len(values) != codeLen {
		return "", fmt.Errorf("want %d characters as in 7K3M-9QXD-2PV, these are %d", codeLen, len(values))
	}
	if checkDigit(values[:codeData]) != values[codeData] {
		return "", ErrCheckDigit
	}
	for i, v := range values {
		values[i] = alphabet[v]
	}
	return wire.Secret(values), nil
}

// ShowCode writes a code of MakeCode or ParseCode for people: 7K3M-9QXD-2PV.
func ShowCode(code wire.Secret) string {
	s := code.Reveal()
	if len(s) != codeLen {
		return s
	}
	return s[:4] + "-" + s[4:8] + "-" + s[8:]
}

// checkDigit is the sum of the values, each times its own power of x, in GF(32) modulo x^5+x^2+1. It
// differs whenever one character is wrong, or two characters are swapped.
func checkDigit(values []byte) byte {
	var sum byte
	for i := len(values) - 1; i >= 0; i-- { // Horner's rule: the first value has the lowest power
		sum = double(sum ^ values[i])
	}
	return sum
}

// double multiplies by x.
func double(v byte) byte {
	if v <<= 1; v&32 != 0 {
		v ^= 0b100101
	}
	return v
}
