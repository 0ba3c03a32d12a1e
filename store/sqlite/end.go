package sqlite

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"posagent/store"
	"posagent/store/marks"
)

// The names in store_meta.
const (
	metaGeneration = "generation" // of journals from before the mark
	metaRestored   = "restored"   // why the journal's content is from an earlier time
	metaBefore     = "before"     // a Before, as JSON
)

// raised is the end after one more commit.
func raised(e store.End) store.End {
	e.Sequence++
	return e
}

// counts reports whether the journal records its end.
func (s *Store) counts() bool { return s.end.Generation > 0 }

// counted notes that a commit with this end is durable, and tells the mark.
func (s *Store) counted(next store.End) {
	if !s.counts() {
		return
	}
	s.end = next
	if s.marks != nil && s.flags&marks.RowMarked != 0 {
		if s.marks.Commit(next) {
			s.warnOfMarks()
		}
	}
}

// warnOfMarks logs each mark that is not written. It fails nothing: what it would have seen is what
// is lost.
func (s *Store) warnOfMarks() {
	for _, m := range s.marks.Health() {
		if m.Err != nil {
			s.log.Warn("a mark of the journal is not written", "mark", m.Path, "err", m.Err)
		}
	}
}

const updateEnd = `UPDATE store_end SET generation = ?, sequence = ?, head = ?, note = ?, flags = ?, mac = ? WHERE id = 1`

// endStep is the table that holds the one endRow.
func endStep() store.Step {
	return store.Step{Name: "store/2 end", SQL: `CREATE TABLE store_end (
		id         INTEGER PRIMARY KEY CHECK (id = 1),
		generation INTEGER NOT NULL,
		sequence   INTEGER NOT NULL, -- of the last commit
		head       BLOB NOT NULL,    -- of the audit chain
		note       BLOB NOT NULL,    -- the highest numbers in use
		flags      INTEGER NOT NULL, -- 1 = a mark is beside the journal, 2 = put here by restore, accept or reset
		mac        BLOB NOT NULL
	) STRICT;`}
}

// endArgs are the arguments of updateEnd.
func (s *Store) endArgs(e store.End, flags int64) []any {
	return []any{e.Generation, e.Sequence, e.Head[:], e.Note[:], flags, s.endMAC(e, flags)}
}

func (s *Store) endMAC(e store.End, flags int64) []byte {
	return s.MAC("store_end", "1", e.Generation, e.Sequence, e.Head[:], e.Note[:], flags)
}

// queryer is a connection or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func hasTable(ctx context.Context, q queryer, name string) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", name).Scan(&n)
	return n > 0, err
}

// readEnd reads the record; a file without the table or the row has none. Where the store has no
// key it does not verify.
func (s *Store) readEnd(ctx context.Context, q queryer) (r marks.EndRow, err error) {
	if there, err := hasTable(ctx, q, "store_end"); err != nil || !there {
		return r, classify(err)
	}
	var head, note, mac []byte
	err = q.QueryRowContext(ctx, "SELECT generation, sequence, head, note, flags, mac FROM store_end WHERE id = 1").
		Scan(&r.End.Generation, &r.End.Sequence, &head, &note, &r.Flags, &mac)
	if errors.Is(err, sql.ErrNoRows) {
		return r, nil
	}
	if err != nil {
		return r, classify(err)
	}
	copy(r.End.Head[:], head)
	copy(r.End.Note[:], note)
	r.There = true
	r.OK = s.mac != nil && hmac.Equal(mac, s.endMAC(r.End, r.Flags))
	return r, nil
}

// Before returns what was before the present generation, until Advance. It is WasRestored,
// WasAccepted or WasLost where something may have happened that this journal does not hold.
func (s *Store) Before(ctx context.Context) (b store.Before, err error) {
	err = s.Read(ctx, func(r store.Reader) error {
		var text []byte
		err := r.QueryRow("SELECT value FROM store_meta WHERE name = ?", metaBefore).Scan(&text)
		switch {
		case err == nil:
			if err := json.Unmarshal(text, &b); err != nil {
				return fmt.Errorf("%w: what was before: %w", store.ErrDamaged, err)
			}
			return nil
		case !errors.Is(err, sql.ErrNoRows):
			return classify(err)
		}
		err = r.QueryRow("SELECT value FROM store_meta WHERE name = ?", metaRestored).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		b.Kind, b.Why = store.WasRestored, string(text)
		return classify(err)
	})
	return b, err
}

// Past says in a few words why the file must be taken for one from an earlier time: it was
// restored, or accepted after a cut, or begun anew where one was lost. "" = it goes on from where
// it ended.
func (s *Store) Past(ctx context.Context) (string, error) {
	b, err := s.Before(ctx)
	if b.Kind == store.WasReset {
		return "", err
	}
	return b.Why, err
}

// Advance forgets what Past and Before tell. Call it once everything that an old journal must not
// do is prevented.
func (s *Store) Advance(ctx context.Context) error {
	b, err := s.Before(ctx)
	if err != nil || b.Kind == store.FirstGeneration {
		return err
	}
	err = s.Write(ctx, func(tx store.Tx) error {
		_, err := tx.Exec("DELETE FROM store_meta WHERE name IN (?, ?)", metaRestored, metaBefore)
		return err
	})
	if err != nil {
		return fmt.Errorf("generation: %w", err)
	}
	return nil
}

// End returns the end of the journal as the last commit left it; a store without a mark has none.
func (s *Store) End(ctx context.Context) (e store.End, err error) {
	err = s.Read(ctx, func(r store.Reader) error {
		row, err := s.readEnd(ctx, r.(*scope).l.conn)
		e = row.End
		return err
	})
	return e, err
}

// EndIn returns the end in the snapshot of r, the zero End where none is recorded. ErrTampered
// where its MAC does not verify.
func (s *Store) EndIn(ctx context.Context, r store.Reader) (store.End, error) {
	row, err := s.readEnd(ctx, r.(*scope).l.conn)
	if err == nil && row.There && !row.OK {
		err = fmt.Errorf("the journal's end: %w", store.ErrTampered)
	}
	return row.End, err
}

// Generation is the number of the journal's generation: raised when it is restored, accepted after
// a cut, or begun anew.
func (s *Store) Generation(ctx context.Context) (int64, error) {
	e, err := s.End(ctx)
	if err != nil || e.Generation > 0 {
		return e.Generation, err
	}
	err = s.Read(ctx, func(r store.Reader) error {
		e.Generation, err = oldGeneration(ctx, r.(*scope).l.conn)
		return err
	})
	return e.Generation, err
}

// oldGeneration is what a journal from before the mark says of itself; 0 = nothing.
func oldGeneration(ctx context.Context, q queryer) (int64, error) {
	if there, err := hasTable(ctx, q, "store_meta"); err != nil || !there {
		return 0, classify(err)
	}
	var value []byte
	err := q.QueryRowContext(ctx, "SELECT value FROM store_meta WHERE name = ?", metaGeneration).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, classify(err)
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: generation %q", store.ErrDamaged, value)
	}
	return n, nil
}
