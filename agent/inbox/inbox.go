package inbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"posagent/schemes/webhooks"
	"posagent/schemes/wire"
	"posagent/store"
)

// Schema is the inbox's tables, append-only.
func Schema() []store.Step {
	return []store.Step{{Name: "inbox/1 events", SQL: `
CREATE TABLE inbox_event (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	source      TEXT NOT NULL,
	ref         TEXT NOT NULL,    -- the source's own id: repeats have the same
	event       TEXT NOT NULL,
	body        BLOB NOT NULL,    -- sealed
	received_ms INTEGER NOT NULL, -- wall clock, for people
	UNIQUE (source, ref)
) STRICT;`}, {Name: "inbox/3 owners", SQL: `
ALTER TABLE inbox_event ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the local client that it is about; '' = the terminal
ALTER TABLE inbox_event ADD COLUMN thing TEXT NOT NULL DEFAULT ''; -- what it is about: "payment/ID"
CREATE INDEX inbox_event_thing ON inbox_event (thing) WHERE thing <> '';`}}
}

// BuildSchema is the table of the builds, append-only: url is where a build's notifications go, token is sealed, built_ms is
// the wall clock's, for people.
func BuildSchema() []store.Step {
	return []store.Step{{Name: "inbox/2 hosted builds", SQL: `
CREATE TABLE inbox_build (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL UNIQUE,
	order_id TEXT NOT NULL,
	url TEXT NOT NULL,
	token BLOB NOT NULL,
	built_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_build_order ON inbox_build (order_id);`}}
}

// Webhooks is the source of payment and onboarding events.
const Webhooks = "webhooks"

// WebhooksPath is where Handler belongs.
const WebhooksPath = "/hooks/webhooks"

// Item is something that arrived.
type Item struct {
	Source string // Webhooks, or another sender's name
	Ref    string // the same for every repeat
	Event  string
	Body   []byte
	About  string // what kind of thing it is about: payment, application, order; "" = none
	ID     string // which one, by the sender's id
	Owner  string // whose that is; "" = the terminal's. Take finds it
	Made   bool   // Ref is of our making, so that repeats may differ in their bodies
}

// Event is a stored Item.
type Event struct {
	Row int64 // grows by time; a subscription resumes after it
	Item
	Received int64 // unix milliseconds by the wall clock
}

// Options are what an Inbox needs. Only DB is required.
type Options struct {
	DB   store.DB
	Now  func() time.Time
	Log  *slog.Logger
	Keep int64 // events; 0 = 20,000

	// Owner is the local client that a thing belongs to; found is false if no client here has made it, or its id is not known yet.
	// Nil = all is the terminal's.
	Owner func(r store.Reader, about, id string) (owner string, found bool, err error)
	// Making tells whether something is being made now whose id the terminal will know in a moment; nil = no.
	Making func(about string) bool
	// Named is told of an operation of an order that a notification names; nil = none.
	Named func(ctx context.Context, operation, order string) error
}

// Inbox is the durable receiver.
type Inbox struct {
	opt Options

	mu   sync.Mutex
	news chan struct{} // closed by the next new event
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

var _ webhooks.Service = (*Inbox)(nil)

// Receive implements webhooks.Service.
func (b *Inbox) Receive(ctx context.Context, e webhooks.Event) error {
	it := Item{Source: Webhooks, Ref: e.ID, Event: string(e.Name), Body: e.Body}
	it.About, it.ID = subject(e)
	_, err := b.Take(ctx, it)
	return err
}

var errItem = errors.New("inbox: an item needs a source and a ref")

// Take stores an item durably and says whether it is new. wire.Conflict means that its ref came before with another body. Any
// other error means that it may have to be sent again.
func (b *Inbox) Take(ctx context.Context, it Item) (fresh bool, err error) {
	if it.Source == "" || it.Ref == "" {
		return false, errItem
	}
	known, same, err := b.compare(ctx, &it)
	switch {
	case err != nil || known && same:
		return false, err
	case known:
		return false, b.refuse(ctx, it)
	}
	if it.Owner, err = b.owner(ctx, it); err != nil {
		return false, err
	}
	fresh, err = b.store(ctx, it)
	if err != nil || fresh {
		return fresh, err
	}
	if _, same, err = b.compare(ctx, &it); err == nil && !same { // another call stored the ref meanwhile
		err = b.refuse(ctx, it)
	}
	return false, err
}

// compare returns whether an item's ref is known, and then whether its body is the same, and sets the item's owner.
func (b *Inbox) compare(ctx context.Context, it *Item) (known, same bool, err error) {
	err = b.opt.DB.Read(ctx, func(r store.Reader) error {
		var row int64
		var body []byte
		err := r.QueryRow(`SELECT id, body, owner FROM inbox_event WHERE source = ? AND ref = ?`, it.Source, it.Ref).Scan(&row, &body, &it.Owner)
		if known = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			body, err = b.opt.DB.Unseal(r, cell(row), body)
		}
		same = it.Made || alike(body, it.Body)
		return err
	})
	return known, same, err
}

// alike returns whether two bodies are the same JSON, whatever the order of their members.
func alike(a, b []byte) bool {
	one, err := sorted(a)
	two, err2 := sorted(b)
	return bytes.Equal(a, b) || err == nil && err2 == nil && bytes.Equal(one, two)
}

func sorted(data []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Refused is the name of the event that says that an item was refused.
const Refused = "refused"

// refuse makes an event of an item whose ref came before with another body, once for each such body. It returns wire.Conflict.
func (b *Inbox) refuse(ctx context.Context, it Item) error {
	const why = "the id came before with another body; the first one stays"
	b.opt.Log.Warn("event refused", "source", it.Source, "ref", it.Ref, "event", it.Event, "why", why)
	text, err := json.Marshal(map[string]string{"id": it.Ref, "event": it.Event, "refused": why})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(it.Body)
	it.Ref, it.Event, it.Body = it.Ref+"#"+hex.EncodeToString(sum[:8]), Refused, text
	known, _, err := b.compare(ctx, &it) // a repeat writes nothing: each commit wears the flash
	if err == nil && !known {
		_, err = b.store(ctx, it)
	}
	if err != nil {
		return err
	}
	return wire.Errorf(wire.Conflict, "inbox", "%s", why)
}

// store puts an item into the inbox and returns whether its ref is new.
func (b *Inbox) store(ctx context.Context, it Item) (fresh bool, err error) {
	err = b.opt.DB.Write(ctx, func(tx store.Tx) error {
		fresh, err = b.insert(tx, it)
		return err
	})
	if err != nil {
		return false, err
	}
	if fresh {
		b.mu.Lock()
		close(b.news)
		b.news = make(chan struct{})
		b.mu.Unlock()
	}
	return fresh, nil
}

func (b *Inbox) insert(tx store.Tx, it Item) (bool, error) {
	res, err := tx.Exec(`INSERT INTO inbox_event (source, ref, event, body, received_ms, owner, thing) VALUES (?, ?, ?, x'', ?, ?, ?) ON CONFLICT (source, ref) DO NOTHING`,
		it.Source, it.Ref, it.Event, b.opt.Now().UnixMilli(), it.Owner, thingOf(it.About, it.ID))
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	row, err := res.LastInsertId()
	if err != nil {
		return false, err
	}
	sealed, err := b.opt.DB.Seal(tx, cell(row), it.Body)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(`UPDATE inbox_event SET body = ? WHERE id = ?`, sealed, row); err != nil {
		return false, err
	}
	return true, b.forget(tx, row-b.opt.Keep)
}

// forgetAtOnce bounds what one commit forgets.
const forgetAtOnce = 16

// forget drops the oldest rows up to last, with their keys.
func (b *Inbox) forget(tx store.Tx, last int64) error {
	old, err := store.Column[int64](tx, `SELECT id FROM inbox_event WHERE id <= ? ORDER BY id LIMIT ?`, last, forgetAtOnce)
	if err != nil {
		return err
	}
	for _, id := range old {
		if err := b.opt.DB.Shred(tx, table, cell(id).Key); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM inbox_event WHERE id = ?`, id); err != nil {
			return err
		}
	}
	return nil
}

const table = "inbox_event"

func cell(row int64) store.Cell {
	return store.Cell{Table: table, Key: fmt.Sprint(row), Column: "body"}
}

// Feed is one subscription.
type Feed struct {
	b     *Inbox
	after int64
}

// Subscribe makes a feed of everything that came after a row: 0 = all that is kept. It needs no closing.
func (b *Inbox) Subscribe(after int64) *Feed { return &Feed{b: b, after: after} }

// News is closed by the next new event. Take it before Try.
func (f *Feed) News() <-chan struct{} {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	return f.b.news
}

// Try gives the next event, oldest first; found is false where there is none yet.
func (f *Feed) Try(ctx context.Context) (e Event, found bool, err error) {
	if e, found, err = f.b.first(ctx, f.after); err == nil && found {
		f.after = e.Row
	}
	return e, found, err
}

// Next waits for the next event, oldest first. It returns ctx's error when ctx ends first; after any error the same event
// is given again.
func (f *Feed) Next(ctx context.Context) (Event, error) {
	for {
		news := f.News()
		e, found, err := f.Try(ctx)
		if err != nil || found {
			return e, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

func (b *Inbox) first(ctx context.Context, after int64) (e Event, found bool, err error) {
	err = b.opt.DB.Read(ctx, func(r store.Reader) error {
		rows, err := r.Query(`SELECT id, source, ref, event, body, received_ms, owner FROM inbox_event WHERE id > ? ORDER BY id LIMIT 1`, after)
		if err != nil {
			return err
		}
		defer rows.Close()
		if !rows.Next() {
			return rows.Err()
		}
		if err := rows.Scan(&e.Row, &e.Source, &e.Ref, &e.Event, &e.Body, &e.Received, &e.Owner); err != nil {
			return err
		}
		found = true
		e.Body, err = b.opt.DB.Unseal(r, cell(e.Row), e.Body)
		return err
	})
	return e, found, err
}

// Newest is the row of the newest event, 0 where there is none.
func Newest(r store.Reader) (row int64, err error) {
	if err := r.QueryRow(`SELECT COALESCE(MAX(id), 0) FROM inbox_event`).Scan(&row); err != nil {
		return 0, fmt.Errorf("read events: %w", err)
	}
	return row, nil
}

// Handler takes webhooks over from senders that show authorization. It panics when that is empty.
func (b *Inbox) Handler(authorization wire.Secret) http.Handler {
	if authorization == "" {
		panic("inbox: no authorization")
	}
	want := sha256.Sum256([]byte(authorization.Reveal()))
	next := webhooks.Handler(b, webhooks.HandlerOptions{Log: b.opt.Log})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := ""
		if list := r.Header.Values("Authorization"); len(list) == 1 {
			shown = list[0]
		}
		got := sha256.Sum256([]byte(shown))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			wire.WriteFault(w, b.opt.Log, webhooks.ContentType, wire.Errorf(wire.Unauthorized, "inbox", "operation not allowed"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
