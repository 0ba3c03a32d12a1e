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
			ID: "PA-DSK-001", Title: "the state directory is there, and only its owner can write it", Severity: Critical,
			Means:  "the terminal does not start, or what lies in the directory may be somebody else's",
			How:    "owner and mode of the directory are read; where it is missing, its parent's",
			Remedy: Remedy{Text: "let the user that runs posagent own {state}, mode 0700", Command: "ls -ld {state}"},
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
			ID: "PA-DSK-002", Title: "the file system of the state directory can be written", Severity: Critical, After: []string{"PA-DSK-001"},
			Means:  "nothing can be stored, so no sale is accepted",
			How:    "the kernel is asked for the flags of the file system",
			Remedy: Remedy{Text: "dmesg says why the kernel made it read-only; mount -o remount,rw makes it writable again; the journal is whole", Command: "dmesg | tail"},
			Look: func(_ context.Context, f *Facts) Finding {
				st, err := f.fs()
				switch {
				case err != nil:
					return failed("seen", err.Error())
				case st.Flags&unix.ST_RDONLY != 0, errors.Is(unix.Access(f.existing(), unix.W_OK), unix.EROFS):
					return failed("seen", "mounted read-only")
				}
				return passed()
			},
		},
		{
			ID: "PA-DSK-003", Title: "the file system has space", Severity: Critical, After: []string{"PA-DSK-001", "PA-DSK-002"},
			Means:  "no new sale is accepted; what is open is finished from a reserve",
			How:    "free space is compared with what the journal needs for a sale",
			Remedy: Remedy{Text: "free space on the file system of {state}, but leave what is in {state}", Command: "df -h {state}"},
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
				e := []string{"free_bytes", fmt.Sprint(free)}
				switch {
				case short > 0:
					e = append(e, "seen", fmt.Sprintf("at least %d KiB have to be freed before a sale is accepted", short>>10+1))
					return failed(e...)
				case free < fewSpace:
					e = append(e, "seen", "less than 32 MiB free")
					return warned(e...)
				}
				return passed(e...)
			},
		},
		{
			ID: "PA-DSK-004", Title: "the file system can hold more files", Severity: Critical, After: []string{"PA-DSK-002"},
			Means:  "no file can be made, though there is space",
			How:    "the free inodes are counted",
			Remedy: Remedy{Text: "remove many small files elsewhere on this file system", Command: "df -i {state}"},
			Look: func(_ context.Context, f *Facts) Finding {
				st, err := f.fs()
				if err != nil {
					return failed("seen", err.Error())
				}
				return inodes(uint64(st.Files), uint64(st.Ffree))
			},
		},
		{
			ID: "PA-DSK-005", Title: "the disk stores what is written", Severity: Critical, After: []string{"PA-DSK-003", "PA-DSK-004"},
			Means:  "a disk that fails loses sales; one that is slow makes each sale wait",
			How:    "a file of one block is written beside the journal, synced and removed",
			Remedy: Remedy{Text: "the kernel's messages show errors of the disk; keep {state} as it is and replace a failing medium", Command: "dmesg | tail"},
			Look: func(_ context.Context, f *Facts) Finding {
				if _, err := os.Stat(f.State); errors.Is(err, os.ErrNotExist) {
					return nothing("no state directory yet")
				}
				took, err := syncOnce(filepath.Join(f.State, "doctor.probe"))
				e := []string{"sync_ms", fmt.Sprint(took.Milliseconds())}
				switch {
				case err != nil:
					return failed("seen", err.Error())
				case took >= slowSync:
					e = append(e, "seen", "one sync takes half a second or more")
					return warned(e...)
				}
				return passed(e...)
			},
		},
	}
}

// inodes judges how many files a file system can still hold. One that does not count them can hold any number.
func inodes(all, free uint64) Finding {
	e := []string{"free_inodes", fmt.Sprint(free)}
	switch {
	case all == 0:
		return passed()
	case free == 0:
		e = append(e, "seen", "no inode is free")
		return failed(e...)
	case free < all/100:
		e = append(e, "seen", "less than one inode in a hundred is free")
		return warned(e...)
	}
	return passed(e...)
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

// existing is the state directory, or what is there above it.
func (f *Facts) existing() string {
	dir := f.State
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func (f *Facts) fs() (st unix.Statfs_t, err error) { return st, unix.Statfs(f.existing(), &st) }

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
