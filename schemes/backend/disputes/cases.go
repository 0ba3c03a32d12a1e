package disputes

import (
	"crypto/rsa"
	"errors"
	"sync"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/disputes"
	"posagent/schemes/money"
	"posagent/schemes/wire"
	"posagent/store"
)

// Purchase is a card payment of the books that can be disputed.
type Purchase struct {
	ID        string // the payment's
	Reference string // acquirer reference number
	Card      string // keyed name of the card
	Masked    string // its number
	Brand     string
	Amount    money.Minor
	Left      money.Minor // not given back yet
	Currency  string
	AtMS      int64
	Owner     string // the merchant it belongs to, "" = none
}

// Search is what a purchase is looked for by; zero values say nothing.
type Search struct {
	ID        string   // the payment's, or that of its collection
	Reference string   // acquirer's, the payment's id, or the merchant's own
	PAN       wire.PAN // the card
	Day       string   // UTC
	Amount    money.Minor
	Currency  string
}

// Options are what Cases needs; its own are required.
type Options struct {
	room.Options
	Find func(store.Reader, Search) ([]Purchase, error) // purchases, the oldest first
	Card func(wire.PAN) string                          // keyed name of a card
}

// Cases is the dispute desk.
type Cases struct {
	*room.Room
	opt Options

	mu      sync.Mutex
	private *rsa.PrivateKey
	public  disputes.PublicKey
}

var (
	_ disputes.Service = (*Cases)(nil)
	_ disputes.Keys    = (*Cases)(nil)
)

// New makes the desk; it starts nothing.
func New(opt Options) (*Cases, error) {
	if opt.DB == nil || opt.Find == nil || opt.Card == nil {
		return nil, errors.New("cases: want a store, purchases and names of cards")
	}
	r, err := room.New("cases", opt.Options)
	if err != nil {
		return nil, err
	}
	return &Cases{Room: r, opt: opt}, nil
}

const (
	answerTime = 2 * time.Second
	dueDays    = 45
	answerDays = 30
	issuer     = "issuer"
	operator   = "operator"

	opCreate   = "disputes.create"
	opList     = "disputes.list"
	opQueue    = "disputes.queue"
	opUpdate   = "disputes.update"
	opDocument = "disputes.document"
	opKey      = "disputes.key"
)
