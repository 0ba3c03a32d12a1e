package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestField2_P4ADeviceIsItsNumber: a device is told by its number, whatever file of it is named: a link, a second file that mknod has
// made, /dev/console, the converter that it hangs on. The kind of name: path, link, link to a directory, second node, console, converter with and without its
// serial number, file, second name of a file; there and not there.
func TestField2_P4ADeviceIsItsNumber(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Link(file, filepath.Join(dir, "hard")))
	require.NoError(t, os.Symlink(file, filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "way")))
	require.NoError(t, os.Symlink("/dev/null", filepath.Join(dir, "null")))
	for _, two := range [][2]string{
		{file, file}, {file, filepath.Join(dir, "hard")}, {file, filepath.Join(dir, "link")}, {file, filepath.Join(dir, "way", "link")},
		{"/dev/null", filepath.Join(dir, "null")}, {filepath.Join(dir, "none"), filepath.Join(dir, "way", "none")}, {"usb:0403:600a", "usb:0403:600A"},
	} {
		require.True(t, Same(two[0], two[1]), two)
		require.True(t, Same(two[1], two[0]), two)
	}
	for _, two := range [][2]string{{file, other}, {"/dev/null", "/dev/zero"}, {file, filepath.Join(dir, "none")}, {"usb:0403:6001", "usb:067b:2303"}, {"usb:0403:6001", file}} {
		require.False(t, Same(two[0], two[1]), two)
	}

	b := bus{t, t.TempDir()}
	b.plug("ttyUSB0", "1-1", "0403", "6001", "AB0KHJ7A")
	b.plug("ttyUSB1", "1-2", "067b", "2303", "")
	require.True(t, same(b.dir, "usb:0403:6001", "usb:0403:6001:AB0KHJ7A"))
	require.False(t, same(b.dir, "usb:0403:6001", "usb:067b:2303"))

	tty := unix.Stat_t{Mode: unix.S_IFCHR | 0o600, Rdev: unix.Mkdev(4, 64), Dev: 5, Ino: 7}
	again := unix.Stat_t{Mode: unix.S_IFCHR | 0o600, Rdev: unix.Mkdev(4, 64), Dev: 9, Ino: 8}
	require.Equal(t, of(b.dir, tty), of(b.dir, again), "made by mknod elsewhere")
	again.Rdev = unix.Mkdev(4, 65)
	require.NotEqual(t, of(b.dir, tty), of(b.dir, again))
	again.Mode, again.Rdev = unix.S_IFBLK|0o600, tty.Rdev
	require.NotEqual(t, of(b.dir, tty), of(b.dir, again), "a disk has numbers of its own")

	put := func(name, text string) {
		at := filepath.Join(b.dir, "class/tty", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte(text+"\n"), 0o600))
	}
	board := unix.Stat_t{Mode: unix.S_IFCHR | 0o600, Rdev: console}
	require.Equal(t, id{unix.S_IFCHR, console, 0}, of(b.dir, board), "what it is cannot be read")
	put("console/active", "tty0 ttyS0")
	put("ttyS0/dev", "4:64")
	require.Equal(t, of(b.dir, tty), of(b.dir, board))
	put("console/active", "ttyS0 tty0")
	put("tty0/active", "tty1")
	put("tty1/dev", "4:1")
	require.Equal(t, id{unix.S_IFCHR, unix.Mkdev(4, 1), 0}, of(b.dir, board))
}

// writing lets this binary be a program that writes to a line.
const writing = "WRITES_TO"

// TestMineIsWhatThisProgramHas is also the program that it starts.
func TestMineIsWhatThisProgramHas(t *testing.T) {
	if path := os.Getenv(writing); path != "" {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY, 0)
		require.NoError(t, err)
		if !Mine(fd) {
			os.Exit(3)
		}
		os.Exit(4)
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	path := filepath.Join("/dev/pts", strconv.Itoa(n))
	slave, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer slave.Close()
	again, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer again.Close()
	require.False(t, Mine(int(again.Fd())), "the same file: its lock tells")
	for _, c := range []struct {
		out  *os.File
		code int
	}{{nil, 3}, {slave, 4}} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestMineIsWhatThisProgramHas$")
		cmd.Env = append(os.Environ(), writing+"="+path)
		if c.out != nil {
			cmd.Stdout = c.out
		}
		_ = cmd.Run() // its code tells
		require.Equal(t, c.code, cmd.ProcessState.ExitCode())
	}
}
