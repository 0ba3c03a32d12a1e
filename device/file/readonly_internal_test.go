package file

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestField2_D3AMountThatGaveUpWritingIsReadOnly: since Linux 6.15 ext4 stops writing after an error while the mount still counts as
// writable. Its options tell, and those of no other mount.
func TestField2_D3AMountThatGaveUpWritingIsReadOnly(t *testing.T) {
	for line, want := range map[string]bool{
		"36 35 7:0 / /mnt rw,relatime shared:1 - ext4 /dev/loop0 rw,errors=remount-ro,emergency_ro": true,
		"36 35 7:0 / /mnt rw,relatime - ext4 /dev/loop0 rw,emergency_ro,errors=remount-ro":          true,
		"36 35 7:0 / /mnt rw,relatime - ext4 /dev/loop0 rw,errors=remount-ro":                       false,
		"36 35 7:1 / /mnt rw,relatime - ext4 /dev/loop1 rw,emergency_ro":                            false, // another's
		"": false,
	} {
		require.Equal(t, want, emergencyIn(line, "7:0"), line)
	}
	readOnly, err := ReadOnly(t.TempDir())
	require.NoError(t, err)
	require.False(t, readOnly)
	_, err = ReadOnly("/no/such/directory")
	require.ErrorIs(t, err, unix.ENOENT)
}
