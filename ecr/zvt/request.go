package zvt

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"posagent/ecr"
	"posagent/ecr/zvt/apdu"
	"posagent/schemes/money"
)

// Why a financial command is not begun.
var (
	errMalformed = errors.New("malformed value")      // 84 83 00
	errCurrency  = errors.New("another currency")     // 6F
	errReference = errors.New("no usable reference")  // 84 83 00
	errOriginal  = errors.New("no usable original")   // 83, with a text that says what to send
	errNumber    = errors.New("number not agreed")    // 83, likewise
	errZero      = errors.New("an amount of nothing") // B7: zero that is sent is not "all of it"
)

// options reads what every financial command may carry.
func (m *Machine) options(msg apdu.Message) request {
	bare := m.cfg.Manner.bare()
	r := request{tlv: m.prof.TLV && !bare, currency: m.prof.Currency, receipts: m.prof.Receipts}
	if n, ok := msg.Byte(0x01); ok && n > 0 {
		r.ackWithin = time.Duration(n) * time.Second
	}
	if n, ok := msg.Byte(0x02); ok {
		r.askAgain = int(n)
	}
	r.currency = r.currency || msg.Has(0x49)
	if _, ok := msg.TLV(); ok {
		r.tlv = !bare
	}
	if t, ok := msg.FindTLV(0x1F04); ok && len(t.Value) > 0 {
		r.receipts = &t.Value[0]
	}
	_, named := msg.FindTLV(0x41)
	_, listed := msg.FindTLV(0x30, 0x41)
	r.wantsCard = r.tlv && (!m.prof.ListOnly || named || listed)
	return r
}

// saleRequest turns 06 01, 06 30 and 06 31 into a request to the desk.
func (m *Machine) saleRequest(msg apdu.Message, id int) (ecr.Request, error) {
	req := ecr.Request{Line: m.cfg.Line, Sequence: m.sequence(id)}
	seen := map[byte]bool{}
	for _, f := range msg.Fields {
		if seen[f.BMP] {
			return req, errMalformed
		}
		seen[f.BMP] = true
	}
	if err := m.checkNumber(msg); err != nil {
		return req, err
	}
	amount, named, err := msg.Amount()
	if err != nil {
		return req, errMalformed
	}
	req.Amount = money.Minor(amount)
	receipt, hasReceipt, err := msg.BCD(0x87)
	if err != nil {
		return req, errMalformed
	}
	if err := m.checkCurrency(msg); err != nil {
		return req, err
	}
	req.Currency = m.currency.Alpha
	req.CardType, _ = msg.CardType()
	if t, ok := msg.FindTLV(0x1F1F); ok && len(t.Value) > 0 {
		if n, err := apdu.UnpackBCD(t.Value); err == nil && n <= 9999 {
			last := int(n)
			req.LastReceipt = &last
		}
	}
	switch msg.Cmd {
	case apdu.Reversal:
		req.Kind = ecr.Reversal
		switch {
		case !hasReceipt:
			return req, errReference
		case named && req.Amount == 0:
			return req, errZero
		}
		req.Receipt, req.Part = int(receipt), req.Amount > 0
	case apdu.RefundCmd:
		req.Kind = ecr.Refund
		if req.Amount == 0 {
			return req, errMalformed
		}
		if hasReceipt {
			req.Original = "R" + strconv.FormatInt(receipt, 10)
		}
		if t, ok := msg.FindTLV(0x1F0D); ok {
			if req.Original, ok = original(t.Value); !ok {
				return req, errOriginal
			}
		}
	default:
		req.Kind = ecr.Payment
		req.AskAmount = !named && m.prof.Registered && m.prof.Config&cfgPayment == 0
		if req.ConsumerID, err = scanned(msg); err != nil {
			return req, err
		}
	}
	return req, nil
}

// scanned reads the customer's code that the register has read from a barcode: BMP 22 whose TLV 1F2D
// says so. A card number that comes without it is left out, as it was typed or swiped.
func scanned(msg apdu.Message) (string, error) {
	t, ok := msg.FindTLV(0x1F2D)
	if !ok || len(t.Value) != 1 || t.Value[0] != fromBarcode {
		return "", nil
	}
	v, _ := msg.BMP(0x22)
	digits := make([]byte, 0, 2*len(v))
	for i := range 2 * len(v) {
		n := v[i/2] >> (4 * (1 - i%2)) & 0x0F
		switch {
		case n == 0x0F && i == 2*len(v)-1: // fills the last byte
		case n > 9: // a masked digit, or no digit at all
			return "", errMalformed
		default:
			digits = append(digits, '0'+n)
		}
	}
	if len(digits) == 0 {
		return "", errMalformed
	}
	return string(digits), nil
}

// fromBarcode is the value of TLV 1F2D for a number that was read from a barcode.
const fromBarcode = 0x02

// checkNumber refuses a number (TLV 1F73) that would be ignored: a register that sends one relies on
// it not to be paid twice.
func (m *Machine) checkNumber(msg apdu.Message) error {
	if _, sent := msg.FindTLV(0x1F73); !sent {
		return nil
	}
	switch _, ok := idOf(msg); {
	case !ok:
		return errMalformed
	case !m.prof.Sequenced:
		return errNumber
	}
	return nil
}

func (m *Machine) checkCurrency(msg apdu.Message) error {
	n, ok, err := msg.BCD(0x49)
	switch {
	case err != nil:
		return errMalformed
	case ok && n != int64(m.currency.Numeric):
		return errCurrency
	}
	return nil
}

// receiptAsked reads the receipt number that 06 20 may name, in BMP 87 or TLV 08; 0 = none. The
// error is that of bad digits.
func receiptAsked(msg apdu.Message) (int, error) {
	n, present, err := msg.BCD(0x87)
	if present {
		return int(n), err
	}
	if t, ok := msg.FindTLV(0x08); ok {
		n, err = apdu.UnpackBCD(t.Value)
		return int(n), err
	}
	return 0, nil
}

// original reads TLV 1F0D of a refund: R<receipt>, R<batch>/<receipt> or T<transactionId>.
func original(v []byte) (string, bool) {
	s := strings.TrimRight(string(v), " \x00")
	if len(s) < 2 || len(s) > 20 || s[0] != 'R' && s[0] != 'T' {
		return "", false
	}
	kind, rest := s[:1], s[1:]
	if batch, receipt, two := strings.Cut(rest, "/"); two && kind == "R" {
		n, err := strconv.ParseUint(batch, 10, 31)
		if err != nil || n == 0 {
			return "", false
		}
		kind, rest = "R"+strconv.FormatUint(n, 10)+"/", receipt
	}
	n, err := strconv.ParseUint(rest, 10, 63)
	if err != nil || kind[0] == 'R' && n > 9999 {
		return "", false
	}
	return kind + strconv.FormatUint(n, 10), true
}

// open makes the dialogue of a command, or refuses the command for its password.
func (m *Machine) open(msg apdu.Message, id int, again bool) bool {
	if !m.allowed(msg) {
		m.reply(id, apdu.Refuse(0x37))
		return false
	}
	m.owed = len(m.unsent) // a register that asks has said all it had to say
	m.gen++
	m.d = dialogue{gen: m.gen, msg: msg, id: id, again: again, request: m.options(msg),
		notify: m.prof.Config&cfgIntermediate != 0}
	return true
}

// ClaimOf reads what a command says of its sender, where password is the line's, "" = none.
func ClaimOf(data []byte, password string) (c ecr.Claim) {
	c.Register = len(data) > 1 && data[0] == byte(apdu.Registration>>8) && data[1] == byte(apdu.Registration&0xFF)
	if password == "" {
		return c
	}
	if msg, err := apdu.Decode(data); err == nil {
		var pw string
		pw, c.Password = msg.Password()
		c.Right = c.Password && pw == password
	}
	return c
}

// shows takes the password that a command carries, and reports whether it is the terminal's.
func (m *Machine) shows(msg apdu.Message) bool {
	pw, ok := msg.Password()
	m.shown = ok && pw == m.cfg.Password
	return m.shown
}

// allowed checks the password of a register that has shown it: what changes something must not
// carry another.
func (m *Machine) allowed(msg apdu.Message) bool {
	switch msg.Cmd {
	case apdu.Registration, apdu.Reversal, apdu.RefundCmd, apdu.EndOfDay, apdu.Initialisation, apdu.SetTerminalID, apdu.SetDate,
		apdu.BookPart, apdu.BookTotal, apdu.Release:
		pw, _ := msg.Password()
		return m.cfg.Password == "" || pw == m.cfg.Password
	}
	return true
}
