package cards

import (
	"strings"

	"posagent/schemes/payments"
	"posagent/schemes/wire"
)

// The operations whose refusals more than one file makes.
const (
	opCreate = "payments.create"
	opToken  = "tokens.create"
	opPage   = "payments.page"
)

// refused makes a business refusal; its text is the catalogue's.
func refused(op, reason string) error {
	for _, p := range payments.Problems() {
		if p.Reason == reason {
			return payments.Refused(op, reason, strings.ToLower(p.Title[:1])+p.Title[1:])
		}
	}
	return payments.Refused(op, reason, reason)
}

func differs(op string) error {
	return &wire.Error{Code: wire.Invalid, Reason: payments.AmountDiffersFromOrderItems, Op: op, Msg: "basket: its total is not what is left"}
}
