package ecr17

import (
	"fmt"
	"strings"
	"time"

	"posagent/ecr"
	"posagent/schemes/money"
)

// Results of an answer.
const (
	done       = "00"
	notDone    = "01"
	unknownTag = "09"
)

// Lengths of the answers to totals and close.
const (
	totalsSize = 34
	closeSize  = 44
)

// end is the end of a request as E tells it, in the fields of the message.
type end struct {
	terminal string
	of       byte   // payment, extended or reversal: the form of the answer
	result   string // done, notDone, unknownTag
	reason   string // where it is not done
	pan      string // digits; a wallet has none
	card     byte   // 1 debit, 2 credit, 3 other
	acquirer string
	auth     string // of what is done; a reversal has none
	at       time.Time
	stan     int
	online   int
	action   string // of an extended payment and a reversal
	amount   money.Minor
}

// noAuth stands in the result of a reversal: nothing else tells it from that of a payment.
const noAuth = "000000"

// message writes E. What is not ASCII has been replaced before.
func (e end) message() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s0E%s", e.terminal, e.result)
	if e.result == done {
		fmt.Fprintf(&b, "%sCLI%s%03d%02d%02d", zeros(e.pan, 19), e.auth, e.at.YearDay(), e.at.Hour(), e.at.Minute())
	} else {
		fmt.Fprintf(&b, "%-24.24s%011d", e.reason, 0)
	}
	fmt.Fprintf(&b, "%c%s%06d%06d", e.card, zeros(e.acquirer, 11), e.stan, e.online)
	switch e.of {
	case extended:
		fmt.Fprintf(&b, "%s%08d%010d", e.action, e.amount, 0)
	case reversal:
		fmt.Fprintf(&b, "%s%010d", e.action, 0)
	}
	return []byte(b.String())
}

// endOf is the end of a sale. The wallet has no card: the number is 0, the card is another one.
func endOf(terminal string, of byte, out ecr.Outcome) end {
	if out.Kind == ecr.Reversal {
		of = reversal
	} else if of == reversal {
		of = payment
	}
	e := end{terminal: terminal, of: of, result: done, card: '3', auth: authOf(out), at: out.Time, stan: out.Trace, online: out.Receipt, action: "000", amount: out.Amount}
	if e.of == reversal {
		e.auth = noAuth
	}
	return e
}

// noEnd is the end of a request that is not done.
func noEnd(terminal string, of byte, result, reason string) end {
	return end{terminal: terminal, of: of, result: result, reason: reason, card: '3', action: "100"}
}

// authOf is the authorisation of a payment: the end of its transaction's number, and never noAuth.
func authOf(out ecr.Outcome) string {
	id := ascii(out.TransactionID)
	return "T" + zeros(id[max(0, len(id)-5):], 5)
}

// zeros fills a text up with zeros at its left.
func zeros(text string, n int) string { return strings.Repeat("0", max(0, n-len(text))) + text }

// statusMessage answers status. release has blocks of eight characters.
func statusMessage(terminal string, h ecr.Health, release string) []byte {
	state := 1
	if h.Ready {
		state = 2
	}
	return fmt.Appendf(nil, "%s0s%010d%s%d%-8.8s", terminal, 0, h.Time.Format("0201061504"), state, ascii(release))
}

// totalsMessage answers totals. The protocol has no sign: a sum below 0 is no answer.
func totalsMessage(terminal, result string, sum money.Minor) []byte {
	return fmt.Appendf(nil, "%s0T%s%016d%06d", terminal, result, sum, 0)
}

// closedMessage answers close. The terminal's books are the host's.
func closedMessage(terminal string, sum money.Minor) []byte {
	return fmt.Appendf(nil, "%s0C%s%016d%016d", terminal, done, sum, sum)
}

// notClosed answers a close that did not happen.
func notClosed(terminal, reason string) []byte {
	return fmt.Appendf(nil, "%s0C%s%-19.19s100%010d", terminal, notDone, reason, 0)
}

// progressText is one progress message.
func progressText(text string) []byte { return fmt.Appendf([]byte{SOH}, "%-20.20s\x04", ascii(text)) }

// letters are what stands for letters that ASCII has not.
var letters = strings.NewReplacer("à", "a'", "è", "e'", "é", "e'", "ì", "i'", "ò", "o'", "ù", "u'", "ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe",
	"Ü", "Ue", "ß", "ss", "€", "EUR")

// ascii is a text in printable ASCII, without the bytes that lay receipts out.
func ascii(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= '}' {
			return '?'
		}
		return c
	}, letters.Replace(text))
}
