package zvt

import (
	"strings"
	"unicode/utf8"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// Receipt types of TLV 1F07.
const (
	merchantReceipt = 0x01
	customerReceipt = 0x02
	adminReceipt    = 0x03
)

// Attributes of a printed line.
const (
	attrNormal = 0x00
	attrCentre = 0x40
	attrLast   = 0x81
	attrFeed   = 0xFF
)

// textLine is one line of a receipt before it is encoded.
type textLine struct {
	attr byte
	text string
}

const (
	defaultWidth = 24 // columns every receipt printer has
	maxBlock     = 1024
)

// printsPayments and printsAdmin: the register prints and wants lines.
func (p profile) printsPayments() bool {
	return p.Config&cfgPrintPayment != 0 && p.Config&cfgPrintLines != 0
}

func (p profile) printsAdmin() bool {
	return p.Config&cfgPrintAdmin != 0 && p.Config&cfgPrintLines != 0
}

// receipts are the messages that print an outcome, none where nothing is to be printed.
func (m *Machine) receipts(out ecr.Outcome) []apdu.Message {
	if !m.prof.printsPayments() || m.d.noPrint || m.d.sale == "" {
		return nil
	}
	good := out.Result == ecr.Approved
	customer, merchant, first := good, good && out.MerchantCopy, false
	if p := m.d.request.receipts; p != nil {
		if good {
			customer, merchant = *p&rcpCustomerOK != 0, merchant || *p&rcpMerchantOK != 0
		} else {
			customer, merchant = *p&rcpCustomerFail != 0, *p&rcpMerchantFail != 0
		}
		first = *p&rcpCustomerFirst != 0
	}
	var kinds []byte
	if merchant {
		kinds = append(kinds, merchantReceipt)
	}
	if customer {
		kinds = append(kinds, customerReceipt)
	}
	if first && len(kinds) == 2 {
		kinds[0], kinds[1] = kinds[1], kinds[0]
	}
	var messages []apdu.Message
	for _, kind := range kinds {
		messages = append(messages, m.printMessages(kind, receiptLines(m.cfg, m.currency, out, kind, m.d.repeat))...)
	}
	return messages
}

func (m *Machine) adminReceipt(lines []textLine) []apdu.Message {
	if !m.prof.printsAdmin() {
		return nil
	}
	return m.printMessages(adminReceipt, lines)
}

// receiptLines is one payment receipt.
func receiptLines(cfg Config, cur money.Currency, out ecr.Outcome, kind byte, again bool) []textLine {
	which := receipt.Customer
	if kind == merchantReceipt {
		which = receipt.Merchant
	}
	return attributed(receipt.Sale(head(cfg), cur, out, which, again))
}

// totalsLines is the receipt of an end of day or a turnover.
func totalsLines(cfg Config, cur money.Currency, t ecr.Totals, closing bool) []textLine {
	return attributed(receipt.Totals(head(cfg), cur, t, receipt.Day{Closing: closing}))
}

func head(cfg Config) receipt.Head {
	return receipt.Head{MerchantName: cfg.MerchantName, Language: cfg.Language}
}

// attributed gives each line its attribute.
func attributed(lines []receipt.Line) []textLine {
	out := make([]textLine, len(lines))
	for i, l := range lines {
		switch l.Kind {
		case receipt.Centre:
			out[i] = textLine{attrCentre, l.Text}
		case receipt.Pair:
			out[i] = pair(l.Text, l.Right)
		default:
			out[i] = textLine{attrNormal, l.Text}
		}
	}
	return out
}

// diagnosisLines is the receipt of a diagnosis.
func diagnosisLines(cfg Config, h ecr.Health, ok bool) []textLine {
	w := wordsFor(cfg.Language)
	state := w.works
	if !ok {
		state = w.fails
	}
	lines := []textLine{{attrCentre, w.diagnosis}, {}, pair(receipt.WordsFor(cfg.Language).Terminal, cfg.TerminalID), {attrNormal, cfg.Version}, pair(w.connection, state)}
	for _, l := range h.Lines {
		lines = append(lines, textLine{attrNormal, l})
	}
	return lines
}

// pair is two texts, apart when the line is laid out.
func pair(left, right string) textLine { return textLine{attrNormal, left + "\t" + right} }

// layOut breaks lines to the width of the printer, between words where it can; a pair that does not
// fit takes two lines.
func layOut(lines []textLine, width int) []textLine {
	var out []textLine
	for _, l := range lines {
		left, right, isPair := strings.Cut(l.text, "\t")
		if !isPair {
			out = wrap(out, l.attr, l.text, width)
			continue
		}
		gap := width - utf8.RuneCountInString(left) - utf8.RuneCountInString(right)
		if gap > 0 {
			out = append(out, textLine{l.attr, left + strings.Repeat(" ", gap) + right})
			continue
		}
		out = wrap(out, l.attr, left, width)
		out = wrap(out, l.attr, strings.Repeat(" ", max(0, width-utf8.RuneCountInString(right)))+right, width)
	}
	return out
}

// wrap appends a text in lines of at most width. A word that is longer than a line is cut.
func wrap(out []textLine, attr byte, text string, width int) []textLine {
	runes := []rune(text)
	for len(runes) > width {
		end := width // a line may end before the blank behind it
		for end > 0 && runes[end] != ' ' {
			end--
		}
		if strings.TrimSpace(string(runes[:end])) == "" {
			end = width
		}
		out = append(out, textLine{attr, strings.TrimRight(string(runes[:end]), " ")})
		for runes = runes[end:]; len(runes) > 0 && runes[0] == ' '; {
			runes = runes[1:]
		}
	}
	return append(out, textLine{attr, string(runes)})
}

// printMessages encodes one receipt as 06 D1 lines or, for a register that listed it, as 06 D3
// blocks.
func (m *Machine) printMessages(kind byte, lines []textLine) []apdu.Message {
	width := m.prof.Width
	if width < 16 || width > 64 {
		width = defaultWidth
	}
	cs := m.charset()
	lines = layOut(lines, width)
	texts := make([][]byte, len(lines))
	for i, l := range lines {
		if m.prof.Capitals {
			l.text = strings.ToUpper(l.text)
		}
		texts[i] = cs.Encode(l.text)
	}
	if !m.prof.Blocks || !m.prof.TLV {
		var messages []apdu.Message
		for i, l := range lines {
			messages = append(messages, apdu.Line(l.attr, texts[i]))
		}
		return append(messages, apdu.Line(attrLast, nil))
	}
	return blocks(kind, lines, texts, m.prof.MaxAPDU)
}

// blocks packs lines into as few 06 D3 as the register's largest APDU allows.
func blocks(kind byte, lines []textLine, texts [][]byte, limit int) []apdu.Message {
	const overhead = 48 // headers, lengths, receipt type, end mark, sequence id
	if limit < 2*overhead+64 || limit > maxBlock {
		limit = maxBlock
	}
	var messages []apdu.Message
	var objects []apdu.TLV
	attr, size := byte(attrNormal), 0
	flush := func() {
		messages = append(messages, apdu.New(apdu.PrintBlock, apdu.Container(
			apdu.Primitive(0x1F07, kind), apdu.Constructed(0x25, objects...))))
		objects, attr, size = nil, attrNormal, 0
	}
	for i, l := range lines {
		if size+len(texts[i])+6 > limit-overhead {
			flush()
		}
		if l.attr != attr {
			attr = l.attr
			objects = append(objects, apdu.Primitive(0x09, attr))
			size += 3
		}
		objects = append(objects, apdu.Primitive(0x07, texts[i]...))
		size += 3 + len(texts[i])
	}
	objects = append(objects, apdu.Primitive(0x09, attrLast))
	flush()
	return messages
}
