package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestField2_P4OneDeviceHasOneUser: every pair of the keys that have a device for themselves, each line of a list among them, names one device under two of
// its names: refused, naming both, and Naming tells the users of each name. Two devices are no pair.
func TestField2_P4OneDeviceHasOneUser(t *testing.T) {
	device := func() string {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = master.Close() })
		n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
		require.NoError(t, err)
		return filepath.Join("/dev/pts", strconv.Itoa(n))
	}
	one, other := device(), device()
	link := filepath.Join(t.TempDir(), "by-id.png")
	require.NoError(t, os.Symlink(one, link))
	users := map[string]string{
		"ecr.serial": "", "ecr[2].serial": "", "printer.device": "printer.device = %q\nprinter.kind = \"serial\"\n", "keypad.device": "keypad.device = %q\n",
		"display.framebuffer": "display.framebuffer = %q\n", "display.file": "display.file = %q\n", "store.mark": "store.mark = %q\n",
		"backend.data": "backend.data = %q\n",
	}
	file := func(a, nameA, b, nameB string) []byte {
		lines := map[string]string{"ecr.serial": other + "-1", "ecr[2].serial": other + "-2"}
		text := ""
		for key, name := range map[string]string{a: nameA, b: nameB} {
			if lines[key] != "" {
				lines[key] = name
			} else {
				text += fmt.Sprintf(users[key], name)
			}
		}
		list := ""
		for i, key := range []string{"ecr.serial", "ecr[2].serial"} {
			list += fmt.Sprintf("[[ecr]]\nserial = %q\nname = \"l%d\"\n", lines[key], i)
		}
		return []byte(text + list)
	}
	for a := range users {
		for b := range users {
			if a >= b {
				continue
			}
			c, err := parse("c.toml", file(a, one, b, link), true, nil)
			err = errors.Join(err, c.Twice())
			require.ErrorContains(t, err, "name another", "%s and %s", a, b)
			require.Contains(t, err.Error(), a, "%s and %s", a, b)
			require.Contains(t, err.Error(), b, "%s and %s", a, b)
			require.ElementsMatch(t, []string{a, b}, c.Naming(link))
			c, err = parse("c.toml", file(a, other, b, link), true, nil)
			if err = errors.Join(err, c.Twice()); err != nil {
				require.NotContains(t, err.Error(), "name another", "%s and %s", a, b)
			}
			require.Equal(t, []string{b}, c.Naming(one))
		}
	}
}
