package zvt

import (
	"time"

	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// resultByte is BMP 27 and the byte of 06 1E.
func resultByte(out ecr.Outcome) byte {
	if out.Result == ecr.Approved {
		return 0x00
	}
	if b := codeByte(out.Code); b != 0x00 {
		return b
	}
	switch out.Result {
	case ecr.Declined:
		return 0x05
	case ecr.InProgress:
		return 0x9C
	}
	return 0x6C
}

// resultByte is the same for the outcome of the running command. An amount that is wrong is too
// small or too large to most registers: they read B7 as a pre-authorisation's.
func (m *Machine) resultByte(out ecr.Outcome) byte {
	if out.Result == ecr.Approved || out.Code != ecr.AmountWrong {
		return resultByte(out)
	}
	amount, _, err := m.d.msg.Amount()
	switch {
	case err == nil && amount == 0 && m.d.msg.Cmd == apdu.Authorisation:
		return resultTooSmall
	case m.d.msg.Cmd == apdu.RefundCmd:
		return resultTooLarge
	}
	return resultByte(out)
}

// codeByte maps the closed list of codes to result bytes.
func codeByte(c ecr.Code) byte {
	switch c {
	case ecr.OK:
		return 0x00
	case ecr.RejectedByScheme:
		return 0x05
	case ecr.AbortedByUser:
		return 0x6C
	case ecr.WrongCurrency:
		return 0x6F
	case ecr.Processing:
		return 0x66
	case ecr.NoMethod:
		return 0xC5
	case ecr.AmountWrong:
		return 0xB7
	case ecr.AlreadyReversed:
		return 0xB4
	case ecr.NotReversible:
		return 0xB5
	case ecr.Busy:
		return 0xA0
	case ecr.Impossible, ecr.NoOriginal:
		return 0x83
	case ecr.NotReady:
		return 0xA0 // not 9C, which is a sale that goes on
	case ecr.NoConnection:
		return 0xA3
	case ecr.StillRunning, ecr.OnHold:
		return 0x9C
	case ecr.NotStored:
		return 0xB1
	case ecr.EODImpossible:
		return 0x77
	}
	return 0xFF
}

func (m *Machine) charset() apdu.Charset { return m.prof.charset(m.cfg.Charset) }

// statusInfo is 04 0F for an outcome, in table order. What is not an approval carries no amount and
// no receipt.
func (m *Machine) statusInfo(out ecr.Outcome) apdu.Message {
	cs := m.charset()
	fields := []apdu.Field{apdu.Bytes(0x27, m.resultByte(out))}
	if out.Result != ecr.Approved {
		fields = append(fields, apdu.Bytes(0x29, m.tid...))
		if out.Text != "" {
			fields = append(fields, apdu.Text(0x3C, cs, out.Text))
		}
		return apdu.New(apdu.StatusInfo, fields...)
	}
	fields = append(fields, apdu.Amount(int64(out.Amount)), apdu.Trace(out.Trace))
	if out.OriginalTrace > 0 {
		fields = append(fields, apdu.Number(0x37, int64(out.OriginalTrace)))
	}
	fields = append(fields, clock(out.Time), date(out.Time), apdu.Bytes(0x19, 0x60), apdu.Bytes(0x29, m.tid...))
	if m.d.request.currency {
		fields = append(fields, apdu.Currency(int(m.currency.Numeric)))
	}
	fields = append(fields, apdu.Receipt(out.Receipt))
	card := ecr.CardType(out.Method)
	switch {
	case card > 0xFE:
		fields = append(fields, apdu.Bytes(0x8A, 0xFF))
	case card > 0:
		fields = append(fields, apdu.Bytes(0x8A, byte(card)))
	}
	if vu := m.cfg.Contract; vu != "" && len(apdu.ASCII.Encode(vu)) <= 15 {
		fields = append(fields, apdu.Text(0x2A, apdu.ASCII, vu))
	}
	if text := m.hostText(out); text != "" {
		fields = append(fields, apdu.Text(0x3C, cs, text))
	}
	fields = append(fields, apdu.Number(0x88, int64(out.Trace)))
	if name := receipt.Label(out); name != "" {
		fields = append(fields, apdu.CardName(cs, name))
	}
	if card > 0xFE && m.d.request.wantsCard {
		fields = append(fields, apdu.Container(apdu.Primitive(0x41, byte(card>>8), byte(card))))
	}
	return apdu.New(apdu.StatusInfo, fields...)
}

// hostText is BMP 3C of an approval. A register that builds its receipts itself prints it, so it
// carries the transaction that a later refund may name.
func (m *Machine) hostText(out ecr.Outcome) string {
	builds := m.prof.Config&cfgPrintPayment != 0 && m.prof.Config&cfgPrintLines == 0
	if !builds || out.TransactionID == "" {
		return out.Text
	}
	text := receipt.WordsFor(m.cfg.Language).Transaction + " " + out.TransactionID
	if out.Text != "" {
		text = out.Text + "\r" + text
	}
	return text
}

func clock(t time.Time) apdu.Field {
	return apdu.Number(0x0C, int64(t.Hour()*10000+t.Minute()*100+t.Second()))
}

func date(t time.Time) apdu.Field { return apdu.Number(0x0D, int64(int(t.Month())*100+t.Day())) }

// intermediateStatus is 04 FF for what runs now.
func (m *Machine) intermediateStatus() apdu.Message {
	status := byte(ifWorking)
	text := ""
	switch {
	case m.phase == working:
		status = ifPleaseWait
	case m.d.progress.Step == ecr.StepReversing: // of a sale that was aborted: nothing was approved that could be reversed
		status = ifPleaseWait
	case m.d.progress.Text != "":
		text = m.d.progress.Text
	}
	if text == "" || !m.d.request.tlv {
		return apdu.NewPrefixed(apdu.Intermediate, []byte{status})
	}
	return apdu.NewPrefixed(apdu.Intermediate, []byte{ifText, progressMinute},
		apdu.Container(apdu.Constructed(0x24, apdu.PrimitiveText(0x07, m.charset(), text))))
}

// totalsInfo is 04 0F for end of day and turnover: wallets stand in the last counter of BMP 60.
func (m *Machine) totalsInfo(t ecr.Totals) apdu.Message {
	fields := []apdu.Field{apdu.Bytes(0x27, 0x00), apdu.Amount(unsigned(t.Net)), apdu.Bytes(0x60, counters(t)...),
		apdu.Trace(t.Trace % 1_000_000), clock(t.Time), date(t.Time)}
	if m.d.request.currency {
		fields = append(fields, apdu.Currency(int(m.currency.Numeric)))
	}
	return apdu.New(apdu.StatusInfo, fields...)
}

func unsigned(n money.Minor) int64 { return min(max(int64(n), 0), 999_999_999_999) }

// counters is the data of BMP 60: first and last receipt, six empty card counters, the rest.
func counters(t ecr.Totals) []byte {
	const size, last = 53, 4 + 6*7
	data := make([]byte, size)
	put := func(at int, n int64, width int) {
		if b, err := apdu.PackBCD(n, width); err == nil {
			copy(data[at:], b)
		}
	}
	put(0, int64(t.FirstReceipt%10000), 2)
	put(2, int64(t.LastReceipt%10000), 2)
	data[last] = byte(min(max(t.Count, 0), 255))
	put(last+1, unsigned(t.Net), 6)
	return data
}

// Status bytes of a status enquiry and of 04 FF.
const (
	statusReady   = 0x00
	statusInit    = 0x51
	statusWait    = 0x9C
	ifWorking     = 0x0E
	ifReversing   = 0x05
	ifPleaseWait  = 0x17
	ifText        = 0xFF
	resultNoReply = 0xA3
	resultBusy    = 0xA0

	resultImpossible = 0x83
	resultNoModule   = 0x7D
	resultNoneOpen   = 0xB8
	resultNoPrinter  = 0xCC

	resultTooSmall = 0xC8
	resultTooLarge = 0xC3
)
