package marks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"posagent/device/file"
	"posagent/store"
)

// osMark is a MarkFile of the system.
type osMark struct {
	*os.File
	fresh bool // its name may not be durable
}

// OpenFile opens a mark of the system, and makes it where create says so.
func OpenFile(path string, create bool) (store.MarkFile, error) {
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
	if err := errors.Join(m.File.Sync(), file.SyncDir(filepath.Dir(m.Name()))); err != nil {
		return err
	}
	m.fresh = false
	return nil
}

// Files are the marks of one journal: the first beside it, others on other media. They may be
// written from several goroutines.
type Files struct {
	path []string
	open func(path string, create bool) (store.MarkFile, error)
	MAC  func([]byte) []byte // authenticates a slot; set it before the first write

	mu   sync.Mutex
	file []store.MarkFile // nil = not open
	err  []error          // why the last write did not reach it; nil = it did
	Last Slot             // what was written last; a start sets it to what it has read
}

// Reading is what was found of one mark.
type Reading struct {
	There bool // the file is there and has the size and the shape of a mark
	OK    bool // one slot of it is whole
	Slot  Slot
	Raw   []byte // of that slot
	Err   error  // it could not be read
}

// NewFiles returns the marks at paths; open nil = OpenFile.
func NewFiles(paths []string, open func(string, bool) (store.MarkFile, error)) *Files {
	if open == nil {
		open = OpenFile
	}
	return &Files{path: paths, open: open, file: make([]store.MarkFile, len(paths)), err: make([]error, len(paths))}
}

// Read opens and reads every mark.
func (m *Files) Read() []Reading {
	list := make([]Reading, len(m.path))
	for i := range m.path {
		f, err := m.openMark(i, false)
		if err != nil {
			m.err[i] = err
			if i > 0 && errors.Is(err, unix.EROFS) { // what stands there still tells of an older journal
				list[i] = readOnly(m.path[i])
				continue
			}
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrNotMark) { // what is no mark says nothing
				list[i].Err = err
			}
			continue
		}
		m.file[i], list[i] = f, ReadSlots(f)
	}
	return list
}

// readOnly reads a mark on a medium that takes no writes.
func readOnly(path string) Reading {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return Reading{Err: err}
	}
	defer f.Close()
	return ReadSlots(f)
}

// ErrNotMark is that of a file that a mark would be written over.
var ErrNotMark = errors.New("is not a mark: name a file that is not there yet")

// openMark opens a mark. One that somebody has named is written over only where it is one: the first lies beside the journal, under the
// journal's name.
func (m *Files) openMark(i int, create bool) (store.MarkFile, error) {
	f, err := m.open(m.path[i], create)
	if err != nil || i == 0 {
		return f, err
	}
	if ours(f) {
		return f, nil
	}
	return nil, errors.Join(fmt.Errorf("%s %w", m.path[i], ErrNotMark), f.Close())
}

// ours reports whether a file is a mark, or what a power cut has left of one, or holds nothing.
func ours(f io.ReaderAt) bool {
	data := make([]byte, Slots*slotBytes+1)
	n, err := f.ReadAt(data, 0)
	for i := range Slots {
		if at := i * slotBytes; at < n && strings.HasPrefix(string(data[at:n]), slotMagic[:min(len(slotMagic), n-at)]) {
			return true
		}
	}
	return errors.Is(err, io.EOF) && len(bytes.Trim(data[:n], "\x00")) == 0
}

// ReadSlots reads the newer of the two slots of one mark.
func ReadSlots(f io.ReaderAt) (r Reading) {
	data := make([]byte, Slots*slotBytes)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		r.Err = err
		return r
	}
	if n != len(data) {
		return r
	}
	for i := range Slots {
		raw := data[i*slotBytes : (i+1)*slotBytes]
		r.There = r.There || string(raw[:8]) == slotMagic
		if s, _, ok := decodeSlot(raw); ok && (!r.OK || s.newer(r.Slot)) {
			r.OK, r.Slot, r.Raw = true, s, raw
		}
	}
	return r
}

// Verifies reports whether the slot was written under the key of mac.
func (r Reading) Verifies(mac func([]byte) []byte) bool {
	return r.OK && string(mac(r.Raw[:macAt])) == string(r.Raw[macAt:crcAt])
}

// Newest is what the marks say together: the newest slot that is whole.
func Newest(list []Reading) (r Reading) {
	for _, l := range list {
		switch {
		case l.Err != nil && r.Err == nil:
			r.Err = l.Err
		case l.OK && (!r.OK || l.Slot.newer(r.Slot)):
			err := r.Err
			r = l
			r.Err = err
		case l.There && !r.OK:
			r.There = true
		}
	}
	return r
}

// Commit writes the end that was just committed, and syncs nothing. It reports whether a mark has
// failed that had not before.
func (m *Files) Commit(end store.End) (failed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Last.End = end
	return m.put()
}

// put writes the next slot of every mark that is open and works. It reports whether one of them has
// failed.
func (m *Files) put() (failed bool) {
	m.Last.Turn++
	b := m.Last.encode(m.MAC)
	at := int64(m.Last.Turn%Slots) * slotBytes
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

// Durably writes both slots as change leaves them, and returns when they are on the medium. It
// opens and makes marks that are missing, and tries again those that failed. The error is that of
// the first mark.
func (m *Files) Durably(change func(*Slot)) error {
	m.mu.Lock()
	change(&m.Last)
	for i, f := range m.file {
		m.err[i] = nil
		if f != nil {
			continue
		}
		if m.file[i], m.err[i] = m.openMark(i, true); m.err[i] != nil {
			m.file[i], m.err[i] = nil, fmt.Errorf("mark: %w", m.err[i])
		}
	}
	for range Slots {
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

// Misplaced reports whether a mark that is open does not lie at its path any more, and closes it:
// Durably makes it again.
func (m *Files) Misplaced() (is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, f := range m.file {
		known, ok := f.(interface{ Stat() (fs.FileInfo, error) })
		if !ok { // none is open, or a test's
			continue
		}
		was, err := known.Stat()
		now, gone := os.Stat(m.path[i])
		if err == nil && (gone == nil && !os.SameFile(was, now) || errors.Is(gone, fs.ErrNotExist)) {
			_ = f.Close()
			m.file[i], is = nil, true
		}
	}
	return is
}

// Health reports each mark.
func (m *Files) Health() []store.MarkHealth {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]store.MarkHealth, len(m.path))
	for i, p := range m.path {
		list[i] = store.MarkHealth{Path: p, Err: m.err[i]}
	}
	return list
}

// Close closes the files.
func (m *Files) Close() error {
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
