package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"posagent/store/marks"
)

// evidence collects what lies on the medium of a journal that is open; its key is known to s by
// then, or never.
func (s *Store) evidence(ctx context.Context, q queryer, mark marks.Reading) (e marks.Evidence, err error) {
	e = marks.Evidence{Journal: true, Mark: mark, Keyless: s.opt.Wrapper == nil}
	if e.Beside, err = readGeneration(generationPath(s.opt.Path)); err != nil {
		return e, err
	}
	meta, err := hasTable(ctx, q, "store_meta")
	if err != nil {
		return e, classify(err)
	}
	if meta {
		var key, staged int
		err := q.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE name = 'mac_key'), count(*) FILTER (WHERE name = ?) FROM store_meta", metaRestored).Scan(&key, &staged)
		if err != nil {
			return e, classify(err)
		}
		e.Keyed, e.Staged = key > 0, staged > 0
	}
	if meta {
		if e.Box, err = readBox(ctx, q); err != nil {
			return e, err
		}
		e.Other = e.Box.Other(s.opt.Box)
	}
	if e.Old, err = oldGeneration(ctx, q); err != nil {
		return e, err
	}
	if e.Row, err = s.readEnd(ctx, q); err != nil {
		return e, err
	}
	e.Ours = s.mac != nil && mark.Verifies(s.markMAC)
	e.Whole = mark.Slot.Fold == marks.Folding{} || holds(mark.Slot.Fold, s.opt.Path)
	return e, nil
}

// markMAC authenticates the first part of a slot.
func (s *Store) markMAC(b []byte) []byte { return s.MAC("store_mark", "", b) }

// missing judges a journal that is not there, before anything is made in its place. outlived is
// Options.Outlived.
func missing(path, outlived string, mark marks.Reading) (marks.Verdict, error) {
	n, err := size(path)
	if err != nil || n > 0 {
		return marks.Verdict{}, err
	}
	beside := int64(-1)
	if _, err := os.Lstat(generationPath(path)); err == nil {
		if beside, err = readGeneration(generationPath(path)); err != nil {
			return marks.Verdict{}, err
		}
		beside = max(beside, 0)
	}
	e := marks.Evidence{Mark: mark, Beside: beside}
	if v := marks.Judge(e); v == (marks.Verdict{}) && outlived != "" {
		switch _, err := os.Lstat(outlived); {
		case err == nil:
			e.Outlived = outlived
		case !errors.Is(err, fs.ErrNotExist):
			return marks.Verdict{}, fmt.Errorf("store: %w", err)
		}
	}
	return marks.Judge(e), nil
}
