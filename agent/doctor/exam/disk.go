package exam

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Inodes judges how many files a file system can still hold. One that does not count them can hold any number.
func Inodes(all, free uint64) Finding {
	m := Measured{"free_inodes", fmt.Sprint(free)}
	switch {
	case all == 0:
		return Passed()
	case free == 0:
		return m.Failed("no inode is free")
	case free < all/100:
		return m.Warned("less than one inode in a hundred is free")
	}
	return m.Passed()
}

// ReadOnly says that the file system of a directory takes no writes.
func ReadOnly(dir string) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false, err
	}
	return st.Flags&unix.ST_RDONLY != 0 || errors.Is(unix.Access(dir, unix.W_OK), unix.EROFS), nil
}

// Existing is a directory, or what is there above it.
func Existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
