package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"posagent/device/file"
	"posagent/store"
)

// place is where a journal lies: the files that its owner works on, as they were when it opened
// them. Once another program has removed or replaced one of them, what is committed goes into files
// that no later start finds; once it has written into the journal, the log belongs to pages that are
// gone. The zero place is not looked after.
type place struct {
	path string
	own  *os.File               // the journal: closing another descriptor of it would drop SQLite's locks
	was  map[string]fs.FileInfo // by what follows the path
	end  int64                  // where the page of the journal's end begins, which each commit changes; 0 = it has none

	mu      sync.Mutex
	folded  fs.FileInfo // the journal after the owner's last folding
	page    []byte      // of the journal's end, then
	written error       // another program has written into it
}

// takePlace notes the files of the journal at path, which its owner has opened as own. The journal's
// end is on the page of that number, 0 = on none.
func takePlace(path string, own *os.File, page int64) *place {
	p := &place{path: path, own: own, was: map[string]fs.FileInfo{}}
	if own != nil && page > 0 {
		p.end = (page - 1) * pageSize
	}
	for _, end := range [...]string{"", "-wal", "-shm", ".lock"} {
		if fi, err := os.Stat(path + end); err == nil {
			p.was[end] = fi
		}
	}
	p.wrote()
	return p
}

// pageSize is that of every journal (settings.pragmas).
const pageSize = 1024

// lost says why the journal is not at its path any more: *DisplacedError. idle says that the owner
// does not fold its log just now, so that nothing but another program writes into the journal.
func (p *place) lost(idle bool) error {
	if p.was[""] == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range [...]string{"", "-wal", "-shm", ".lock"} {
		if p.written != nil {
			break
		}
		was, there := p.was[end]
		if !there {
			continue
		}
		name := filepath.Base(p.path + end)
		now, err := os.Stat(p.path + end)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
			return &store.DisplacedError{Path: p.path, Why: name + " was removed while the terminal runs"}
		case err != nil: // a medium that fails says so at the next write
		case !os.SameFile(was, now):
			return &store.DisplacedError{Path: p.path, Why: name + " was replaced while the terminal runs"}
		case end == "" && idle && p.changed(now):
			p.written = &store.DisplacedError{Path: p.path, Why: name + " was overwritten while the terminal runs"}
		}
	}
	return p.written
}

// changed reports whether the journal's end is another one than the owner has folded: its time alone
// changes also where nothing was written.
func (p *place) changed(now fs.FileInfo) bool {
	if p.end == 0 || now.Size() == p.folded.Size() && now.ModTime().Equal(p.folded.ModTime()) {
		return false
	}
	if page, err := p.read(); err != nil || !bytes.Equal(page, p.page) {
		return true
	}
	p.folded = now
	return false
}

// read reads the page of the journal's end.
func (p *place) read() ([]byte, error) {
	page := make([]byte, pageSize)
	_, err := p.own.ReadAt(page, p.end)
	return page, err
}

// ours reports whether the file at the path, with what follows it, is the one that the owner opened.
func (p *place) ours(end string) bool {
	was, there := p.was[end]
	now, err := os.Stat(p.path + end)
	return there && err == nil && os.SameFile(was, now)
}

// wrote notes that the owner has folded its log into the journal.
func (p *place) wrote() {
	if p.was[""] == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now, err := os.Stat(p.path)
	if err != nil || !os.SameFile(now, p.was[""]) {
		return
	}
	p.folded = now
	if p.end == 0 {
		return
	}
	if p.page, err = p.read(); err != nil {
		p.page = nil // a medium that fails says so at the next write
	}
}

// overwritten reports whether another program has written into the journal.
func (p *place) overwritten() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written != nil
}

// displaced says why the journal is not at its path any more. While the log is being folded, it does
// not look for what other programs have written.
func (s *Store) displaced() error {
	idle := s.foldMu.TryLock()
	if idle {
		defer s.foldMu.Unlock()
	}
	err := s.place.lost(idle)
	if err != nil && s.place.ours("-wal") && (s.place.overwritten() || !s.place.ours("")) {
		if err := s.giveUp(); err != nil {
			s.log.Error("the log of the journal that was taken away is still there", "err", err)
		}
	}
	return err
}

// giveUp keeps the log at the path from being played back into the database there, to which it does
// not belong.
func (s *Store) giveUp() error {
	err := os.Rename(s.opt.Path+"-wal", s.opt.Path+"-wal.kept")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, removeAll(s.opt.Path+"-shm"), file.SyncDir(filepath.Dir(s.opt.Path)))
}

// makeWhole ends a store whose files were taken away so that the next start finds the journal. It
// reports whether that was possible: what lies at the path in the journal's place is left as it is.
func (s *Store) makeWhole() (done bool, err error) {
	_, err = os.Lstat(s.opt.Path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case s.place.overwritten() || s.w == nil:
		return false, nil
	case missing:
		err = s.putBack()
	case !s.place.ours(""):
		return false, nil
	default:
		var frames, folded int64
		if frames, folded, _, err = s.w.checkpoint("PASSIVE"); err == nil && frames != folded {
			err = fmt.Errorf("%w: %d of %d pages of the log are in the journal", store.ErrBusy, folded, frames)
		}
		if err == nil && !s.place.ours("-wal") {
			err = s.giveUp()
		}
	}
	return err == nil, err
}

// putBack writes the journal to its path, where nothing lies any more.
func (s *Store) putBack() error {
	copied := s.opt.Path + ".back"
	if err := removeAll(copied, copied+"-wal", copied+"-shm"); err != nil {
		return err
	}
	if err := s.w.exec("VACUUM INTO ?", copied); err != nil {
		return classify(err)
	}
	defer os.Remove(copied)
	err := errors.Join(syncFile(copied), removeAll(s.opt.Path+"-wal", s.opt.Path+"-shm")) // nothing is played back into it
	if err == nil {
		err = os.Link(copied, s.opt.Path) // another program's journal is left as it is
	}
	return errors.Join(err, file.SyncDir(filepath.Dir(s.opt.Path)))
}
