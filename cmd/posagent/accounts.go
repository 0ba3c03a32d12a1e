package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forbidden says that this account may not read the state directory of another one.
func forbidden(c *call) bool {
	_, _, err := runningPID(c)
	return errors.Is(err, os.ErrPermission)
}

// accountName is the name of an account of this box, or its number where it has none.
func accountName(uid int) string { return nameIn("/etc/passwd", uid) }

// nameIn is the name behind a number in a file like /etc/passwd or /etc/group, or the number.
func nameIn(file string, id int) string {
	text, _ := os.ReadFile(file) // without it the number says it
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) > 2 && f[2] == strconv.Itoa(id) {
			return f[0]
		}
	}
	return strconv.Itoa(id)
}

// grant is what lets this account open a device that it may not open, "" where the device cannot be looked at.
func grant(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	return grantOf(path, st.Mode, nameIn("/etc/group", int(st.Gid)), accountName(os.Geteuid()))
}

func grantOf(path string, mode uint32, group, user string) string {
	join := fmt.Sprintf("usermod -aG %s %s, then start posagent again", group, user)
	switch {
	case group == "root":
		return fmt.Sprintf(`a udev rule with GROUP="dialout", MODE="0660" gives %s a group; usermod -aG dialout %s, then start posagent again`, path, user)
	case mode&0o060 != 0o060:
		return fmt.Sprintf(`chmod g+rw %s until the next start, a udev rule with MODE="0660" keeps it; %s`, path, join)
	}
	return join
}
