package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"posagent/device/file"
	"posagent/store"
	"posagent/store/marks"
)

// Snapshot writes what is committed at this moment into a new file at copy, beside a running owner
// or without one. The copy's keys are wrapped under to; it holds nothing that was deleted before.
// It is not durable yet. ErrFull where the copy has no room, before anything is written.
func Snapshot(ctx context.Context, path, copy string, from, to store.Wrapper, progress func(done, of int)) error {
	set := settings{path: path, synchronous: "FULL", readOnly: true}
	l, err := openLink(ctx, set)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if err = l.spaceFor(ctx, copy, file.Free); err == nil {
		_, err = l.conn.ExecContext(ctx, "VACUUM INTO ?", copy)
	}
	if err = errors.Join(classify(err), l.close()); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return alter(ctx, copy, func(write func(func(store.Tx) error) error) error {
		w := rewrapping(from, to, progress)
		return w.Run(ctx, write)
	})
}

// spare is what stays free beside a copy while it is made: the terminal goes on.
const spare = 1 << 20

// spaceFor refuses a copy that its file system has no room for: a full one would keep the terminal from selling.
func (l *link) spaceFor(ctx context.Context, copy string, freeIn func(dir string) (int64, error)) error {
	var need int64
	err := l.conn.QueryRowContext(ctx, "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&need)
	if err != nil {
		return err
	}
	dir := filepath.Dir(copy)
	free, err := freeIn(dir)
	if err != nil || free >= need+spare { // one that does not tell is tried
		return nil
	}
	return fmt.Errorf("%w: a copy of the journal needs %d KiB in %s, and %d KiB are free there", store.ErrFull, (need+spare)>>10, dir, free>>10)
}

// Stage makes a database of a copy: its keys are wrapped under opt.Wrapper again, its schema is
// brought up to date, and it is marked as restored, in the words of why. opt.Path is the copy, and
// opt.Marks are the marks of the place it is meant for: it begins a generation that is new there.
// It is durable then, and Replace may put it in its place.
func Stage(ctx context.Context, opt Options, from store.Wrapper, why string) error {
	over := marks.NewFiles(opt.Marks, opt.OpenMark)
	mark := marks.Newest(over.Read())
	if err := over.Close(); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	opt.Marks = nil
	err := alter(ctx, opt.Path, func(write func(func(store.Tx) error) error) error {
		w := rewrapping(from, opt.Wrapper, nil)
		if err := w.Run(ctx, write); err != nil {
			return err
		}
		return write(func(tx store.Tx) error {
			if _, err := tx.Exec("DELETE FROM store_meta WHERE name = ?", metaBefore); err != nil {
				return err
			}
			if err := store.SecretKnown(tx); err != nil {
				return err
			}
			_, err := tx.Exec(store.PutMeta, metaRestored, []byte(why))
			return err
		})
	})
	if err != nil {
		return err
	}
	opt.Ballast = -1
	s, err := Open(ctx, opt)
	if err != nil {
		return err
	}
	err = errors.Join(s.stageEnd(ctx, mark.Slot.End.Generation), s.Check(ctx), s.Close())
	return errors.Join(err, removeAll(opt.Path+".lock"), syncFile(opt.Path))
}

// stageEnd gives a staged copy a generation above all that its place has seen; the start that finds
// it there takes it on.
func (s *Store) stageEnd(ctx context.Context, seen int64) error {
	return s.exclusive(ctx, func() error {
		old, err := oldGeneration(ctx, s.w.conn)
		if err != nil {
			return err
		}
		there := s.counts()
		s.end.Generation = max(s.end.Generation, old, seen) + 1
		return s.record(!there, marks.RowRestored, nil)
	})
}

// alter opens a file that no other process has open, whatever its steps are.
func alter(ctx context.Context, path string, fn func(write func(func(store.Tx) error) error) error) error {
	l, err := openLink(ctx, settings{path: path, synchronous: "FULL"})
	if err != nil {
		return err
	}
	err = fn(func(do func(store.Tx) error) error {
		if err := l.begin("BEGIN IMMEDIATE"); err != nil {
			return classify(err)
		}
		t := &scope{l: l}
		if err := errors.Join(do(t), t.end()); err != nil {
			return errors.Join(err, l.exec("ROLLBACK"))
		}
		return classify(l.exec("COMMIT"))
	})
	return errors.Join(err, l.close())
}

// Hold keeps every owner away from the database at path until release is called. *LockedError while
// there is one.
func Hold(ctx context.Context, path string) (release func() error, err error) {
	f, err := lockFile(ctx, path)
	if err != nil {
		return nil, err
	}
	db, err := lockJournal(path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		if db == nil {
			return f.Close()
		}
		return errors.Join(db.Close(), f.Close())
	}, nil
}

// Replace puts a staged file in the place of the database at path, which the caller holds. A kill
// or a power cut leaves the old one or the new one. damaged says that the old one cannot be read;
// what it has not folded from its log is thrown away then.
func Replace(ctx context.Context, staged, path string, damaged bool) error {
	if err := retire(ctx, path, damaged); err != nil {
		return err
	}
	if err := os.Rename(staged, path); err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	return file.SyncDir(filepath.Dir(path))
}

// Remove deletes the database at path, which the caller holds, with all that lies beside it but the
// lock and the mark: a copy put back later is still known as old. Call Ended before and after.
func Remove(ctx context.Context, path string, damaged bool) error {
	if err := retire(ctx, path, damaged); err != nil {
		return err
	}
	if err := removeAll(path); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	if err := file.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return errors.Join(removeAll(path+"-wal", path+"-shm", path+".ballast", path+".ballast.start"), file.SyncDir(filepath.Dir(path)))
}

// PutAside moves the database at path, which the caller holds, to a path that nothing lies at, with
// its log folded. The lock and the mark stay, as for Remove. Call Ended before and after.
func PutAside(ctx context.Context, path, to string) error {
	if err := retire(ctx, path, false); err != nil {
		return err
	}
	if err := os.Rename(path, to); err != nil {
		return fmt.Errorf("put aside: %w", err)
	}
	return errors.Join(file.SyncDir(filepath.Dir(to)), removeAll(path+".ballast", path+".ballast.start"), file.SyncDir(filepath.Dir(path)))
}

// retire folds the log into the file, and removes it: SQLite would play it back into any file of
// that name.
func retire(ctx context.Context, path string, damaged bool) error {
	if _, err := os.Lstat(path); err == nil && !damaged {
		l, err := openLink(ctx, settings{path: path, synchronous: "FULL"})
		if err != nil {
			return fmt.Errorf("retire: %w", err)
		}
		_, _, busy, err := l.checkpoint("TRUNCATE")
		if err == nil && busy {
			err = fmt.Errorf("%w: somebody reads it", store.ErrBusy)
		}
		if err = errors.Join(classify(err), l.close()); err != nil {
			return fmt.Errorf("retire: %w", err)
		}
	}
	if err := errors.Join(removeAll(path+"-wal", path+"-shm"), file.SyncDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("retire: %w", err)
	}
	return nil
}
