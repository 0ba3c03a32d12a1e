package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"posagent/agent/doctor/exam"
	"posagent/device/file"
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
			ID: "PA-DSK-001", Severity: exam.Critical, Command: "ls -ld {state}",
			Look: func(_ context.Context, f *Facts) Finding {
				if _, err := os.Stat(f.State); errors.Is(err, os.ErrNotExist) {
					return missingDir(f.State)
				} else if err != nil {
					return exam.Failed("seen", err.Error())
				}
				if err := f.Dir(); err != nil {
					return exam.Failed("seen", err.Error())
				}
				if err := unix.Access(f.State, unix.R_OK|unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.EROFS) {
					return exam.Failed("seen", fmt.Sprintf("this user may not write %s: %v", f.State, err))
				}
				return exam.Passed()
			},
		},
		{
			ID: "PA-DSK-002", Severity: exam.Critical, After: []string{"PA-DSK-001"}, Command: "dmesg | tail",
			Look: func(_ context.Context, f *Facts) Finding {
				bad, err := file.ReadOnly(exam.Existing(f.State))
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				return exam.FailedIf(bad, "mounted read-only")
			},
		},
		{
			ID: "PA-DSK-003", Severity: exam.Critical, After: []string{"PA-DSK-001", "PA-DSK-002"}, Command: "df -h {state}",
			Look: func(ctx context.Context, f *Facts) Finding {
				st, err := f.fs()
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				free := int64(st.Bavail) * int64(st.Bsize)
				short := max(0, leastSpace-free)
				switch j := f.Journal(ctx); j.State {
				case FullDisk:
					return exam.Failed("seen", "no space for the journal", "free_bytes", fmt.Sprint(free))
				case Readable:
					short = j.ShortBytes
				}
				m := exam.Measured{"free_bytes", fmt.Sprint(free)}
				switch {
				case short > 0:
					return m.Failed(fmt.Sprintf("at least %d KiB have to be freed before a sale is accepted", short>>10+1))
				case free < fewSpace:
					return m.Warned("less than 32 MiB free")
				}
				return m.Passed()
			},
		},
		{
			ID: "PA-DSK-004", Severity: exam.Critical, After: []string{"PA-DSK-002"}, Command: "df -i {state}",
			Look: func(_ context.Context, f *Facts) Finding {
				st, err := f.fs()
				if err != nil {
					return exam.Failed("seen", err.Error())
				}
				return exam.Inodes(uint64(st.Files), uint64(st.Ffree))
			},
		},
		{
			ID: "PA-DSK-005", Severity: exam.Critical, After: []string{"PA-DSK-003", "PA-DSK-004"}, Command: "dmesg | tail",
			Look: func(_ context.Context, f *Facts) Finding {
				if _, err := os.Stat(f.State); errors.Is(err, os.ErrNotExist) {
					return exam.Nothing("no state directory yet")
				}
				took, err := syncOnce(filepath.Join(f.State, "doctor.probe"))
				m := exam.Measured{"sync_ms", fmt.Sprint(took.Milliseconds())}
				switch {
				case err != nil:
					return exam.Failed("seen", err.Error())
				case took >= slowSync:
					return m.Warned("one sync takes half a second or more")
				}
				return m.Passed()
			},
		},
		{
			ID: "PA-DSK-006", Severity: exam.Critical, After: []string{"PA-DSK-001"}, Command: "findmnt -T {state}",
			Look: func(_ context.Context, f *Facts) Finding {
				if f.Config.Sandbox {
					return exam.Nothing("a sandbox keeps no real money")
				}
				in := f.InMemory(exam.Existing(f.State))
				if in == "" {
					return exam.Passed()
				}
				said := fmt.Sprintf("%s lies in memory (%s): a power cut forgets every sale", f.State, in)
				if f.sameDevice(os.TempDir()) { // a trial; nobody looks for a journal there
					return exam.Warned("seen", said)
				}
				return exam.Failed("seen", said)
			},
		},
	}
}

// sameDevice reports whether a directory lies on the file system of the state directory.
func (f *Facts) sameDevice(dir string) bool {
	var a, b unix.Stat_t
	return unix.Stat(dir, &a) == nil && unix.Stat(exam.Existing(f.State), &b) == nil && a.Dev == b.Dev
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
		return exam.Failed("seen", fmt.Sprintf("%s is not there, and this user may not make it in %s: %v", dir, parent, err))
	}
	return exam.Passed("seen", "not there yet: the first start makes it")
}

func (f *Facts) fs() (st unix.Statfs_t, err error) {
	err = unix.Statfs(exam.Existing(f.State), &st)
	return st, err
}

// syncOnce writes one block, and returns how long its sync took.
func syncOnce(path string) (took time.Duration, err error) {
	if err := removed(path); err != nil { // one that an examination which was ended has left
		return 0, err
	}
	probe, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = probe.Write(make([]byte, 4096))
	began := time.Now()
	if err == nil {
		err = probe.Sync()
	}
	took = time.Since(began)
	return took, errors.Join(err, probe.Close(), removed(path))
}

// removed deletes a file that may not be there.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
