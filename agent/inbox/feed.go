package inbox

import (
	"context"
	"fmt"
	"strings"

	"posagent/store"
)

// Feed is one subscription.
type Feed struct {
	b     *Inbox
	after int64
	lost  bool                    // what was lost is said
	sees  func(owner string) bool // whose losses concern the reader
	told  int64                   // losses up to this row were said
}

// Subscribe makes a feed of everything that came after a row: 0 = all that is kept. It needs no
// closing.
func (b *Inbox) Subscribe(after int64) *Feed { return &Feed{b: b, after: after} }

// Resume is Subscribe for a reader that is told once, before it goes on, that events behind the row
// are not kept any more. sees says whose events it reads.
func (b *Inbox) Resume(after int64, sees func(owner string) bool) *Feed {
	return &Feed{b: b, after: after, lost: after > 0, sees: sees, told: after}
}

// News is closed by the next new event. Take it before Try.
func (f *Feed) News() <-chan struct{} {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	return f.b.news
}

// Try gives the next event, oldest first; found is false where there is none yet.
func (f *Feed) Try(ctx context.Context) (e Event, found bool, err error) {
	if f.lost {
		if e, found, err = f.missed(ctx); err != nil || found {
			return e, found, err
		}
	}
	if e, found, err = f.b.first(ctx, f.after); err == nil && found {
		f.after = e.Row
	}
	return e, found, err
}

// missed is what was lost behind the reader's row since it was last told.
func (f *Feed) missed(ctx context.Context) (e Event, found bool, err error) {
	last := int64(0)
	err = f.b.opt.DB.Read(ctx, func(r store.Reader) error {
		last = 0 // the read may run again
		return store.Each(r, func(row store.Row) error {
			var owner string
			var id int64
			if err := row.Scan(&owner, &id); err != nil {
				return err
			}
			if f.sees(owner) {
				last = max(last, id)
			}
			return nil
		}, `SELECT owner, lost FROM inbox_owners WHERE lost > ?`, max(f.told, f.after))
	})
	if err != nil || last <= max(f.told, f.after) {
		return e, false, err
	}
	f.told = last
	return Event{Row: last, LostFrom: f.after + 1, Received: f.b.opt.Now().UnixMilli()}, true, nil
}

// Next waits for the next event, oldest first. It returns ctx's error when ctx ends first; after
// any error the same event is given again.
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
		rows, err := r.Query(`SELECT id, source, ref, event, body, received_ms, owner, given <> 0 FROM inbox_event WHERE id > ? ORDER BY id LIMIT 1`, after)
		if err != nil {
			return err
		}
		defer rows.Close()
		if !rows.Next() {
			return rows.Err()
		}
		if err := rows.Scan(&e.Row, &e.Source, &e.Ref, &e.Event, &e.Body, &e.Received, &e.Owner, &e.Given); err != nil {
			return err
		}
		if found = true; e.Given {
			e.Ref, _, _ = strings.Cut(e.Ref, givenMark)
		}
		e.Ref = senders(e.Source, e.Ref)
		e.Body, err = b.opt.DB.Unseal(r, cell(e.Row), e.Body)
		return err
	})
	return e, found, err
}

// Behind tells whether there is an event after a row.
func (b *Inbox) Behind(ctx context.Context, row int64) (yes bool) {
	err := b.opt.DB.Read(ctx, func(r store.Reader) error {
		newest, err := Newest(r)
		yes = newest > row
		return err
	})
	return err == nil && yes
}

// Newest is the row of the newest event, 0 where there is none.
func Newest(r store.Reader) (row int64, err error) {
	if err := r.QueryRow(`SELECT COALESCE(MAX(id), 0) FROM inbox_event`).Scan(&row); err != nil {
		return 0, fmt.Errorf("read events: %w", err)
	}
	return row, nil
}
