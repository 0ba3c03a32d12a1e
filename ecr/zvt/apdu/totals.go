package apdu

import (
	"fmt"
	"strings"
)

// Totals is BMP 60: the sums of an end of day, by card group.
type Totals struct {
	From, To int // receipt numbers
	Groups   [7]TotalsGroup
}

// TotalsGroup is one group's count and sum in minor units. Wallets count as "rest".
type TotalsGroup struct {
	Count int
	Sum   int64
}

var groupNames = [7]string{"girocard", "JCB", "Eurocard", "Amex", "Visa", "Diners", "rest"}

// ParseTotals reads the value of BMP 60. Where it is longer than 53 bytes the rest is ignored.
func ParseTotals(v []byte) (Totals, bool) {
	var t Totals
	if len(v) < 53 {
		return t, false
	}
	from, err1 := UnpackBCD(v[0:2])
	to, err2 := UnpackBCD(v[2:4])
	if err1 != nil || err2 != nil {
		return t, false
	}
	t.From, t.To = int(from), int(to)
	for i := range t.Groups {
		g := v[4+7*i:]
		sum, err := UnpackBCD(g[1:7])
		if err != nil {
			return t, false
		}
		t.Groups[i] = TotalsGroup{Count: int(g[0]), Sum: sum}
	}
	return t, true
}

// Field builds BMP 60. A count above 255 shows as 255; a sum that does not fit makes Encode refuse the field.
func (t Totals) Field() Field {
	out := make([]byte, 0, 53)
	for _, n := range []int{t.From, t.To} {
		b, err := PackBCD(int64(n), 2)
		if err != nil {
			b = []byte{0x99, 0x99}
		}
		out = append(out, b...)
	}
	for _, g := range t.Groups {
		b, err := PackBCD(g.Sum, 6)
		if err != nil {
			return Field{BMP: 0x60, Value: make([]byte, 1000)} // too long on purpose
		}
		out = append(append(out, byte(min(max(g.Count, 0), 255))), b...)
	}
	return Field{BMP: 0x60, Value: out}
}

func (t Totals) String() string {
	var parts []string
	for i, g := range t.Groups {
		if g.Count != 0 || g.Sum != 0 {
			parts = append(parts, fmt.Sprintf("%s %d x, %d", groupNames[i], g.Count, g.Sum))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	return fmt.Sprintf("receipts %04d-%04d: %s", t.From, t.To, strings.Join(parts, "; "))
}
