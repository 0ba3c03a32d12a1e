package payments

import (
	"strconv"
	"strings"

	"posagent/schemes/money"
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

// differs refuses a basket, where there is one, that is not what moves; nil = it is. The contract sees to it only where the call
// names an amount.
func differs(op string, basket []payments.BasketItem, amount int32) error {
	total, err := payments.BasketTotal(basket)
	if len(basket) == 0 || err == nil && total.Fits(money.Minor(amount)) {
		return nil
	}
	said := "the sum leaves the range of amounts"
	if err == nil {
		said = total.Differs(money.Minor(amount), "what is left")
	}
	return &wire.Error{Code: wire.Invalid, Reason: payments.AmountDiffersFromOrderItems, Op: op, Msg: "basket: " + said}
}
