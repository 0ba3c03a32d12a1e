package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"posagent/agent/config"
	"posagent/agent/ready"
)

// inUse are the files that a terminal was started with: its configuration, and what that names. A change applies from the next start on,
// and until then everything that reads the file says what does not apply.
type inUse struct {
	mu    sync.Mutex
	files []*usedFile
}

// usedFile is one of them.
type usedFile struct {
	path   string
	digest string      // of what the terminal has read; "" = it was not there
	seen   fs.FileInfo // at the last look, nil = it was not there
	since  time.Time   // when it was changed; zero = it holds what the terminal has read
}

// filesInUse reads the files of a configuration as the terminal does at its start.
func filesInUse(c *call, cfg config.Config) *inUse {
	path := c.config
	if path == "" {
		path = defaultConfig
	}
	u := &inUse{}
	for _, path := range append([]string{path}, cfg.Reads()...) {
		if slices.ContainsFunc(u.files, func(f *usedFile) bool { return f.path == path }) {
			continue
		}
		f := &usedFile{path: path, digest: contentOf(path)}
		f.seen, _ = os.Stat(path) // nil where it is not there
		u.files = append(u.files, f)
	}
	return u
}

// contentOf is a digest of a file; "" = it is not there.
func contentOf(path string) string {
	data, err := readPlain(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return "unreadable"
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// changed names the files that hold something else now. It reads only what has another time, size or place since the last look.
func (u *inUse) changed() (list []ready.Trouble) {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.files {
		now, err := os.Stat(f.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // it says nothing of what the file holds
		}
		if !sameLook(f.seen, now) {
			f.seen = now
			switch {
			case contentOf(f.path) == f.digest:
				f.since = time.Time{}
			case now == nil:
				f.since = time.Now()
			default:
				f.since = now.ModTime()
			}
		}
		if !f.since.IsZero() {
			list = append(list, ready.Trouble{Cause: ready.ConfigChanged, Where: f.path, Detail: f.since.Local().Format("2006-01-02 15:04:05"), Since: f.since})
		}
	}
	return list
}

// sameLook reports whether a file looks as it did before; nil = it was not there.
func sameLook(was, now fs.FileInfo) bool {
	if was == nil || now == nil {
		return was == nil && now == nil
	}
	return os.SameFile(was, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// sayNotInUse says which of the files the running terminal has not read as they are now.
func sayNotInUse(c *call) {
	pid, running, err := runningPID(c)
	if err != nil || !running {
		return
	}
	live, _ := says(c, pid)
	for _, t := range live.Troubles {
		if t.Cause == ready.ConfigChanged {
			fmt.Fprintf(c.err, "posagent: not in use yet: %s (%s)\n", t.Words, t.Remedy)
		}
	}
}
