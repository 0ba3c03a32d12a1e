package caisseap

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Values of CD.
const (
	debit    = "0"
	credit   = "1"
	identify = "I"
)

// cheque is the value of CC that asks for a payment by cheque.
const cheque = "00C"

// named is a CF that names a payment of ours for a refund.
var named = regexp.MustCompile(`^(R(\d{1,9}/)?\d{1,4}|T\d{1,18})$`)

// request is what a register asks for.
type request struct {
	fields Message // as they came, as far as they could be read
	action string  // CD
	no     string  // AF of a request that cannot be begun, "" = it can
	ask    ecr.Request
}

// read reads a request. cur is the terminal's currency.
func read(data []byte, cur money.Currency, identified bool) request {
	m, err := Decode(data)
	r := request{fields: m, action: m.Get("CD")}
	amount, amountErr := strconv.ParseUint(m.Get("CB"), 10, 63)
	digits := strings.Trim(m.Get("CB")+m.Get("CE"), "0123456789") == ""
	currency, _ := strconv.Atoi(m.Get("CE"))
	switch {
	case err != nil, !digits, !complete(m) && (r.action == "" || r.action == debit || r.action == credit || r.action == identify):
		r.no = formatError
		return r
	case r.action == identify:
		return r
	case r.action != debit && r.action != credit:
		r.no = unknownAction
	case currency != int(cur.Numeric):
		r.no = wrongCurrency
	case m.Get("BA") == "1", amountErr != nil, amount == 0:
		r.no = formatError
	case m.Get("CC") == cheque:
		r.no = notSelectable
	}
	r.ask = ecr.Request{Kind: ecr.Payment, Amount: money.Minor(amount), Currency: cur.Alpha, ByTCP: true}
	if r.action == credit {
		r.ask.Kind = ecr.Refund
		if cf := m.Get("CF"); named.MatchString(cf) {
			r.ask.Original = cf
		}
	}
	if identified && r.ask.Original == "" {
		r.ask.Sequence = m.Get("CF")
		if r.ask.Sequence == "" {
			r.ask.Sequence = m.Get("CH")
		}
	}
	return r
}

// Left is the last word to a register that has ended its sending side before its answer; begun says that
// the request was handed over. It is nothing where a no could be taken for the end of an earlier request
// of that name.
func Left(data []byte, cfg Config, begun bool) []byte {
	cfg, currency := cfg.whole()
	r := read(data, currency, cfg.Identified)
	switch {
	case r.ask.Sequence != "":
		return nil
	case r.no != "":
		return r.denial(r.no)
	case begun && r.ask.Kind == ecr.Refund:
		return r.denial(runningText(cfg.Language))
	}
	return r.denial(leftText(cfg.Language))
}

// till is the name of a till as a part of a line's name: letters and digits stand for themselves.
func till(ca string) string {
	var b strings.Builder
	for _, c := range []byte(ca) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Outline names a message for a person's log; it tells nothing that the message carries.
func Outline(data []byte) string {
	m, err := Decode(data)
	name := map[string]string{debit: "debit", credit: "credit", identify: "identification", "": "no action"}[m.Get("CD")]
	if name == "" {
		name = "unknown action"
	}
	if ae := m.Get("AE"); len(ae) == 2 {
		name += " answered AE " + ae
		if af := m.Get("AF"); len(af) >= 2 {
			name += " AF " + af[:2]
		}
	}
	if err != nil {
		name += ", malformed"
	}
	return name
}
