package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"posagent/store"
)

// reserve is a file that takes up space until the disk is full. Removing it lets what was begun be
// finished. A second one is for a start: a process that ends on a full disk has used up the first,
// and the next one must finish what is owed all the same.
type reserve struct {
	path string
	size int64 // < 0: none is kept
	free func(dir string) (int64, error)

	mu      sync.Mutex
	present bool
	next    bool // the one for the next start
}

// forStart is the reserve for a start.
func (b *reserve) forStart() string { return b.path + ".start" }

// begin gives a start the space that it needs where the disk has none: what was reserved for the run
// before, else what was reserved for a start. It reports whether it gave any.
func (b *reserve) begin() bool {
	if b.size < 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.present, b.next = b.whole(b.path), b.whole(b.forStart())
	free, err := b.free(filepath.Dir(b.path))
	if err != nil || free >= lowWater {
		return false
	}
	switch {
	case b.present && os.Remove(b.path) == nil:
		b.present = false
	case b.next && os.Remove(b.forStart()) == nil:
		b.next = false
	default:
		return false
	}
	return true
}

func (b *reserve) whole(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Size() == b.size
}

// keepNext makes the reserve for the next start where there is room for it beside the other one. New
// work does not wait for it. The caller holds the mutex.
func (b *reserve) keepNext() {
	if b.next {
		return
	}
	if free, err := b.free(filepath.Dir(b.path)); err != nil || free < lowWater+2*b.size {
		return
	}
	if b.next = b.write(b.forStart()) == nil; !b.next {
		_ = os.Remove(b.forStart())
	}
}

// lowWater is the free space at which the reserve is released before a write has to fail for it.
const lowWater = 128 << 10

func (b *reserve) held() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size < 0 || b.present
}

// ensure makes the reserve when there is room for it and for the work it is kept for.
func (b *reserve) ensure() error {
	if b.size < 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.present = b.present || b.whole(b.path); b.present {
		b.keepNext()
		return nil
	}
	free, err := b.free(filepath.Dir(b.path))
	if err != nil {
		return fmt.Errorf("%w: reserve: %w", store.ErrIO, err)
	}
	if free < 2*b.size+lowWater {
		return fmt.Errorf("%w: %d bytes free, the reserve needs %d", store.ErrFull, free, 2*b.size+lowWater)
	}
	if err := b.write(b.path); err != nil {
		_ = os.Remove(b.path)
		return fmt.Errorf("%w: reserve: %w", store.ErrFull, err)
	}
	b.present = true
	b.keepNext()
	return nil
}

// short is how much more than free bytes the reserve needs, in place or to be made.
func (b *reserve) short(free int64, held bool) int64 {
	need := int64(lowWater)
	if !held {
		need += 2 * b.size
	}
	if b.size < 0 {
		return 0
	}
	return max(0, need-free)
}

// write fills a file with noise: zeros take no space on a file system that compresses.
func (b *reserve) write(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	noise := rand.NewChaCha8([32]byte{})
	buf := make([]byte, 32<<10)
	for left := b.size; left > 0; {
		n := min(left, int64(len(buf)))
		_, _ = noise.Read(buf[:n])
		if _, err := f.Write(buf[:n]); err != nil {
			return errors.Join(err, f.Close())
		}
		left -= n
	}
	return errors.Join(f.Sync(), f.Close())
}

// release gives the space back and reports whether there was any to give.
func (b *reserve) release() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.present {
		return false
	}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	b.present = false
	return true
}

// releaseIfLow releases the reserve ahead of a write that would hardly fit.
func (b *reserve) releaseIfLow() {
	if b.size < 0 {
		return
	}
	b.mu.Lock()
	low := false
	if b.present {
		free, err := b.free(filepath.Dir(b.path))
		low = err == nil && free < lowWater
	}
	b.mu.Unlock()
	if low {
		b.release()
	}
}
