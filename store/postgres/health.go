package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posagent/store"
)

// Health implements store.Store.
func (s *Store) Health(context.Context) store.Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := store.Health{
		State: s.state, LastErr: s.lastErr, LastErrAt: s.lastAt, Path: s.name, Reserved: s.state == store.Ready, Schema: s.schema,
		Conns: s.db.Stats().InUse, MostConns: s.opt.Conns + 1,
		Commits: s.commits.Load(), Writes: s.commits.Load(), CommitEMA: time.Duration(s.latency.Load()), Synchronous: "server",
	}
	if why := s.barred.Load(); why != nil && s.state != store.Closed {
		h.State, h.Err, h.Reserved = store.Broken, *why, false
	} else if s.state != store.Ready {
		h.Err = s.lastErr
		if s.state == store.Closed {
			h.Err = store.ErrClosed
		}
	}
	return h
}

// Reserved implements store.Store. Space is the server's affair: what it refused last is not tried by new work.
func (s *Store) Reserved(ctx context.Context) error { return s.Health(ctx).Err }

// saw remembers what the server refused.
func (s *Store) saw(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := store.Ready
	switch {
	case s.closed:
		return
	case errors.Is(err, store.ErrFull):
		state = store.Full
	case errors.Is(err, store.ErrIO), errors.Is(err, store.ErrReadOnly), errors.Is(err, store.ErrDamaged):
		state = store.Broken
	default: // the closure's own affair, or a conflict
		return
	}
	s.state, s.lastErr, s.lastAt = state, err, time.Now()
}

// committed counts a commit, and tells it to those who wait. One that changed a row shows that the server takes writes.
func (s *Store) committed(took time.Duration, changed bool) {
	s.commits.Add(1)
	if old := s.latency.Load(); old != 0 {
		took = time.Duration(old) + (took-time.Duration(old))/8
	}
	s.latency.Store(int64(took))
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed && !s.closed {
		s.state = store.Ready
	}
	if s.news != nil {
		close(s.news)
		s.news = nil
	}
}

// Committed implements store.Store. It hears of this process's commits.
func (s *Store) Committed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news == nil {
		s.news = make(chan struct{})
	}
	return s.news
}

// Secret implements store.Store.
func (s *Store) Secret(ctx context.Context, name, beside string) ([]byte, error) {
	return store.Secret(ctx, s, s.opt.Wrapper, s.log, name, beside)
}

// Rewrap implements store.Store.
func (s *Store) Rewrap(ctx context.Context, to store.Wrapper, progress func(done, of int)) error {
	w := &store.Rewrapping{From: s.opt.Wrapper, To: to, Progress: progress, Tables: keyTables}
	return w.Run(ctx, func(fn func(store.Tx) error) error { return s.Write(ctx, fn) })
}

// keyTables lists the tables whose rows keep their data keys themselves. A row is named by its primary key, as a text.
func keyTables(tx store.Tx) (list []store.KeyTable, err error) {
	err = store.Each(tx, func(row store.Row) error {
		var t store.KeyTable
		t.None = ""
		err := row.Scan(&t.Name, &t.Row)
		list = append(list, t)
		return err
	}, `SELECT c.relname::text, '(' || string_agg('"' || a.attname || '"::text', ' || chr(1) || ' ORDER BY k.n) || ') COLLATE "C"'
		FROM pg_class c
		JOIN pg_attribute d ON d.attrelid = c.oid AND d.attname = 'data_key' AND NOT d.attisdropped
		JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
		CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k (attnum, n)
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		GROUP BY c.relname ORDER BY c.relname`)
	return list, err
}

// Check implements store.Store: every page of the schema's tables is read, with its checksum where the server has them.
func (s *Store) Check(ctx context.Context) error {
	return s.Read(ctx, func(r store.Reader) error {
		names, err := store.Column[string](r, "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname")
		if err != nil {
			return err
		}
		for _, name := range names {
			var n int64
			if err := r.QueryRow(`SELECT count(*) FROM "` + name + `" t WHERE length(t::text) < 0`).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}
