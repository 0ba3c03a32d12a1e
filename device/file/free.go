package file

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Free is how many bytes the file system of a directory has left for this user.
func Free(dir string) (int64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(dir, &st)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		return int64(st.Bavail) * int64(st.Bsize), nil // of another width on each machine
	}
}
