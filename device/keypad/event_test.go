package keypad

import (
	"encoding/binary"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/keypad/entry"
)

// The key 5 goes down at 16909060.5 s, and the packet ends, as a process of 32 bits and one of 64 bits read it.
var (
	small = []byte{
		0x04, 0x03, 0x02, 0x01, 0x20, 0xA1, 0x07, 0x00, 0x01, 0x00, 0x06, 0x00, 0x01, 0x00, 0x00, 0x00,
		0x04, 0x03, 0x02, 0x01, 0x20, 0xA1, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	}
	large = []byte{
		0x04, 0x03, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x20, 0xA1, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x06, 0x00, 0x01, 0x00, 0x00, 0x00,
		0x04, 0x03, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x20, 0xA1, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	}
)

func TestBothLayouts(t *testing.T) {
	want := []event{
		{at: 16909060*time.Second + 500*time.Millisecond, kind: 1, code: 6, value: 1},
		{at: 16909060*time.Second + 500*time.Millisecond},
	}
	got, err := decode(small, layout32)
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = decode(large, layout64)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestSecondsBeyond2038(t *testing.T) {
	got, err := decode([]byte{0x00, 0x00, 0x00, 0x80, 0, 0, 0, 0, 1, 0, 6, 0, 0xff, 0xff, 0xff, 0xff}, layout32)
	require.NoError(t, err)
	require.Equal(t, 2147483648*time.Second, got[0].at, "the kernel's long is unsigned here")
	require.EqualValues(t, -1, got[0].value)
}

func TestTheLayoutIsThisProcesss(t *testing.T) {
	require.Equal(t, map[int]layout{32: 16, 64: 24}[strconv.IntSize], native)
}

func TestATornEventIsNotGuessed(t *testing.T) {
	for cut := 1; cut < len(large); cut++ {
		if cut != 24 {
			_, err := decode(large[:cut], layout64)
			require.Error(t, err, cut)
		}
	}
	_, err := decode(small[:31], layout32)
	require.EqualError(t, err, "31 bytes are not events of 16")
	none, err := decode(nil, layout32)
	require.NoError(t, err)
	require.Empty(t, none)
}

// FuzzDecode: whatever the bytes are, a key is pressed at most as often as a contact closed, and Correct as often as it closed
// or repeated; and whatever was read, the numbers are those of the bytes.
func FuzzDecode(f *testing.F) {
	f.Add(small, true)
	f.Add(large, false)
	f.Add(append(append([]byte{}, small...), small...), true)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0}, true) // SYN_DROPPED
	f.Fuzz(func(t *testing.T, data []byte, is32 bool) {
		l := layout(24)
		if is32 {
			l = 16
		}
		events, err := decode(data, l)
		if err != nil {
			require.NotZero(t, len(data)%int(l))
			return
		}
		require.Len(t, events, len(data)/int(l))
		filter := newFilter(usual(), defaultBounce)
		closed, repeated, pressed, corrected := 0, 0, 0, 0
		for i, e := range events {
			raw := data[(i+1)*int(l)-8:]
			if binary.LittleEndian.Uint16(raw) != e.kind || binary.LittleEndian.Uint16(raw[2:]) != e.code || int32(binary.LittleEndian.Uint32(raw[4:])) != e.value {
				t.Fatalf("event %d is %+v, of % x", i, e, raw[:8])
			}
			if e.kind == 1 && e.value == 1 {
				closed++
			}
			if e.kind == 1 && e.value == 2 {
				repeated++
			}
			k, resync := filter.feed(e, time.Time{})
			if resync {
				filter.resync(&bits{}, time.Time{})
			}
			switch k {
			case entry.None, entry.Gap:
			case entry.Correct:
				corrected++
			default:
				pressed++
			}
		}
		require.LessOrEqual(t, pressed, closed)
		require.LessOrEqual(t, pressed+corrected, closed+repeated)
		require.Len(t, filter.contacts, len(filter.keys), "no event makes it grow")
	})
}
