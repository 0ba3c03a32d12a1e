package keypad

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// layout is how large an event is in bytes. The kernel gives a process of 32 bits the small one, on a kernel of 64 bits too and
// wherever time_t has 64 bits: two unsigned longs of time, type, code, value (linux/input.h, input_event).
type layout int

const (
	layout32 layout = 16
	layout64 layout = 24
	// native is this process's.
	native = layout(unsafe.Sizeof(unix.Timeval{}) + 8)
)

// event is one event of the device.
type event struct {
	at         time.Duration // on the device's clock: only differences mean something
	kind, code uint16
	value      int32
}

// The events that matter, of linux/input-event-codes.h.
const (
	evSyn      = 0
	evKey      = 1
	synReport  = 0
	synDropped = 3

	up     = 0 // values of evKey
	down   = 1
	repeat = 2

	maxCode = 0x2ff // KEY_MAX
)

// decode returns the events of what one read gave. It fails when that is not a whole number of them.
func decode(p []byte, l layout) ([]event, error) {
	if len(p)%int(l) != 0 {
		return nil, fmt.Errorf("%d bytes are not events of %d", len(p), l)
	}
	events := make([]event, 0, len(p)/int(l))
	order := binary.NativeEndian
	for ; len(p) > 0; p = p[l:] {
		var sec, usec int64
		if l == layout32 {
			sec, usec = int64(order.Uint32(p)), int64(order.Uint32(p[4:]))
		} else {
			sec, usec = int64(order.Uint64(p)), int64(order.Uint64(p[8:]))
		}
		rest := p[l-8:]
		events = append(events, event{
			at:   time.Duration(sec)*time.Second + time.Duration(usec)*time.Microsecond,
			kind: order.Uint16(rest), code: order.Uint16(rest[2:]), value: int32(order.Uint32(rest[4:])),
		})
	}
	return events, nil
}

// bits is a set of codes, as the kernel writes it.
type bits [maxCode/8 + 1]byte

func (b *bits) has(code uint16) bool { return code <= maxCode && b[code/8]&(1<<(code%8)) != 0 }
