package ecr17

import (
	"strconv"
	"strings"

	"posagent/schemes/money"
)

// Codes of messages.
const (
	status   = 's'
	payment  = 'P'
	extended = 'X' // a payment whose result has an action code and the amount
	reversal = 'S'
	closing  = 'C'
	totals   = 'T'
	last     = 'G'
	receipts = 'E'
	reprint  = 'R'
	tags     = 'U'
)

// sizes are the lengths of the requests that the terminal takes; that of tags varies.
var sizes = map[byte]int{
	status: 10, payment: 167, extended: 167, reversal: 26, closing: 26, totals: 26, last: 22, receipts: 11, reprint: 22, tags: 0,
}

// anyTerminal is the terminal id that names each terminal.
const anyTerminal = "00000000"

// request is what a register asks for.
type request struct {
	data     string // the whole message
	terminal string // the id that it names
	code     byte
	till     string // the register's id; "" where the message has none
	tagged   bool   // tags follow
	amount   money.Minor
	stan     int  // of the payment that is reversed, 0 = the last one, whichever it is
	flag     bool // receipts: to the register; reprint: to the register
}

// money says that the request is one that a sale comes of.
func (r request) money() bool { return r.code == payment || r.code == extended || r.code == reversal }

// read reads a request. It fails at what is malformed, at codes that the terminal does not take, and
// where own is set, at the id of another terminal.
func read(data []byte, own string) (r request, ok bool) {
	s := string(data)
	if len(s) < 10 || s[8] != '0' || strings.ContainsFunc(s, func(c rune) bool { return c != 0x1B && (c < ' ' || c > '~') }) {
		return r, false
	}
	r = request{data: s, terminal: s[:8], code: s[9]}
	size, known := sizes[r.code]
	if !known || size != 0 && len(s) != size || !digits(r.terminal) || own != "" && r.terminal != own && r.terminal != anyTerminal {
		return r, false
	}
	switch r.code {
	case status:
		return r, true
	case receipts, reprint:
		r.flag = s[10] == '1'
		return r, s[10] == '0' || s[10] == '1'
	case tags:
		return r, len(s) >= 37 && strings.HasSuffix(s, "\x1B")
	}
	r.till = s[10:18]
	if strings.Trim(strings.ToUpper(r.till), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return r, false
	}
	switch r.code {
	case payment, extended:
		n, err := strconv.ParseUint(s[23:31], 10, 32)
		r.tagged, r.amount = s[18] == '1', money.Minor(n)
		return r, err == nil && digits(s[18:23])
	case reversal:
		n, err := strconv.ParseUint(s[18:24], 10, 32)
		r.tagged, r.stan = s[24] == '1', int(n)
		return r, err == nil && digits(s[24:])
	}
	return r, digits(s[18:])
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// names are those of the messages in a person's log.
var names = map[byte]string{
	status: "status", payment: "payment", extended: "extended payment", reversal: "reversal", closing: "close", totals: "totals",
	last: "last result", receipts: "receipts", reprint: "reprint", tags: "tags",
}

// Outline names a message for a person's log; it tells nothing that the message carries but the
// result of an answer.
func Outline(data []byte) string {
	switch {
	case len(data) == 1 && data[0] == ACK:
		return "ACK"
	case len(data) == 1 && data[0] == NAK:
		return "NAK"
	case len(data) > 0 && data[0] == SOH:
		return "progress"
	case len(data) < 10:
		return "malformed"
	}
	switch code := data[9]; {
	case code == receipts && len(data) > sizes[receipts]:
		return "result " + result(data)
	case code == totals && len(data) == totalsSize:
		return "totals " + result(data)
	case code == closing && len(data) == closeSize:
		return "closed " + result(data)
	case code == status && len(data) > sizes[status]:
		return "status told"
	case code == reversal && len(data) != sizes[reversal]:
		return "receipt"
	default:
		if name := names[code]; name != "" {
			return name
		}
	}
	return "unknown message"
}

// result is the result of an answer where it is one of the protocol's.
func result(data []byte) string {
	for _, known := range []string{done, notDone, unknownTag} {
		if string(data[10:12]) == known {
			return known
		}
	}
	return "unknown"
}
