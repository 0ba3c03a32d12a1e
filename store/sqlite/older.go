package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"posagent/store"
)

// OpenReaderOf opens a file for reading that may have an older schema than opt.Steps: then it reads
// a copy of this moment, in the system's folder for temporary files, that has them all. Close
// removes the copy. It answers *NewerError, and *OlderError where there is no room for a copy.
func OpenReaderOf(ctx context.Context, opt Options) (*Store, error) {
	opt.ReadOnly = true
	path, steps := opt.Path, opt.Steps
	s, err := Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	lack := 0
	err = s.Read(ctx, func(r store.Reader) (err error) {
		lack, err = lacks(ctx, r.(*scope).l.conn, steps)
		return err
	})
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), s.Close())
	case lack == 0:
		return s, nil
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "posagent-read-*") // 0700
	if err == nil {
		if s, err = migratedCopy(ctx, path, filepath.Join(dir, filepath.Base(path)), steps); err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err != nil {
		return nil, &store.OlderError{Path: path, Lack: lack, Err: err}
	}
	s.close1 = sync.OnceValue(func() error { return errors.Join(s.shutdown(), os.RemoveAll(dir)) })
	return s, nil
}

// lacks counts the steps that a file does not have. *NewerError where it has one that is not known.
func lacks(ctx context.Context, conn *sql.Conn, steps []store.Step) (int, error) {
	applied, err := appliedSteps(ctx, conn)
	if err != nil {
		return 0, err
	}
	known := map[string]string{}
	lack := 0
	for _, st := range append(ownSteps(), steps...) {
		known[st.Name] = st.Record()
		if _, done := applied[st.Name]; !done {
			lack++
		}
	}
	return lack, store.Newer(known, applied)
}

// migratedCopy copies the file at path and opens the copy for reading, with all steps.
func migratedCopy(ctx context.Context, path, copied string, steps []store.Step) (*Store, error) {
	l, err := openLink(ctx, settings{path: path, synchronous: "FULL", readOnly: true})
	if err != nil {
		return nil, err
	}
	_, err = l.conn.ExecContext(ctx, "VACUUM INTO ?", copied)
	if err = errors.Join(classify(err), l.close()); err != nil {
		return nil, err
	}
	s, err := newStore(Options{Path: copied, Steps: steps})
	if err != nil {
		return nil, err
	}
	if l, err = openLink(ctx, settings{path: copied, synchronous: "OFF"}); err != nil {
		return nil, err
	}
	_, err = s.migrate(ctx, l, func() error { return nil })
	if err = errors.Join(classify(err), l.close()); err != nil {
		return nil, err
	}
	return Open(ctx, Options{Path: copied, ReadOnly: true, IgnoreMark: true})
}
