package exam

import (
	"fmt"
	"os"
	"path/filepath"
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
