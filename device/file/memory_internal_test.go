package file

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestField2_L8WhatLiesInMemory: a journal in memory is gone with the power. The kind: tmpfs, ramfs, and an overlay that writes to one
// of them.
func TestField2_L8WhatLiesInMemory(t *testing.T) {
	require.Equal(t, "tmpfs", volatile(unix.TMPFS_MAGIC))
	require.Equal(t, "ramfs", volatile(unix.RAMFS_MAGIC))
	for _, kind := range []int64{unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC} {
		require.Empty(t, volatile(kind))
	}
	const line = `22 1 0:20 / / rw,relatime - overlay overlayroot rw,lowerdir=/media/root-ro,upperdir=/media/root\040rw/overlay,workdir=/media/w`
	require.Equal(t, "/media/root rw/overlay", upperIn(line, "0:20"))
	require.Empty(t, upperIn(line, "0:21"))
	require.Empty(t, upperIn("22 1 8:1 / / rw - ext4 /dev/sda1 rw", "8:1"))
	if _, err := os.Stat("/proc"); err == nil {
		require.Empty(t, InMemory("/proc"))
	}
	var st unix.Statfs_t
	if unix.Statfs("/dev/shm", &st) == nil && st.Type == unix.TMPFS_MAGIC {
		require.Equal(t, "tmpfs", InMemory("/dev/shm"))
	}
}
