package payments

import (
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/payments"
	"posagent/store"
)

// Service is the name of the service in the books.
const Service = "payments"

// Emitter takes what the merchant's endpoints are to be told, in the commit of what it tells about.
type Emitter interface {
	Register(tx store.Tx, subject string, hooks []webhooks.Hook) error
	Emit(tx store.Tx, m webhooks.Message) (int, error)
}

var _ Emitter = (*webhooks.Deliver)(nil)

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
