package paylinks

import (
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Emitter queues webhooks in the commit of what they tell about: webhooks.Deliver.
type Emitter interface {
	Register(tx store.Tx, subject string, hooks []webhooks.Hook) error
	Emit(tx store.Tx, m webhooks.Message) (int, error)
}

var _ Emitter = (*webhooks.Deliver)(nil)

// Links are the payment links: the link service, the transaction service (Transactions) and the link page (Pages) over
// one store.
type Links struct {
	*room.Room
	instance string
	delay    time.Duration
	deliver  Emitter
	qr       func(string) ([]byte, error)
	key      wire.Secret
}

// Transactions is the transaction half of the service.
type Transactions struct{ s *Links }

// Transactions gives the transaction half.
func (s *Links) Transactions() Transactions { return Transactions{s} }

// PagePrefix is where the link pages live; the hash follows.
const PagePrefix = "/pay/"

// pause is how long a provider thinks that thinks.
func (s *Links) pause() time.Duration { return max(s.delay, time.Second) }
