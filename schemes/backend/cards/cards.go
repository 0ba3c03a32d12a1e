package cards

import (
	"time"

	"posagent/schemes/backend/deliver"
	"posagent/schemes/backend/room"
	"posagent/schemes/payments"
	"posagent/store"
)

// Service is the name of the service in the books.
const Service = "payments"

// Emitter takes what the merchant's endpoints are to be told, in the commit of what it tells about.
type Emitter interface {
	Register(tx store.Tx, subject string, hooks []deliver.Hook) error
	Emit(tx store.Tx, m deliver.Message) (int, error)
}

var _ Emitter = (*deliver.Deliver)(nil)

// Options are what Cards needs.
type Options struct {
	room.Options
	Deliver        Emitter       // nil = no event is sent
	MerchantNumber int64         // in events
	Hold           time.Duration // how long a reservation lasts; 0 = 7 days
}

// PagePrefix is where the hosted page lives; the payment's id follows.
const PagePrefix = "/checkout/"

// Cards is the bank.
type Cards struct {
	*room.Room
	opt Options
}

var _ payments.Service = (*Cards)(nil)
