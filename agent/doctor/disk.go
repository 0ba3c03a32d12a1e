package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	leastSpace = 1 << 20 // bytes without which the terminal accepts no sale, unless the journal knows better
	fewSpace   = 32 << 20
	slowSync   = 500 * time.Millisecond
)

// diskChecks are about the state directory and its file system.
func diskChecks() []Check {
	return []Check{
		{
			ID: "PA-DSK-001", Severity: Critical, Command: "ls -ld {state}",
			Look: func(_ context.Context, f *Facts) Finding {
				if _, err := os.Stat(f.State); errors.Is(err, os.ErrNotExist) {
					return missingDir(f.State)
				} else if err != nil {
					return failed("seen", err.Error())
				}
				if err := f.Dir(); err != nil {
					return failed("seen", err.Error())
				}
				if err := unix.Access(f.State, unix.R_OK|unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.EROFS) {
					return failed("seen", fmt.Sprintf("this user may not write %s: %v", f.State, err))
				}
				return passed()
			},
		},
		{
			ID: "PA-DSK-002", Severity: Critical, After: []string{"PA-DSK-001"}, Command: "dmesg | tail",
			Look: func(_ context.Context, f *Facts) Finding {
				bad, err := ReadOnly(existing(f.State))
				if err != nil {
					return failed("seen", err.Error())
				}
				return failedIf(bad, "mounted read-only")
			},
		},
		{
			ID: "PA-DSK-003", Severity: Critical, After: []string{"PA-DSK-001", "PA-DSK-002"}, Command: "df -h {state}",
			Look: func(ctx context.Context, f *Facts) Finding {
				st, err := f.fs()
				if err != nil {
					return failed("seen", err.Error())
				}
				free := int64(st.Bavail) * int64(st.Bsize)
				short := max(0, leastSpace-free)
				switch j := f.Journal(ctx); j.State {
				case FullDisk:
					return failed("seen", "no space for the journal", "free_bytes", fmt.Sprint(free))
				case Readable:
					short = j.ShortBytes
				}
				m := measured{"free_bytes", fmt.Sprint(free)}
				switch {
				case short > 0:
					return m.failed(fmt.Sprintf("at least %d KiB have to be freed before a sale is accepted", short>>10+1))
				case free < fewSpace:
					return m.warned("less than 32 MiB free")
				}
				return m.passed()
			},
		},
		{
			ID: "PA-DSK-004", Severity: Critical, After: []string{"PA-DSK-002"}, Command: "df -i {state}",
			Look: func(_ context.Context, f *Facts) Finding {
				st, err := f.fs()
				if err != nil {
					return failed("seen", err.Error())
				}
				return inodes(uint64(st.Files), uint64(st.Ffree))
			},
		},
		{
			ID: "PA-DSK-005", Severity: Critical, After: []string{"PA-DSK-003", "PA-DSK-004"}, Command: "dmesg | tail",
			Look: func(_ context.Context, f *Facts) Finding {
				if _, err := os.Stat(f.State); errors.Is(err, os.ErrNotExist) {
					return nothing("no state directory yet")
				}
				took, err := syncOnce(filepath.Join(f.State, "doctor.probe"))
				m := measured{"sync_ms", fmt.Sprint(took.Milliseconds())}
				switch {
				case err != nil:
					return failed("seen", err.Error())
				case took >= slowSync:
					return m.warned("one sync takes half a second or more")
				}
				return m.passed()
			},
		},
	}
}

// inodes judges how many files a file system can still hold. One that does not count them can hold any number.
func inodes(all, free uint64) Finding {
	m := measured{"free_inodes", fmt.Sprint(free)}
	switch {
	case all == 0:
		return passed()
	case free == 0:
		return m.failed("no inode is free")
	case free < all/100:
		return m.warned("less than one inode in a hundred is free")
	}
	return m.passed()
}

// missingDir judges a state directory that the first start has to make.
func missingDir(dir string) Finding {
	parent := filepath.Dir(dir)
	for {
		if _, err := os.Stat(parent); err == nil || parent == filepath.Dir(parent) {
			break
		}
		parent = filepath.Dir(parent)
	}
	if err := unix.Access(parent, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.EROFS) {
		return failed("seen", fmt.Sprintf("%s is not there, and this user may not make it in %s: %v", dir, parent, err))
	}
	return passed("seen", "not there yet: the first start makes it")
}

// ReadOnly says that the file system of a directory takes no writes.
func ReadOnly(dir string) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false, err
	}
	return st.Flags&unix.ST_RDONLY != 0 || errors.Is(unix.Access(dir, unix.W_OK), unix.EROFS), nil
}

// existing is a directory, or what is there above it.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func (f *Facts) fs() (st unix.Statfs_t, err error) { return st, unix.Statfs(existing(f.State), &st) }

// syncOnce writes one block, and returns how long its sync took.
func syncOnce(path string) (took time.Duration, err error) {
	if err := removed(path); err != nil { // one that an examination which was ended has left
		return 0, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = file.Write(make([]byte, 4096))
	began := time.Now()
	if err == nil {
		err = file.Sync()
	}
	took = time.Since(began)
	return took, errors.Join(err, file.Close(), removed(path))
}
