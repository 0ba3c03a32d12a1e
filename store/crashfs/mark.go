package crashfs

import (
	"errors"
	"os"
	"path/filepath"

	"posagent/store"
)

// mark is a store.MarkFile of the record.
type mark struct {
	*os.File
	r *Recorder
}

// OpenMark is sqlite.Options.OpenMark: what is done to the mark is recorded with what is done to the database.
func (r *Recorder) OpenMark(path string, make bool) (store.MarkFile, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := filepath.Base(path)
	if r.due(Open, name) != OK {
		return nil, errIO
	}
	flag := os.O_RDWR
	if make {
		flag |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	if !r.exists(name) {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if len(content) > 0 {
			r.base[name] = content
		} else {
			r.log = append(r.log, event{op: create, file: name})
		}
	}
	return &mark{f, r}, nil
}

var errIO = errors.New("crashfs: input/output error")

// WriteAt implements store.MarkFile.
func (m *mark) WriteAt(b []byte, off int64) (int, error) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	name := filepath.Base(m.Name())
	if m.r.due(Write, name) != OK {
		return 0, errIO
	}
	n, err := m.File.WriteAt(b, off)
	if err == nil {
		m.r.log = append(m.r.log, event{op: Write, file: name, off: off, data: append([]byte(nil), b...)})
	}
	return n, err
}

// Sync implements store.MarkFile.
func (m *mark) Sync() error {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	name := filepath.Base(m.Name())
	if m.r.due(Sync, name) != OK {
		m.r.log = append(m.r.log, event{op: dropped, file: name, off: int64(len(m.r.log))})
		return errIO
	}
	m.r.log = append(m.r.log, event{op: Sync, file: name, off: int64(len(m.r.log))})
	return nil
}
