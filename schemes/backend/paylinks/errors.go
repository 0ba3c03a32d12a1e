package paylinks

import (
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
)

// The operations, as errors name them.
const (
	opCreate = "paylinks.create"
	opRead   = "paylinks.read"
	opDelete = "paylinks.delete"
	opTxn    = "paylinks.transaction"
	opPay    = "paylinks.page"
)

func noLink(id int64) error {
	return wire.Errorf(wire.NotFound, "", "No Invoice found with id %d", id)
}

func noTxn(id int64) error {
	return wire.Errorf(wire.NotFound, "", "No Transaction found with id %d", id)
}

// forbidden is a refusal for the state of a thing.
func forbidden(format string, args ...any) error {
	e := wire.Errorf(wire.Conflict, "", format, args...)
	e.Reason = paylinks.WrongStatus
	return e
}
