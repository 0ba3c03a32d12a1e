package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"posagent/store"
)

// Before returns what was before the present generation, until Advance. It is WasRestored,
// WasAccepted, WasLost or WasLocked where something may have happened that this journal does not hold.
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
