package main

import (
	"cmp"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// units are what starts a packaged terminal, on which state directory, and the command for each.
var units = []struct{ file, state, command string }{
	{"etc/systemd/system/posagent.service", defaultState, "systemctl start posagent"},
	{"usr/lib/systemd/system/posagent.service", defaultState, "systemctl start posagent"},
	{"lib/systemd/system/posagent.service", defaultState, "systemctl start posagent"},
	{"etc/init.d/posagent", "/srv/posagent", "/etc/init.d/posagent start"},
}

// systemRoot is where the system's files begin; tests have one of their own.
var systemRoot = "/"

// start is the command that starts this terminal: the init system's, where a package has put one there and the terminal is the
// package's own.
func (c *call) start() string {
	return cmp.Or(c.packaged(), "posagent run"+c.flags())
}

// packaged is the command of the init system that starts this terminal, "" = no package has put one there.
func (c *call) packaged() string {
	for _, u := range units {
		if _, err := os.Stat(filepath.Join(systemRoot, u.file)); err == nil && c.stateDir() == u.state && (c.config == "" || c.config == defaultConfig) {
			return u.command
		}
	}
	return ""
}

// notForeign keeps root from running a terminal in the directory of another account: what it makes there could not be opened by that
// account any more.
func notForeign(c *call) error {
	var st unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(c.stateDir(), &st) != nil || st.Uid == 0 {
		return nil
	}
	name := accountName(int(st.Uid))
	how := cmp.Or(c.packaged(), "su -s /bin/sh "+name+" -c 'posagent run"+c.flags()+"'")
	return fail(exitRefused, "%s belongs to the account %s, and root would leave files there that it cannot open (%s)", c.stateDir(), name, how)
}
