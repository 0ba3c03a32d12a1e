package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// functions stands for /lib/functions.sh of OpenWrt: it writes down what it is asked for.
const functions = `
group_exists() { grep -qs "^$1:" "$IPKG_INSTROOT/etc/group"; }
group_add_next() { group_exists "$1" || echo "$1:x:65536:" >>"$IPKG_INSTROOT/etc/group"; sed -n "s/^$1:x:\([0-9]*\):.*/\1/p" "$IPKG_INSTROOT/etc/group"; }
group_add_user() { sed -i "s/^\($1:.*\)\$/\1$2/" "$IPKG_INSTROOT/etc/group"; }
user_exists() { grep -qs "^$1:" "$IPKG_INSTROOT/etc/passwd"; }
user_add() { echo "$1:x:${2:-65536}:$3:$4:$5:$6" >>"$IPKG_INSTROOT/etc/passwd"; }
`

// openWrt opens the package and runs its scripts with each shell. No OpenWrt and no procd runs here.
func openWrt(t *testing.T, m *made, settled, open string) {
	shells := [][]string{{"sh"}}
	shells = append(shells, []string{need.Tool(t, "busybox"), "sh"})
	root, control := t.TempDir(), t.TempDir()
	for _, args := range [][]string{
		{"-xzf", ipk(t, m.first), "-C", control},
		{"-xzf", filepath.Join(control, "control.tar.gz"), "-C", control},
		{"-xzf", filepath.Join(control, "data.tar.gz"), "-C", root},
	} {
		code, said := ran(t, nil, "tar", args...)
		require.Zero(t, code, said)
	}
	require.Equal(t, "2.0\n", read(t, filepath.Join(control, "debian-binary")))
	require.Equal(t, "/etc/posagent/config.toml\n", read(t, filepath.Join(control, "conffiles")))
	require.Contains(t, read(t, filepath.Join(control, "control")), "Architecture: all\n")
	require.Equal(t, read(t, m.older), read(t, filepath.Join(root, "usr/bin/posagent")))
	require.Contains(t, read(t, filepath.Join(root, "usr/share/doc/posagent/visit.txt")), "/etc/init.d/posagent start")
	require.Equal(t, "/etc/posagent\n/srv/posagent\n", read(t, filepath.Join(root, "lib/upgrade/keep.d/posagent")))
	code, said := ran(t, nil, m.older, "config", "check", "--config", filepath.Join(root, "etc/posagent/config.toml"))
	require.Zero(t, code, said)
	require.NoError(t, os.WriteFile(filepath.Join(root, "lib/functions.sh"), []byte(functions), 0o644))
	state := filepath.Join(root, "srv/posagent")
	require.NoError(t, os.MkdirAll(filepath.Dir(state), 0o755))

	machine := t.TempDir() // a machine that is something else
	require.NoError(t, os.WriteFile(filepath.Join(machine, "uname"), []byte("#!/bin/sh\necho mips\n"), 0o755))
	for _, shell := range shells {
		sh := func(env []string, args ...string) (int, string) {
			return ran(t, env, shell[0], append(append([]string{}, shell[1:]...), args...)...)
		}
		script := func(name string) string { return filepath.Join(control, name) }
		for _, path := range []string{script("preinst"), script("postinst"), script("prerm"), filepath.Join(root, "etc/init.d/posagent"), filepath.Join(root, "etc/profile.d/posagent.sh")} {
			code, said := sh(nil, "-n", path)
			require.Zero(t, code, said)
		}

		code, said := sh(nil, script("preinst"), "install")
		require.Zero(t, code, said)
		if shell[0] == "sh" { // busybox may have an uname of its own
			code, said = sh([]string{"PATH=" + machine + ":" + os.Getenv("PATH")}, script("preinst"), "install")
			require.Equal(t, 1, code, said)
			require.Contains(t, said, "this package is for "+here().name+", and this machine is mips")
		}

		in := []string{"IPKG_INSTROOT=" + root}
		for name, text := range map[string]string{"passwd": "root:x:0:0::/root:/bin/ash\n", "group": "root:x:0:\ndialout:x:20:\n"} {
			require.NoError(t, os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o644))
		}
		for range 2 { // again changes nothing
			code, said = sh(in, script("postinst"), "configure")
			require.Zero(t, code, said)
			require.Equal(t, "root:x:0:0::/root:/bin/ash\nposagent:x:65536:65536:posagent:/srv/posagent:/bin/false\n", read(t, filepath.Join(root, "etc/passwd")))
			require.Regexp(t, `(?m)^dialout:x:20:(posagent)+$`, read(t, filepath.Join(root, "etc/group")))
		}

		require.NoError(t, os.RemoveAll(state))
		code, said = sh(in, script("prerm"), "remove")
		require.Zero(t, code, said)
		replace(t, open, state)
		before := journal(t, state)
		code, said = sh(in, script("prerm"), "remove")
		require.Equal(t, 1, code, said)
		require.Contains(t, said, "money is pending here: 1 sale(s)")
		require.Contains(t, said, "/etc/init.d/posagent start; posagent status")
		require.NotRegexp(t, destroys, regexp.MustCompile(`(?m)^posagent: .*$`).FindAllString(said, -1))
		require.Equal(t, before, journal(t, state))
		for _, upgrade := range [][]string{{"upgrade"}, {"remove", "PKG_UPGRADE=1"}} {
			code, said = sh(append(upgrade[1:], in...), script("prerm"), upgrade[0])
			require.Zero(t, code, said)
		}
		replace(t, settled, state)
		code, said = sh(in, script("prerm"), "remove")
		require.Zero(t, code, said)

		// The init script, with stand-ins for procd.
		init := filepath.Join(t.TempDir(), "init")
		text := strings.ReplaceAll(read(t, filepath.Join(root, "etc/init.d/posagent")), "/usr/bin/posagent config", m.older+" config")
		require.NoError(t, os.WriteFile(init, []byte("logger() { echo \"$@\"; }\nprocd_open_instance() { echo open; }\nprocd_close_instance() { echo close; }\nprocd_set_param() { echo \"$@\"; }\n"+text+"\nstart_service\n"), 0o644))
		code, said = sh(nil, init)
		require.Zero(t, code, said)
		require.Contains(t, said, "open\ncommand /usr/bin/posagent run --no-sandbox --state /srv/posagent\nuser posagent\n")
		require.Contains(t, said, "respawn 3600 10 0\n")
	}
}
