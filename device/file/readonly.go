package file

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadOnly says that the file system of a directory takes no writes: it is mounted so, or the kernel has made it so after an error of
// the medium.
func ReadOnly(dir string) (bool, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return false, err
	}
	return st.Flags&unix.ST_RDONLY != 0 || errors.Is(unix.Access(dir, unix.W_OK), unix.EROFS) || emergency(dir), nil
}

// emergency says that ext4 has given up writing after an error. Since Linux 6.15 such a mount still counts as writable; its options alone
// tell.
func emergency(dir string) (yes bool) {
	mounts(dir, func(line, device string) bool {
		yes = emergencyIn(line, device)
		return !yes
	})
	return yes
}

// mounts calls look with each line of mountinfo (proc_pid_mountinfo(5)) and the device of dir as it is written there, until look returns
// false. It calls nothing where the system does not tell.
func mounts(dir string, look func(line, device string) bool) {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return
	}
	list, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return
	}
	defer list.Close()
	device := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	for lines := bufio.NewScanner(list); lines.Scan() && look(lines.Text(), device); {
	}
}

// emergencyIn judges one line of mountinfo: "36 35 98:0 / /mnt rw,noatime - ext4 /dev/root rw,errors=continue".
func emergencyIn(line, device string) bool {
	fields := strings.Fields(line)
	return len(fields) > 3 && fields[2] == device && strings.Contains(","+fields[len(fields)-1]+",", ",emergency_ro,")
}
