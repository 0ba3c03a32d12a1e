package file

import (
	"strings"

	"golang.org/x/sys/unix"
)

// InMemory names the file system of dir where it keeps nothing over a power cut: tmpfs, ramfs, or an
// overlay whose upper directory lies in one of them. "" = it lies on a medium, as far as the system
// shows.
func InMemory(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	if name := volatile(int64(st.Type)); name != "" || int64(st.Type) != unix.OVERLAYFS_SUPER_MAGIC {
		return name
	}
	upper := upperOf(dir)
	if upper == "" || unix.Statfs(upper, &st) != nil {
		return ""
	}
	if name := volatile(int64(st.Type)); name != "" {
		return "an overlay over " + name
	}
	return ""
}

// volatile names a kind of file system that lies in memory; "" = any other.
func volatile(kind int64) string {
	switch uint32(kind) {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	}
	return ""
}

// upperOf is the directory that an overlay which holds dir writes to; "" = it is not known.
func upperOf(dir string) (upper string) {
	mounts(dir, func(line, device string) bool {
		upper = upperIn(line, device)
		return upper == ""
	})
	return upper
}

// upperIn is the upper directory in one line of mountinfo.
func upperIn(line, device string) string {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[2] != device {
		return ""
	}
	for option := range strings.SplitSeq(fields[len(fields)-1], ",") {
		if upper, ok := strings.CutPrefix(option, "upperdir="); ok {
			return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(upper)
		}
	}
	return ""
}
