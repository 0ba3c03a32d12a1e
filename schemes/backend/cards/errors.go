package cards

import (
	"strconv"
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

// overCharge refuses what is more than there is left, in minor units.
func overCharge(op string, left int32) error {
	return payments.Refused(op, payments.OverCharge, "more than is reserved: "+strconv.Itoa(int(left))+" is left, in minor units")
}

func differs(op string) error {
	return &wire.Error{Code: wire.Invalid, Reason: payments.AmountDiffersFromOrderItems, Op: op, Msg: "basket: its total is not what is left"}
}
