package intent

import (
	"strings"

	"posagent/schemes/wire"
)

// KeptName is a name that a caller has chosen (an id, a reference, a till's own name), as a table may keep it and as lists show it. It is
// the name itself, unless a card number may stand in it: some callers use one as their order number. Of such a part of the name, up to
// the next "/", the masked text and a keyed digest are kept, so that it still is no other's. The kept form of a kept form is itself.
//
// A Key is made of the name as it came, and not of this: it is the same in every program.
func KeptName(by Digester, name string) string {
	if wire.MaskReference(name) == name {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		masked := wire.MaskReference(part)
		if masked == part {
			continue
		}
		letters := []byte(masked + "~") // a digit could become part of a number again
		for _, b := range by.MAC("names of callers", part)[:8] {
			letters = append(letters, 'a'+b>>4, 'a'+b&15)
		}
		parts[i] = string(letters)
	}
	return strings.Join(parts, "/")
}

// MaskedName is the masked text of a kept name, as another may be told it: the digest is this journal's own.
func MaskedName(kept string) string {
	parts := strings.Split(kept, "/")
	for i, part := range parts {
		at := strings.LastIndexByte(part, '~')
		if at > 0 && len(part)-at == 1+16 && strings.Trim(part[at+1:], "abcdefghijklmnop") == "" && strings.Contains(part[:at], "*") {
			parts[i] = part[:at]
		}
	}
	return strings.Join(parts, "/")
}

// Digester makes keyed digests; a store is one.
type Digester interface {
	MAC(table, key string, fields ...any) []byte
}
