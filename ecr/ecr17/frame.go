package ecr17

import (
	"slices"
	"strings"
)

// Bytes of the line.
const (
	SOH = 0x01 // a progress text follows
	STX = 0x02 // an application message follows
	ETX = 0x03 // it ends; its check byte follows
	EOT = 0x04 // the progress text ends
	ACK = 0x06
	NAK = 0x15
)

// MaxPayload bounds an application message in bytes: the longest one that the protocol knows.
const MaxPayload = 26 + 1024

// Scope is the part of a frame that its check byte is made of. Registers differ in it.
type Scope uint8

// The scopes.
const (
	Std      Scope = iota // the payload
	Stx                   // STX, payload and ETX
	NoExt                 // payload and ETX
	StxNoExt              // STX and payload
)

var scopeNames = []string{"std", "stx", "noext", "stx_noext"}

// ParseScope reads the name of a scope; "" is Std. ok is false for any other word.
func ParseScope(name string) (s Scope, ok bool) {
	i := slices.Index(scopeNames, name)
	return Scope(max(i, 0)), i >= 0 || name == ""
}

func (s Scope) String() string { return scopeNames[s] }

// LRC is the check byte of a payload: 7F xor each byte of the scope.
func (s Scope) LRC(payload []byte) byte {
	lrc := byte(0x7F)
	for _, b := range payload {
		lrc ^= b
	}
	if s == Stx || s == StxNoExt {
		lrc ^= STX
	}
	if s == Stx || s == NoExt {
		lrc ^= ETX
	}
	return lrc
}

// Scopes names the scopes in which a check byte is right, for a person's log; "" = none.
func Scopes(payload []byte, lrc byte) string {
	var fit []string
	for s := range scopeNames {
		if Scope(s).LRC(payload) == lrc {
			fit = append(fit, scopeNames[s])
		}
	}
	return strings.Join(fit, " or ")
}

// Frame is what a line carries for a message of a Dialogue: ACK and NAK with their check byte, a
// progress text as it is, and any other as an application message.
func (s Scope) Frame(data []byte) []byte {
	switch {
	case len(data) == 1 && (data[0] == ACK || data[0] == NAK):
		return []byte{data[0], ETX, s.LRC(data)}
	case len(data) > 0 && data[0] == SOH:
		return data
	}
	return append(append([]byte{STX}, data...), ETX, s.LRC(data))
}
