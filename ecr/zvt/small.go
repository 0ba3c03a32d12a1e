package zvt

import (
	"bytes"
	"fmt"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// unfit is the code of a command without a completion yet that cannot be carried out, 0 = it can.
func (m *Machine) unfit() byte {
	msg := m.d.msg
	switch msg.Cmd {
	case apdu.Registration:
		if _, ok := msg.Config(); !ok {
			return resultImpossible
		}
	case apdu.SetDate:
		_, _, _, date := msg.Date()
		if _, _, _, clock := msg.Time(); !date || !clock {
			return resultImpossible
		}
	case apdu.SetTerminalID: // the terminal's own name stands in its configuration
		if id, ok := msg.BMP(0x29); !ok || !bytes.Equal(id, m.tid) {
			return resultImpossible
		}
	case apdu.ActivateReader: // there is no card reader that could be active
		if len(msg.Prefix) != 1 || msg.Prefix[0] != 0x00 {
			return resultImpossible
		}
	case apdu.ChangeBaud:
		if len(msg.Prefix) != 1 || m.cfg.Baud == 0 || !m.cfg.Cable || bauds[msg.Prefix[0]] != m.cfg.Baud {
			return resultNoModule
		}
	case apdu.ReprintReceipt:
		from, to, ok := msg.ReceiptRange()
		switch {
		case !ok || from == 0 || to != 0 && (to < from || to-from >= mostCopies):
			return resultImpossible
		case !m.prof.printsPayments():
			return resultNoPrinter
		}
	}
	return 0
}

// lineConfig is how this line is set up, for 06 1A.
func (m *Machine) lineConfig() []textLine {
	w := wordsFor(m.cfg.Language)
	return []textLine{pair(w.config, fmt.Sprintf("%02X", m.said.Config)), pair(w.charset, m.charset().String()), pair(w.profile, m.cfg.Manner.String())}
}

// bauds are the rates that 08 40 can name.
var bauds = map[byte]int{0x00: 9600, 0x01: 19200, 0x06: 57600, 0x07: 115200}

// mostCopies is how many receipts 06 12 prints.
const mostCopies = 50

// copies is what 06 12 still has to print.
type copies struct {
	next, to int
	several  bool
}

// reprint begins 06 12: the receipts are read one after the other, and printed together.
func (m *Machine) reprint() {
	from, to, _ := m.d.msg.ReceiptRange()
	m.d.copies = &copies{from, max(from, to), to > from}
	m.nextCopy()
}

// nextCopy asks for the next receipt of 06 12, or prints them all.
func (m *Machine) nextCopy() {
	c := m.d.copies
	if c.next > c.to {
		m.d.end = apdu.New(apdu.Completion)
		if len(m.d.prints) == 0 {
			m.d.end = apdu.NewPrefixed(apdu.AbortPT, []byte{resultImpossible})
		}
		m.phase = printing
		m.print()
		return
	}
	m.gen++
	m.d.gen = m.gen
	m.do(ecr.Last{Gen: m.d.gen, Receipt: c.next, Listed: c.several})
	c.next++
}

// copied takes a receipt of 06 12. It reports false where none was asked for.
func (m *Machine) copied(gen int, out *ecr.Outcome) bool {
	if gen != m.d.gen || m.phase != working || m.d.copies == nil {
		return false
	}
	if out != nil && out.Result == ecr.Approved {
		kinds := []byte{customerReceipt}
		if out.MerchantCopy {
			kinds = []byte{merchantReceipt, customerReceipt}
		}
		for _, kind := range kinds {
			m.d.prints = append(m.d.prints, m.printMessages(kind, receiptLines(m.cfg, m.currency, *out, kind, true))...)
		}
	}
	m.nextCopy()
	return true
}
