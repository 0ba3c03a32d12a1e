package framebuffer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// noBlock keeps an open from waiting for the other end of what is no framebuffer.
const noBlock = syscall.O_NONBLOCK

// The questions (linux/fb.h).
const (
	getVariable = 0x4600 // FBIOGET_VSCREENINFO
	getFixed    = 0x4602 // FBIOGET_FSCREENINFO
	setBlank    = 0x4611 // FBIOBLANK
)

// ask asks a device how it lies.
func ask(f *os.File) (Mode, error) {
	var variable [varSize]byte
	var fixed [fixSize]byte
	for _, q := range []struct {
		request uintptr
		reply   unsafe.Pointer
	}{{getVariable, unsafe.Pointer(&variable)}, {getFixed, unsafe.Pointer(&fixed)}} {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), q.request, uintptr(q.reply))
		runtime.KeepAlive(f)
		if errors.Is(errno, unix.ENOTTY) || errors.Is(errno, unix.EINVAL) {
			return Mode{}, errors.New("not a framebuffer: name one, like /dev/fb0")
		}
		if errno != 0 {
			return Mode{}, fmt.Errorf("asked for its size: %w", errno)
		}
	}
	return decode(variable[:], fixed[:], strconv.IntSize/8, binary.NativeEndian)
}

// What FBIOBLANK asks for.
const (
	unblank = 0 // FB_BLANK_UNBLANK
	dark    = 1 // FB_BLANK_NORMAL
)

// blank makes a panel dark or lights it. Many a driver knows no such thing: then the panel is as it is.
func blank(f *os.File, what uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, f.Fd(), setBlank, what)
	runtime.KeepAlive(f)
}
