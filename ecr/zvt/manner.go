package zvt

// Manner is how the register of a line differs from what it registers as. The zero value is none.
type Manner uint8

// The manners.
const (
	// AsRegistered is a register that means what it registers.
	AsRegistered Manner = iota
	// Plain is a register that accepts the reply to its command, 04 0F and the completion, and
	// nothing else: it gets no intermediate status, no lines and no containers.
	Plain
	// NoTLV is a register that enables containers and does not understand them.
	NoTLV
	// FixedCharset is a register that writes and reads the line's character set, whatever it offers.
	FixedCharset
)

var mannerNames = [...]string{"standard", "plain", "no-tlv", "fixed-charset"}

// String is the name of a manner in the configuration.
func (m Manner) String() string {
	if int(m) < len(mannerNames) {
		return mannerNames[m]
	}
	return mannerNames[AsRegistered]
}

// ParseManner reads a name; ok is false for an unknown one.
func ParseManner(name string) (m Manner, ok bool) {
	for i, n := range mannerNames {
		if n == name {
			return Manner(i), true
		}
	}
	return AsRegistered, false
}

// bare reports whether a register gets no container, but for the numbers (1F73) that it offered.
func (m Manner) bare() bool { return m == Plain || m == NoTLV }

// of is what counts of a registration.
func (m Manner) of(p profile) profile {
	if m.bare() {
		p.TLV, p.ListOnly, p.Blocks = p.Sequenced, true, false
	}
	switch m {
	case Plain:
		p.Config &^= cfgIntermediate | cfgPrintLines
	case FixedCharset:
		p.Charset = nil
	}
	return p
}
