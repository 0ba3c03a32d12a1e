package inbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"posagent/store"
)

// Webhooks is the source of payment and onboarding events.
const Webhooks = "webhooks"

// Item is something that arrived.
type Item struct {
	Source string // Webhooks, or another sender's name
	Ref    string // the same for every repeat
	Event  string
	Body   []byte
	About  string // what kind of thing it is about: payment, application, session; "" = none
	ID     string // which one, by the sender's id
	Owner  string // whose that is; "" = the terminal's. The commit finds it
	Made   bool   // Ref is of our making, so that repeats may differ in their bodies

	older string // the ref under which an older program stored it; "" = the same
}

// Event is a stored Item.
type Event struct {
	Row int64 // grows by time; a subscription resumes after it
	Item
	Received int64 // unix milliseconds by the wall clock
	// LostFrom says that this is no event: events from this row up to Row came that are not kept any
	// more. 0 = it is one.
	LostFrom int64
	Given    bool // it has arrived before, and is its owner's only now: new for the owner, and for no other reader
}

// Options are what an Inbox needs. Only DB is required.
type Options struct {
	DB   store.DB
	Now  func() time.Time
	Log  *slog.Logger
	Keep int64 // events; 0 = 20,000

	// Owner is the local client that a thing belongs to; found is false if no client here has made
	// it, or its id is not known yet. Nil = all is the terminal's.
	Owner func(r store.Reader, about, id string) (owner string, found bool, err error)
	// Making tells whether something is being made now whose id the terminal will know in a moment;
	// nil = no.
	Making func(about string) bool
	// Named is told of the operation that a notification names, and of the session whose token it shows; nil = nobody is.
	Named func(ctx context.Context, operation, session string) error
}

// Inbox is the durable receiver.
type Inbox struct {
	opt Options

	mu     sync.Mutex
	news   chan struct{} // closed by the next new event
	warned time.Time     // when the log last told of a refusal
	unsaid int           // refusals since
}

// warnEach is how often the log tells of refusals: any program on this machine could fill it.
const warnEach = time.Minute

// warn tells the log why a sender was refused.
func (b *Inbox) warn(what, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.opt.Now()
	if age := now.Sub(b.warned); age >= 0 && age < warnEach {
		b.unsaid++
		return
	}
	b.opt.Log.Warn(what+" refused", "why", why, "unsaid", b.unsaid)
	b.warned, b.unsaid = now, 0
}

// New makes an Inbox; it starts nothing.
func New(opt Options) *Inbox {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Keep <= 0 {
		opt.Keep = 20_000
	}
	opt.Log = opt.Log.With("sys", "inbox")
	return &Inbox{opt: opt, news: make(chan struct{})}
}

const table = "inbox_event"

func cell(row int64) store.Cell {
	return store.Cell{Table: table, Key: fmt.Sprint(row), Column: "body"}
}
