package zvt

import (
	"strings"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
)

// How many lines of a register are taken before they are stored, and bytes of them.
const (
	mostPaper     = 200
	mostPaperText = 6 << 10
)

// beginPanel begins a command for the terminal's own screen, keys or printer. Its reply is its end.
func (m *Machine) beginPanel() {
	msg := m.d.msg
	if m.d.again && m.ids.reply != nil { // its reply was lost
		m.transmit(m.ids.reply)
		m.finish()
		return
	}
	m.phase = working
	switch msg.Cmd {
	case apdu.PrintLine, apdu.PrintBlock:
		m.takePaper(msg)
		return
	case apdu.DisplayText:
		m.start(TimerAnswer, answerWithin)
	default:
		m.phase = prompting
	}
	n := m.notice(msg)
	if m.phase == prompting {
		m.start(TimerAnswer, n.For+t3) // the notice ends by itself before
	}
	m.do(ecr.Notify{Gen: m.d.gen, Notice: n})
}

// notice reads 06 E0, 06 E1 and 06 E2.
func (m *Machine) notice(msg apdu.Message) ecr.Notice {
	n := ecr.Notice{Wants: ecr.WantsNothing}
	for _, first := range []byte{0xF1, 0xE1} { // two texts of eight lines each
		for i := range byte(8) {
			if text, ok := msg.Text(first+i, m.charset()); ok {
				text = strings.TrimSpace(strings.TrimPrefix(text, "\x14")) // a large font
				if text != "" {
					n.Lines = append(n.Lines, text)
				}
			}
		}
	}
	seconds, _ := msg.Byte(0xF0)
	n.For = time.Duration(seconds) * time.Second
	if msg.Cmd == apdu.DisplayText {
		return n
	}
	if n.For == 0 {
		n.For = promptWithin
	}
	n.Wants = ecr.WantsKey
	if msg.Cmd == apdu.DisplayNumber {
		n.Wants = ecr.WantsDigits
		least, _ := msg.Byte(0xE0)
		most, given := msg.Byte(0xE9)
		if !given || most == 0 {
			most = mostDigits
		}
		n.Min, n.Max = int(least), int(min(most, mostDigits))
		n.Min = min(n.Min, n.Max)
		echo, said := msg.Byte(0xEA)
		n.Masked = said && echo == 0
	}
	return n
}

// mostDigits is how many digits 06 E2 may ask for: what its reply has room for.
const mostDigits = 40

// noticed takes the end of a notice.
func (m *Machine) noticed(ev ecr.Noticed) {
	if ev.Gen != m.d.gen || m.phase != prompting && m.phase != working {
		return
	}
	if m.d.msg.Cmd == apdu.DisplayText {
		m.answerPanel(ev.Code)
		return
	}
	m.answerPrompt(ev.Pressed, ev.Code)
}

// keyBytes are the keys of 06 E1.
var keyBytes = [...]byte{ecr.KeyConfirm: 0x0D, ecr.KeyCorrect: 0x18, ecr.KeyStop: 0x1B, ecr.KeyTimeout: 0x6C}

// answerPrompt is the reply to 06 E1 and 06 E2.
func (m *Machine) answerPrompt(p ecr.Pressed, code ecr.Code) {
	m.do(ecr.EndNotice{})
	switch {
	case code != ecr.OK:
		m.answerPanel(code)
		return
	case m.d.msg.Cmd == apdu.DisplayKey:
		m.reply(m.d.id, apdu.NewPrefixed(apdu.Ack, []byte{keyBytes[p.Key]}))
	case p.Key == ecr.KeyConfirm:
		m.reply(m.d.id, apdu.NewPrefixed(apdu.Ack, []byte(p.Digits)))
		m.ids.reply = nil // what was typed is not kept
	default:
		m.reply(m.d.id, apdu.Refuse(0x6C))
	}
	m.finish()
}

// answerPanel ends a command for the screen or the printer.
func (m *Machine) answerPanel(code ecr.Code) {
	paper := m.d.msg.Cmd == apdu.PrintLine || m.d.msg.Cmd == apdu.PrintBlock
	switch {
	case code == ecr.OK:
		m.reply(m.d.id, apdu.OK())
	case paper:
		m.reply(m.d.id, apdu.Refuse(resultNoPrinter))
	case code == ecr.Busy, code == ecr.NotReady:
		m.reply(m.d.id, apdu.Refuse(resultBusy))
	default:
		m.reply(m.d.id, apdu.Refuse(resultImpossible))
	}
	m.finish()
}

// takePaper takes 06 D1 and 06 D3 of a register. The last line is answered once all are stored, the
// others at once.
func (m *Machine) takePaper(msg apdu.Message) {
	if !m.cfg.Prints {
		m.answerPanel(ecr.Impossible)
		return
	}
	m.stop(TimerPaper)
	last := false
	if msg.Cmd == apdu.PrintLine {
		attr, text, ok := msg.Line()
		if !ok {
			m.reply(m.d.id, apdu.Refuse(resultImpossible))
			m.finish()
			return
		}
		last = m.addPaper(attr, text)
	} else if t, ok := msg.FindTLV(0x25); ok {
		attr := byte(attrNormal)
		for _, c := range t.Children {
			switch {
			case c.Tag == 0x09 && len(c.Value) == 1:
				if attr = c.Value[0]; isLast(attr) {
					last = true
				}
			case c.Tag == 0x07:
				m.addPaper(attr, c.Value)
			}
		}
	}
	size := 0
	for _, l := range m.paper {
		size += len(l.Text)
	}
	if last || len(m.paper) >= mostPaper || size >= mostPaperText {
		m.start(TimerAnswer, answerWithin)
		m.flushPaper(m.d.gen)
		return
	}
	m.reply(m.d.id, apdu.OK())
	m.finish()
	m.start(TimerPaper, paperWithin)
}

// isLast says that an attribute ends a piece of paper; FF is a feed.
func isLast(attr byte) bool { return attr >= attrLast && attr != attrFeed }

// addPaper adds a line, and reports whether it ends the piece of paper.
func (m *Machine) addPaper(attr byte, text []byte) (last bool) {
	if attr == attrFeed {
		n := 1
		if len(text) == 1 {
			n = min(max(int(text[0]), 1), 15)
		}
		m.paper = append(m.paper, ecr.PrintLine{Feed: n})
		return false
	}
	l := ecr.PrintLine{Text: m.charset().Decode(text)}
	if !isLast(attr) {
		l.Centre, l.Double = attr&attrCentre != 0, attr&0x30 != 0
		if !l.Centre {
			l.Text = strings.Repeat(" ", int(attr&0x0F)) + l.Text
		}
	} else if l.Text == "" {
		return true
	}
	m.paper = append(m.paper, l)
	return isLast(attr)
}

// flushPaper hands the lines over; gen 0 = whose answer no register waits for.
func (m *Machine) flushPaper(gen int) {
	m.stop(TimerPaper)
	if len(m.paper) == 0 {
		if gen != 0 {
			m.answerPanel(ecr.OK)
		}
		return
	}
	m.do(ecr.Print{Gen: gen, Lines: m.paper})
	m.paper = nil
}

// paperTaken takes what became of lines for the printer.
func (m *Machine) paperTaken(ev ecr.Printed) {
	if ev.Gen != 0 && ev.Gen == m.d.gen && m.phase == working {
		m.stop(TimerAnswer)
		m.answerPanel(ev.Code)
	}
}
