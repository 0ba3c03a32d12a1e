package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"posagent/agent/outbox"
	"posagent/schemes/money"
	"posagent/schemes/paylinks"
	"posagent/schemes/payments"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/store"
)

// Options make a Front. DB is required; a service that is nil stores nothing.
type Options struct {
	DB           store.DB
	Payments     payments.Service // the backend's, sending each call once
	Tokens       tokens.Service
	Links        paylinks.Links // with Transactions
	Transactions paylinks.Transactions

	// Claims hold the owners of what nobody here made; nil = none are known.
	Claims Claims
	// Sold names the register's sale that was paid by a link, "" = none was; nil = the terminal has never sold by links.
	Sold func(r store.Reader, link SoldLink) (sale string, err error)
	// Named is told, in its commit, of the backend's id of a local client's thing; nil = nobody is.
	Named func(tx store.Tx, about, id, owner string) error

	// CallerSecret makes our Keys of the callers' own. It outlives the journal (store.Store.Secret); nil = one made of the journal's
	// own key, which is lost with it.
	CallerSecret []byte

	Endpoints   map[string]string // where each service is: what was proven of one address says nothing about another
	Keyless     []string          // services that do not honour Keys
	Unstored    []string          // services whose writes are answered now or not at all; what was stored before is sent
	Limits      Limits
	Vouched     []string      // services whose address the operator has signed for: their writes are stored before they have answered once
	RefuseCards bool          // card numbers are not stored, not even sealed: such a write is answered now or not at all
	Within      time.Duration // until a caller is told "pending"; default 3 s
	Patience    time.Duration // how long the answer to what cannot be stored is waited for; default 30 s
	MaxAge      time.Duration // of running time before an unsent operation expires; 0 = never
	Now         func() time.Time
	Log         *slog.Logger
}

// Limits bound what is stored. A nil function sets no limit; false means that nothing in this currency ("" = none is known) is.
type Limits struct {
	Count  int64 // operations that are not at their end; 0 = 500
	Amount func(currency string) (money.Minor, bool)
	Total  func(currency string) (money.Minor, bool) // each operation counts with its own amount
}

// Claims hold the owner of a thing that has no row here.
type Claims interface {
	// Owner is the local client that a thing belongs to; found is false where nobody has claimed it.
	Owner(r store.Reader, about, id string) (owner string, found bool, err error)
	// Give gives a thing to a client, whoever owned it.
	Give(tx store.Tx, about, id, owner string) error
	// Forget deletes all claims of a client on things of some kinds.
	Forget(tx store.Tx, owner string, about ...string) error
}

// Front takes the writes of local clients, answers with the backend's own word where that comes in time, and with "pending" where
// it does not. Attach it to the outbox that has its Kinds and tells its Watch.
type Front struct {
	o     Options
	box   *outbox.Outbox
	pages string // address of the local port; "" = none is known
	kinds []outbox.Kind
	rows  map[string]*bound

	barred func() string // why nothing new is taken, "" = it is

	mu     sync.Mutex
	waits  map[wire.Key][]chan struct{}
	live   map[wire.Key][]byte   // bodies that are not stored, while their callers wait
	lent   []paylinks.Attachment // files that are not stored, while their callers wait
	proven map[string]bool

	lastThing int64 // id given to a thing; 0 = not known. It belongs to the goroutine that writes
}

// bound is a row of the table with the code of its service.
type bound struct {
	Row
	adapter
	class outbox.Replay // what a lost reply means with this backend
}

// adapter is what one row does with its service. Bodies are what the service's own Encode wrote; ids are the backend's.
type adapter struct {
	// send makes one attempt under a Key.
	send func(ctx context.Context, key wire.Key, id string, body []byte) (reply, error)
	// compare tells by two readings whether the body had its effect between them; nil = it cannot be told. What others that are done
	// have had is none of it, also where the first reading did not show it yet.
	look    func(ctx context.Context, id string) ([]byte, error)
	compare func(before, after, body []byte, others []outbox.Op) (reply, found)
	// shows reads what an answer names, and says whether it is what a body asks for; nil = no reading shows it.
	shows func(ctx context.Context, id string, body []byte) (bool, error)
	// harmless says that a second effect of a body moves no money; nil = none is harmless.
	harmless func(body []byte) bool
	// gone says that it takes the thing away: a repeat that does not find it had its effect before.
	gone bool
	// show adds the effect to the terminal's own reading of a payment; nil = it is no write of a payment.
	show func(out *payments.Payment, s seen, e payments.Entry)
	// left is what it moves where it names no amount, by a reading; nil = it always names one, or moves none.
	left func(levels) int64
}

// reply is a backend's success.
type reply struct {
	made    string // its id of what was made, "" where nothing is
	body    any    // its answer, as the contract has it; no card data
	pending bool   // it has stored the call only
	named   bool   // it names our own reference
}

// found is what a comparison says.
type found int

const (
	unclear found = iota
	nothing
	exactly // one effect, the one asked for
	absent  // as exactly, if what it was about stays away for the quiet time: a reading may be of data that lag
)
