package inbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"

	"posagent/schemes/wire"
	"posagent/store"
)

var errItem = errors.New("inbox: an item needs a source and a ref")

// Take stores an item durably and says whether it is new. wire.Conflict means that its ref came
// before with another body. Any other error means that it may have to be sent again.
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
	it.Owner = ""
	if err = b.await(ctx, it); err != nil {
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

// compare returns whether an item's ref is known, and then whether its body is the same, and sets
// the item's owner.
func (b *Inbox) compare(ctx context.Context, it *Item) (known, same bool, err error) {
	err = b.opt.DB.Read(ctx, func(r store.Reader) error {
		if known, same, err = b.compareAs(r, it, it.Ref); err != nil || known || it.older == "" {
			return err
		}
		known, same, err = b.compareAs(r, it, it.older)
		return err
	})
	return known, same, err
}

// compareAs is compare by one ref.
func (b *Inbox) compareAs(r store.Reader, it *Item, ref string) (known, same bool, err error) {
	var row int64
	var body []byte
	err = r.QueryRow(`SELECT id, body, `+whose+` FROM inbox_event e WHERE source = ? AND ref = ?`, it.Source, ref).Scan(&row, &body, &it.Owner)
	if known = err == nil; errors.Is(err, sql.ErrNoRows) {
		return seen(r, it, ref)
	}
	if err == nil {
		body, err = b.opt.DB.Unseal(r, cell(row), body)
	}
	return known, it.Made || alike(body, it.Body), err
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

// refuse makes an event of an item whose ref came before with another body, once for each such
// body. It returns wire.Conflict.
func (b *Inbox) refuse(ctx context.Context, it Item) error {
	const why = "the id came before with another body; the first one stays"
	b.opt.Log.Warn("event refused", "source", it.Source, "ref", it.Ref, "event", it.Event, "why", why)
	text, err := json.Marshal(map[string]string{"id": senders(it.Source, it.Ref), "event": it.Event, "refused": why})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(it.Body)
	it.older, it.Ref, it.Event, it.Body = "", it.Ref+"#"+hex.EncodeToString(sum[:8]), Refused, text
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

// insert decides in the commit whose an item is: until then its thing may have become a client's, or another's.
func (b *Inbox) insert(tx store.Tx, it Item) (bool, error) {
	owner, err := b.owner(tx, it)
	if err != nil {
		return false, err
	}
	res, err := tx.Exec(`INSERT INTO inbox_event (source, ref, event, body, received_ms, owner, thing) VALUES (?, ?, ?, x'', ?, ?, ?) ON CONFLICT (source, ref) DO NOTHING`,
		it.Source, it.Ref, it.Event, b.opt.Now().UnixMilli(), owner, thingOf(it.About, it.ID))
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
	return true, b.forget(tx, row)
}
