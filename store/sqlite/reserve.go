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
// finished.
type reserve struct {
	path string
	size int64 // < 0: none is kept
	free func(dir string) (int64, error)

	mu      sync.Mutex
	present bool
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
	if b.present {
		return nil
	}
	if fi, err := os.Lstat(b.path); err == nil && fi.Mode().IsRegular() && fi.Size() == b.size {
		b.present = true
		return nil
	}
	free, err := b.free(filepath.Dir(b.path))
	if err != nil {
		return fmt.Errorf("%w: reserve: %w", store.ErrIO, err)
	}
	if free < 2*b.size+lowWater {
		return fmt.Errorf("%w: %d bytes free, the reserve needs %d", store.ErrFull, free, 2*b.size+lowWater)
	}
	if err := b.write(); err != nil {
		_ = os.Remove(b.path)
		return fmt.Errorf("%w: reserve: %w", store.ErrFull, err)
	}
	b.present = true
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

// write fills the file with noise: zeros take no space on a file system that compresses.
func (b *reserve) write() error {
	f, err := os.OpenFile(b.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
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
