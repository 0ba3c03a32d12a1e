package keypad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/device/keypad/entry"
)

// The requests of linux/uinput.h.
const (
	uiDevCreate  = 'U'<<8 | 1
	uiDevDestroy = 'U'<<8 | 2
	uiDevSetup   = 1<<30 | 92<<16 | 'U'<<8 | 3
	uiSetEvBit   = 1<<30 | 4<<16 | 'U'<<8 | 100
	uiSetKeyBit  = 1<<30 | 4<<16 | 'U'<<8 | 101
	uiSetRelBit  = 1<<30 | 4<<16 | 'U'<<8 | 102
	uiGetSysname = 2<<30 | 64<<16 | 'U'<<8 | 44
)

// TestMain is also process 1 of an emulated board, `make keypad`: few machines have the device that makes input devices.
func TestMain(m *testing.M) {
	if os.Getpid() != 1 || os.Getenv("BOARD") != "1" {
		os.Exit(m.Run())
	}
	code := 1
	if err := board(); err != nil {
		fmt.Println("board:", err)
	} else {
		code = m.Run()
	}
	fmt.Printf("board: end %d\n", code)
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// board makes a bare kernel a place for tests.
func board() error {
	err := errors.Join(unix.Mount("proc", "/proc", "proc", 0, ""), os.MkdirAll("/sys", 0o755), unix.Mount("sysfs", "/sys", "sysfs", 0, ""), unix.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
	if e := unix.Mount("devtmpfs", "/dev", "devtmpfs", 0, ""); e != nil && !errors.Is(e, unix.EBUSY) {
		err = errors.Join(err, e)
	}
	modules, _ := filepath.Glob("/*.ko")
	for _, path := range modules {
		f, e := os.Open(path)
		if e == nil {
			e = unix.FinitModule(int(f.Fd()), "", 0)
			_ = f.Close()
		}
		if e != nil && !errors.Is(e, unix.EEXIST) {
			err = errors.Join(err, fmt.Errorf("%s: %w", path, e))
		}
	}
	if e := os.Setenv("UINPUT", "1"); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// made is an input device of the kernel's, made by a program.
type made struct {
	t    *testing.T
	f    *os.File
	path string
}

// makeDevice makes an input device; nil where this kernel cannot, unless UINPUT=1 says that it can.
func makeDevice(t *testing.T, name string, keys Map, mouse bool) *made {
	t.Helper()
	f, err := os.OpenFile("/dev/uinput", os.O_WRONLY, 0)
	if err != nil {
		if os.Getenv("UINPUT") == "1" {
			require.NoError(t, err)
		}
		t.Logf("not run: %v (make keypad boots a kernel that has it)", err)
		return nil
	}
	m := &made{t: t, f: f}
	set := func(request uint, value int) { require.NoError(t, unix.IoctlSetInt(int(f.Fd()), request, value)) }
	set(uiSetEvBit, evKey)
	set(uiSetEvBit, 0x14) // EV_REP
	for code := range keys {
		set(uiSetKeyBit, int(code))
	}
	if mouse {
		set(uiSetKeyBit, 0x110) // BTN_LEFT
		set(uiSetEvBit, 2)      // EV_REL
		set(uiSetRelBit, 0)
		set(uiSetRelBit, 1)
	}
	var setup [92]byte // bus, vendor, product, version, name, effects
	setup[0], setup[2], setup[4] = 3, 0x0b, 0x0c
	copy(setup[8:87], name)
	m.ioctl(uiDevSetup, unsafe.Pointer(&setup))
	m.ioctl(uiDevCreate, nil)
	var sysname [64]byte
	m.ioctl(uiGetSysname, unsafe.Pointer(&sysname))
	var found []string
	require.Eventually(t, func() bool {
		found, _ = filepath.Glob("/sys/class/input/" + unix.ByteSliceToString(sysname[:]) + "/event*")
		if len(found) == 1 {
			m.path = "/dev/input/" + filepath.Base(found[0])
			_, err = os.Stat(m.path)
		}
		return len(found) == 1 && err == nil
	}, patience, 10*time.Millisecond, "%v", found)
	return m
}

func (m *made) ioctl(request uintptr, to unsafe.Pointer) {
	m.t.Helper()
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, m.f.Fd(), request, uintptr(to))
	require.Zero(m.t, errno)
}

func (m *made) send(code uint16, values ...int32) {
	m.t.Helper()
	for _, v := range values {
		_, err := m.f.Write(raw(event{kind: 1, code: code, value: v}, event{}))
		require.NoError(m.t, err)
	}
}

func (m *made) pull() { require.NoError(m.t, m.f.Close()) }

// TestARealKernel has a kernel's input devices pressed, taken, pulled and made to run over.
func TestARealKernel(t *testing.T) {
	dev := makeDevice(t, "Pad of \x07a test", usual(), false)
	if dev == nil {
		return
	}
	link := filepath.Join(t.TempDir(), "by-id")
	require.NoError(t, os.Symlink(dev.path, link))
	p, err := New(Config{Path: link, Bounce: time.Microsecond}) // a program presses faster than a person
	require.NoError(t, err)
	hold := make(chan chan struct{}, 1) // what a read waits for before it looks
	p.open = func(path string) (device, error) {
		d, err := openEvdev(path)
		if err != nil {
			return nil, err
		}
		return slow{d, hold}, nil
	}
	keys, reports, ended := make(chan entry.Key, 100), make(chan Status, 100), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- p.Run(ctx, func(k entry.Key) { keys <- k }, func(s Status) { reports <- s }) }()
	s := arrives(t, reports, "a report")
	require.True(t, s.Open, s.LastError)
	require.Equal(t, "Pad of a test", s.Name)
	require.Empty(t, s.Lacks)

	console, err := openFile(dev.path) // as the kernel's own keyboard driver would see it
	require.NoError(t, err)
	defer console.Close()
	dev.send(key5, 1, 0)
	dev.send(enter, 1, 0)
	require.Equal(t, entry.Digit(5), arrives(t, keys, "5"))
	require.Equal(t, entry.Confirm, arrives(t, keys, "confirm"))
	require.NoError(t, console.control(func(fd int) error {
		n, err := unix.Read(fd, make([]byte, 1024))
		require.ErrorIs(t, err, unix.EAGAIN, "%d bytes reached another reader", n)
		return nil
	}))

	name, err := Config{Path: link}.Look() // while it is read
	require.NoError(t, err)
	require.Equal(t, "Pad of a test", name)
	second, err := openEvdev(link)
	require.NoError(t, err)
	require.ErrorIs(t, second.Own(), ErrInUse)
	require.NoError(t, second.Close())

	dev.send(backspace, 1) // and held: the kernel repeats it by itself
	for range 3 {
		require.Equal(t, entry.Correct, arrives(t, keys, "a repeated correct"))
	}
	dev.send(backspace, 0)
	dev.send(key0, 1, 0)
	for k := entry.Correct; k != entry.Digit(0); k = arrives(t, keys, "0") {
		require.Equal(t, entry.Correct, k)
	}

	held := make(chan struct{})
	hold <- held
	dev.send(key5, 1, 0) // wakes the reader, which may or may not take it along
	require.Eventually(t, func() bool { return len(hold) == 0 }, patience, time.Millisecond)
	dev.send(enter, 1) // and stays down
	for range 1000 {
		dev.send(key0, 1, 0)
	}
	close(held)
	k := arrives(t, keys, "the gap of a queue that ran over")
	if k == entry.Digit(5) {
		k = arrives(t, keys, "the gap of a queue that ran over")
	}
	require.Equal(t, entry.Gap, k)
	dev.send(enter, 0)
	dev.send(key5, 1, 0)
	require.Equal(t, entry.Digit(5), arrives(t, keys, "5"))
	require.NotZero(t, p.Status().Overflows)
	require.Eventually(t, func() bool { return p.Status().Held.IsZero() }, patience, time.Millisecond, "nothing is down")

	dev.pull()
	for s = arrives(t, reports, "a report"); s.Open; s = arrives(t, reports, "a report") { // of the gap
		require.NotZero(t, s.Overflows)
	}
	require.Equal(t, entry.Gap, arrives(t, keys, "the gap of a pulled pad"))
	mouse := makeDevice(t, "Mouse", nil, true)
	require.NoError(t, errors.Join(os.Remove(link), os.Symlink(mouse.path, link)))
	_, err = Config{Path: link}.Look()
	require.ErrorIs(t, err, ErrNoKeys)
	again := makeDevice(t, "Pad", usual(), false)
	require.NoError(t, errors.Join(os.Remove(link), os.Symlink(again.path, link)))
	for s = arrives(t, reports, "a report"); !s.Open; s = arrives(t, reports, "a report") {
		require.Error(t, s.Reason)
	}
	again.send(key0, 1, 0)
	require.Equal(t, entry.Digit(0), arrives(t, keys, "0"))
	cancel()
	require.NoError(t, arrives(t, ended, "the end"))
	require.Empty(t, keys)
	t.Logf("events of %d bytes", native)
}

// slow is a device whose reader can be held up.
type slow struct {
	device
	hold chan chan struct{}
}

func (s slow) Read(p []byte) (int, error) {
	select {
	case held := <-s.hold:
		<-held
	default:
	}
	return s.device.Read(p)
}
