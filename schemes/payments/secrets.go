package payments

import "posagent/schemes/wire"

// PAN is a card number: it prints, logs and marshals as nothing but [pan]. The functions that write a wire body
// (EncodeCreate) send it.
type PAN = wire.PAN

// NewPAN makes a card number of its digits.
func NewPAN(digits string) PAN { return wire.NewPAN(digits) }

// luhn says whether s is a card number.
func luhn(s string) bool { return wire.NewPAN(s).Valid() }
