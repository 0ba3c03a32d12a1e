package offline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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

	// Claims remember whose the things are that nobody here made, such as a link's transactions; nil = none are known.
	Claims Claims
	// Sold names the register's sale that was paid by a link, "" = none was; nil = the terminal sells by no links.
	Sold func(r store.Reader, link int64) (sale string, err error)
	// Named is told, in its commit, of the backend's id of a local client's thing; nil = nobody is.
	Named func(tx store.Tx, about, id, owner string) error

	// CallerSecret makes our Keys of the callers' own. It outlives the journal (store.Store.Secret); nil = one made of the journal's
	// own key, which is lost with it.
	CallerSecret []byte

	Endpoints   map[string]string // where each service is: what was proven of one address says nothing about another
	Keyless     []string          // services that do not honour Keys
	Unstored    []string          // services whose writes are answered now or not at all; what was stored before is sent
	Limits      Limits
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

// Front takes the writes of local clients, answers with the backend's own word where that comes in time, and with "pending" where
// it does not. Attach it to the outbox that has its Kinds and tells its Watch.
type Front struct {
	o     Options
	box   *outbox.Outbox
	pages string // address of the local port; "" = none is known
	kinds []outbox.Kind
	rows  map[string]*bound

	mu     sync.Mutex
	waits  map[wire.Key][]chan struct{}
	live   map[wire.Key][]byte   // bodies that are not stored, while their callers wait
	lent   []paylinks.Attachment // files that are not stored, while their callers wait
	proven map[string]bool
	ending map[wire.Key]bool // its end is being committed while a caller waits for it

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
	// compare tells by two readings whether the body had its effect between them; nil = it cannot be told.
	look    func(ctx context.Context, id string) ([]byte, error)
	compare func(before, after, body []byte) (reply, found)
	// harmless says that a second effect of a body moves no money; nil = none is harmless.
	harmless func(body []byte) bool
	// gone says that it takes the thing away: a repeat that does not find it had its effect before.
	gone bool
}

// reply is a backend's success.
type reply struct {
	made    string // its id of what was made, "" where nothing is
	body    any    // its answer, as the contract has it; no card data
	pending bool   // it has stored the call only
}

// found is what a comparison says.
type found int

const (
	unclear found = iota
	nothing
	exactly // one effect, the one asked for
)

// NewFront makes a front; it starts nothing.
func NewFront(o Options) *Front {
	if o.Within <= 0 {
		o.Within = 3 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	if o.Limits.Count <= 0 {
		o.Limits.Count = 500
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.CallerSecret) == 0 && o.DB != nil {
		o.CallerSecret = o.DB.MAC(keyTable, "caller secret")
	}
	o.Log = o.Log.With("sys", "offline")
	f := &Front{o: o, rows: map[string]*bound{}, waits: map[wire.Key][]chan struct{}{}, live: map[wire.Key][]byte{}, proven: map[string]bool{}, ending: map[wire.Key]bool{}}
	adapters := map[string]adapter{}
	if o.Payments != nil {
		f.paymentAdapters(adapters)
	}
	if o.Tokens != nil {
		f.tokenAdapters(adapters)
	}
	if o.Links != nil && o.Transactions != nil {
		f.linkAdapters(adapters)
	}
	for _, row := range Table() {
		if a, ok := adapters[row.Kind]; ok {
			f.bind(row, a)
		}
	}
	return f
}

// bind makes a row's kind.
func (f *Front) bind(row Row, a adapter) {
	b := &bound{row, a, row.Replay}
	for _, s := range f.o.Keyless {
		if s == row.Service {
			b.class = row.Keyless
		}
	}
	f.rows[row.Kind] = b
	f.kinds = append(f.kinds, outbox.Kind{
		Name: row.Kind, Service: row.Service, MaxAge: f.o.MaxAge, Breaks: row.Breaks, Asks: true, Reads: b.class == outbox.Compare,
		Replay:  outbox.SameKey, // the class is judged in send, where the body is known
		Send:    func(ctx context.Context, op outbox.Op) outbox.Verdict { return f.send(ctx, b, op) },
		Settled: func(tx store.Tx, op outbox.Op) error { return f.settled(tx, b, op) },
		After:   f.after,
		Purged:  f.purged,
	})
}

// Kinds are the outbox's kinds of the services that are stored.
func (f *Front) Kinds() []outbox.Kind { return f.kinds }

// Attach joins the outbox that has the Kinds. Before it nothing can be written.
func (f *Front) Attach(box *outbox.Outbox) { f.box = box }

// Watch is the outbox's: it wakes who waits for an operation, and everybody once it is known that nobody answers.
func (f *Front) Watch(op outbox.Op) {
	b := f.rows[op.Kind]
	down := b != nil && f.box != nil && f.box.Down(b.Service)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !down {
		wake(f.waits[op.Key])
		return
	}
	for _, list := range f.waits {
		wake(list)
	}
}

func wake(list []chan struct{}) {
	for _, ch := range list {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// waited says that a caller waits for the operation that is about to end. That caller is told, or after raises the alert.
func (f *Front) waited(key wire.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waits[key]) == 0 {
		return false
	}
	f.ending[key] = true
	return true
}

// listen registers a waiter; call the second result when done. It returns whether the operation may have ended meanwhile: whatever
// ends later does so without this waiter, and raises an alert.
func (f *Front) listen(key wire.Key) (<-chan struct{}, func() bool) {
	ch := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits[key] = append(f.waits[key], ch)
	return ch, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		list := f.waits[key][:0]
		for _, c := range f.waits[key] {
			if c != ch {
				list = append(list, c)
			}
		}
		if f.waits[key] = list; len(list) == 0 {
			delete(f.waits, key)
		}
		return f.ending[key] || len(ch) > 0
	}
}

func (f *Front) hold(key wire.Key, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[key] = body
}

func (f *Front) drop(key wire.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, key)
}

func (f *Front) held(key wire.Key) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.live[key]
	return body, ok
}

// askEvery is the pause between two questions to a service that was never proven, or does not answer.
const askEvery = 15 * time.Second

// Run asks the services that were never proven, or did not answer last time and have no operation that would find out that they
// do again, until ctx ends.
func (f *Front) Run(ctx context.Context) error {
	for {
		for _, service := range f.services() {
			ask, cancel := context.WithTimeout(ctx, f.o.Patience)
			if err := f.prove(ask, service); err == nil && f.box.Down(service) {
				f.back(ask, service)
			}
			cancel()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(askEvery):
		}
	}
}

// back asks whether a service answers again, and tells the outbox.
func (f *Front) back(ctx context.Context, service string) bool {
	if err := f.ask(ctx, service); err != nil {
		return false
	}
	f.box.Up(service)
	return true
}

func (f *Front) services() (list []string) {
	for _, k := range f.kinds {
		if len(list) == 0 || list[len(list)-1] != k.Service {
			list = append(list, k.Service)
		}
	}
	return list
}

// prove makes sure that a service was reached once, as itself: by an answer that only it gives. An address with a
// misprint would otherwise take everything and never do anything.
func (f *Front) prove(ctx context.Context, service string) error {
	if f.known(service) {
		return nil
	}
	endpoint, was := f.o.Endpoints[service], ""
	err := f.o.DB.Read(ctx, func(r store.Reader) error {
		err := r.QueryRow(`SELECT endpoint FROM offline_proven WHERE service = ?`, service).Scan(&was)
		if errors.Is(err, sql.ErrNoRows) {
			was, err = endpoint+"?", nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("proof of %s: %w", service, err)
	}
	if was != endpoint {
		if err := f.ask(ctx, service); err != nil {
			return err
		}
		err := f.o.DB.Write(ctx, func(tx store.Tx) error {
			_, err := tx.Exec(`INSERT INTO offline_proven (service, endpoint, at_ms) VALUES (?, ?, ?)
				ON CONFLICT (service) DO UPDATE SET endpoint = excluded.endpoint, at_ms = excluded.at_ms`, service, endpoint, f.o.Now().UnixMilli())
			return err
		})
		if err != nil {
			return fmt.Errorf("proof of %s: %w", service, err)
		}
		f.o.Log.Info("service proven, its writes are stored when it is away", "service", service)
	}
	f.mu.Lock()
	f.proven[service] = true
	f.mu.Unlock()
	return nil
}

// known says that a service was proven since the start.
func (f *Front) known(service string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.proven[service]
}

// nobody is an id that no service gives.
const nobody = "posagent-is-this-the-service"

// ask reads something that is not there: only the service itself says so in its own words.
func (f *Front) ask(ctx context.Context, service string) error {
	var err error
	switch service {
	case Payments:
		_, err = f.o.Payments.Read(ctx, nobody)
	case Tokens:
		_, err = f.o.Tokens.Token(ctx, nobody)
	case Paylinks:
		_, err = f.o.Links.Read(ctx, paylinks.FirstLocalID-1)
	default:
		return nil
	}
	switch wire.CodeOf(err) {
	case wire.NotFound, wire.Invalid, wire.Conflict:
		return nil
	}
	return err
}
