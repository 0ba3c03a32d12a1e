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
	metaBox        = "box"        // the marks.Box that wrote the journal last, as JSON
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

// readBox reads what the box was known by that wrote the journal last; nil = not known.
func readBox(ctx context.Context, q queryer) (box marks.Box, err error) {
	var text []byte
	err = q.QueryRowContext(ctx, "SELECT value FROM store_meta WHERE name = ?", metaBox).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, classify(err)
	}
	if err := json.Unmarshal(text, &box); err != nil {
		return nil, fmt.Errorf("%w: the marks of its box: %w", store.ErrDamaged, err)
	}
	return box, nil
}
