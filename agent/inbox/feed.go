package inbox

import (
	"context"
	"fmt"

	"posagent/store"
)

// Feed is one subscription.
type Feed struct {
	b     *Inbox
	after int64
}

// Subscribe makes a feed of everything that came after a row: 0 = all that is kept. It needs no
// closing.
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
