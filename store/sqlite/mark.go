package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"posagent/store"
)

// osMark is a MarkFile of the system.
type osMark struct {
	*os.File
	fresh bool // its name may not be durable
}

func openOSMark(path string, create bool) (store.MarkFile, error) {
	flag := os.O_RDWR | unix.O_NOFOLLOW
	if create {
		flag |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return &osMark{File: f, fresh: create}, nil
}

// Sync implements MarkFile.
func (m *osMark) Sync() error {
	if !m.fresh {
		return unix.Fdatasync(int(m.Fd()))
	}
	if err := errors.Join(m.File.Sync(), syncDir(filepath.Dir(m.Name()))); err != nil {
		return err
	}
	m.fresh = false
	return nil
}

// marks are the marks of one journal: the first beside it, others on other media. They are written by the writer and by the
// checkpointer.
type marks struct {
	path []string
	open func(path string, create bool) (store.MarkFile, error)
	mac  func([]byte) []byte // nil until the journal's key is known

	mu   sync.Mutex
	file []store.MarkFile // nil = not open
	err  []error          // why the last write did not reach it; nil = it did
	cur  slot             // what was written last
}

// reading is what was found of one mark.
type reading struct {
	there bool // the file is there and has the size and the shape of a mark
	ok    bool // one slot of it is whole
	slot  slot
	raw   []byte // of that slot
	err   error  // it could not be read
}

func newMarks(paths []string, open func(string, bool) (store.MarkFile, error)) *marks {
	if open == nil {
		open = openOSMark
	}
	return &marks{path: paths, open: open, file: make([]store.MarkFile, len(paths)), err: make([]error, len(paths))}
}

// read opens and reads every mark.
func (m *marks) read() []reading {
	list := make([]reading, len(m.path))
	for i, path := range m.path {
		f, err := m.open(path, false)
		if err != nil {
			m.err[i] = err
			if !errors.Is(err, fs.ErrNotExist) {
				list[i].err = err
			}
			continue
		}
		m.file[i] = f
		list[i] = readMark(f)
	}
	return list
}

func readMark(f io.ReaderAt) (r reading) {
	data := make([]byte, slots*slotBytes)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
		return r
	}
	if n != len(data) {
		return r
	}
	for i := range slots {
		raw := data[i*slotBytes : (i+1)*slotBytes]
		r.there = r.there || string(raw[:8]) == slotMagic
		if s, _, ok := decodeSlot(raw); ok && (!r.ok || s.newer(r.slot)) {
			r.ok, r.slot, r.raw = true, s, raw
		}
	}
	return r
}

// verifies reports whether the slot was written under the key of mac.
func (r reading) verifies(mac func([]byte) []byte) bool {
	return r.ok && string(mac(r.raw[:macAt])) == string(r.raw[macAt:crcAt])
}

// found is what the marks say together: the newest slot that is whole.
func found(list []reading) (r reading) {
	for _, l := range list {
		switch {
		case l.err != nil && r.err == nil:
			r.err = l.err
		case l.ok && (!r.ok || l.slot.newer(r.slot)):
			err := r.err
			r = l
			r.err = err
		case l.there && !r.ok:
			r.there = true
		}
	}
	return r
}

// commit writes the end that was just committed, and syncs nothing. It reports whether a mark has failed that had not before.
func (m *marks) commit(end store.End) (failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cur.end = end
	return m.put()
}

// put writes the next slot of every mark that is open and works. It reports whether one of them has failed.
func (m *marks) put() (failed bool) {
	m.cur.turn++
	b := m.cur.encode(m.mac)
	at := int64(m.cur.turn%slots) * slotBytes
	for i, f := range m.file {
		if f == nil || m.err[i] != nil {
			continue
		}
		if _, err := f.WriteAt(b, at); err != nil {
			m.err[i], failed = fmt.Errorf("mark %s: %w", m.path[i], err), true
		}
	}
	return failed
}

// durably writes both slots as change leaves them, and returns when they are on the medium. It opens and makes marks that are
// missing, and tries again those that failed. The error is that of the first mark.
func (m *marks) durably(change func(*slot)) error {
	m.mu.Lock()
	change(&m.cur)
	for i, f := range m.file {
		m.err[i] = nil
		if f != nil {
			continue
		}
		if m.file[i], m.err[i] = m.open(m.path[i], true); m.err[i] != nil {
			m.file[i], m.err[i] = nil, fmt.Errorf("mark: %w", m.err[i])
		}
	}
	for range slots {
		m.put()
	}
	files := append([]store.MarkFile(nil), m.file...)
	m.mu.Unlock()
	for i, f := range files {
		if f == nil {
			continue
		}
		if err := f.Sync(); err != nil {
			m.mu.Lock()
			m.err[i] = fmt.Errorf("mark %s: %w", m.path[i], err)
			m.mu.Unlock()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, f := range m.file {
		if m.err[i] != nil && f != nil { // opened anew by the next attempt
			_ = f.Close()
			m.file[i] = nil
		}
	}
	return m.err[0]
}

func (m *marks) health() []store.MarkHealth {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]store.MarkHealth, len(m.path))
	for i, p := range m.path {
		list[i] = store.MarkHealth{Path: p, Err: m.err[i]}
	}
	return list
}

func (m *marks) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for i, f := range m.file {
		if f != nil {
			errs = append(errs, f.Close())
			m.file[i] = nil
		}
	}
	return errors.Join(errs...)
}
