package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names in store_meta of the generation and of the mark that a restored file carries.
const (
	metaGeneration = "generation"
	metaRestored   = "restored"
)

const generationMagic = "posagent-generation-1 "

// lineage compares a database with the counter that lies beside it.
type lineage struct {
	inside int64  // of the database; 0 = none yet
	beside int64  // of the file beside it; -1 = there is no such file
	mark   string // set by Stage: where the file was restored from
}

func (l lineage) past() string {
	switch {
	case l.mark != "":
		return l.mark
	case l.beside < 0 && l.inside > 0:
		return fmt.Sprintf("a database of generation %d, found without the counter beside it", l.inside)
	case l.inside < l.beside:
		return fmt.Sprintf("a database of generation %d where generation %d has run", l.inside, l.beside)
	}
	return ""
}

// Past says in a few words why the file must be taken for one from an earlier time: it was restored, or put back by hand.
// "" = it goes on from where it ended.
func (s *Store) Past(ctx context.Context) (string, error) {
	l, err := s.lineage(ctx)
	return l.past(), err
}

// Generation is the number of lives the file has had: how often Advance was called.
func (s *Store) Generation(ctx context.Context) (int64, error) {
	l, err := s.lineage(ctx)
	return l.inside, err
}

// Advance begins the next generation, in the file and then in the counter beside it, and forgets a restore. Call it at the start,
// once everything that an old file must not do is prevented, and at the end, so that a copy made meanwhile is old too.
func (s *Store) Advance(ctx context.Context) error {
	l, err := s.lineage(ctx)
	if err != nil {
		return err
	}
	path := generationPath(s.opt.Path)
	if l.beside < 0 { // before the first number stands in the database: a number without a file means a file put back
		if err := writeGeneration(path, 0); err != nil {
			return err
		}
	}
	next := max(l.inside, l.beside) + 1
	err = s.Write(ctx, func(tx Tx) error {
		_, err := tx.Exec("INSERT INTO store_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
			metaGeneration, []byte(strconv.FormatInt(next, 10)))
		if err == nil {
			_, err = tx.Exec("DELETE FROM store_meta WHERE name = ?", metaRestored)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("generation: %w", err)
	}
	return writeGeneration(path, next)
}

func (s *Store) lineage(ctx context.Context) (l lineage, err error) {
	if l.beside, err = readGeneration(generationPath(s.opt.Path)); err != nil {
		return l, err
	}
	err = s.Read(ctx, func(r Reader) error {
		rows, err := r.Query("SELECT name, value FROM store_meta WHERE name IN (?, ?)", metaGeneration, metaRestored)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var value []byte
			if err := rows.Scan(&name, &value); err != nil {
				return err
			}
			if name == metaRestored {
				l.mark = string(value)
			} else if l.inside, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return fmt.Errorf("%w: generation %q", ErrDamaged, value)
			}
		}
		return rows.Err()
	})
	return l, err
}

func generationPath(db string) string { return db + ".generation" }

// readGeneration answers -1 where there is no counter. One that cannot be read counts as none: what is open is held.
func readGeneration(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("store: generation: %w", err)
	}
	digits, ours := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), generationMagic)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ours || err != nil || n < 0 {
		return -1, nil
	}
	return n, nil
}

func writeGeneration(path string, n int64) error {
	err := writeDurably(path, fmt.Appendf(nil, "%s%d\n", generationMagic, n))
	if err != nil {
		return fmt.Errorf("store: generation: %w", err)
	}
	return nil
}

// writeDurably replaces a small private file; after a power cut it is the old one or the new one.
func writeDurably(path string, data []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
