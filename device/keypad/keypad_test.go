package keypad

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/device/keypad/entry"
)

// fake is a pad without a kernel.
type fake struct {
	name        string
	has, closed bits
	own         error
	in          chan []byte
	pulled      chan struct{}
	shut        chan struct{}
	once        sync.Once
}

func newFake() *fake {
	f := &fake{name: "Test Pad", in: make(chan []byte, 100), pulled: make(chan struct{}), shut: make(chan struct{})}
	for code := range usual() {
		f.has[code/8] |= 1 << (code % 8)
	}
	return f
}

func (f *fake) Read(p []byte) (int, error) {
	select {
	case b := <-f.in:
		return copy(p, b), nil
	case <-f.pulled:
		return 0, &os.PathError{Op: "read", Err: unix.ENODEV}
	case <-f.shut:
		return 0, os.ErrClosed
	}
}

func (f *fake) Flush() error {
	for {
		select {
		case <-f.in:
		default:
			return nil
		}
	}
}

func (f *fake) Name() (string, error)  { return f.name, nil }
func (f *fake) Has() (*bits, error)    { return &f.has, nil }
func (f *fake) Closed() (*bits, error) { return &f.closed, nil }
func (f *fake) Own() error             { return f.own }
func (f *fake) Close() error {
	f.once.Do(func() { close(f.shut) })
	return nil
}

// raw is events as this process reads them: code, value and milliseconds of each.
func raw(events ...event) []byte {
	var all []byte
	for _, e := range events {
		one := make([]byte, native)
		us := e.at.Microseconds()
		if native == 16 {
			binary.LittleEndian.PutUint32(one, uint32(us/1e6))
			binary.LittleEndian.PutUint32(one[4:], uint32(us%1e6))
		} else {
			binary.LittleEndian.PutUint64(one, uint64(us/1e6))
			binary.LittleEndian.PutUint64(one[8:], uint64(us%1e6))
		}
		rest := one[native-8:]
		binary.LittleEndian.PutUint16(rest, e.kind)
		binary.LittleEndian.PutUint16(rest[2:], e.code)
		binary.LittleEndian.PutUint32(rest[4:], uint32(e.value))
		all = append(all, one...)
	}
	return all
}

// tap is a press and its release, at a second of its own.
func tap(second int, code uint16) []byte {
	at := time.Duration(second) * time.Second
	return raw(event{at: at, kind: 1, code: code, value: 1}, event{at: at}, event{at: at + 80*time.Millisecond, kind: 1, code: code}, event{at: at + 80*time.Millisecond})
}

// desk runs a pad and notes what comes of it.
type desk struct {
	pad *Pad

	mu      sync.Mutex
	plugged device
	refusal error
	keys    []entry.Key
	reports []Status
	hold    chan struct{} // a press waits for it
}

func newDesk(t *testing.T, cfg Config) *desk {
	t.Helper()
	cfg.Path = "/dev/input/test"
	p, err := New(cfg)
	require.NoError(t, err)
	d := &desk{pad: p, refusal: os.ErrNotExist}
	p.open = func(path string) (device, error) {
		require.Equal(t, "/dev/input/test", path)
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.plugged == nil {
			return nil, d.refusal
		}
		return d.plugged, nil
	}
	return d
}

func (d *desk) plug(dev device) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plugged = dev
}

func (d *desk) refuse(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plugged, d.refusal = nil, err
}

func (d *desk) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.pad.Run(ctx, d.press, d.report) }()
	synctest.Wait() // what is written before it is open is not delivered
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func (d *desk) press(k entry.Key) {
	d.mu.Lock()
	hold := d.hold
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = append(d.keys, k)
}

func (d *desk) report(s Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports = append(d.reports, s)
}

// seen returns the keys since the last call.
func (d *desk) seen() []entry.Key {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := d.keys
	d.keys = nil
	return keys
}

// told returns the reports since the last call: true where the pad was open.
func (d *desk) told() (open []bool) {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.reports {
		open = append(open, s.Open)
	}
	d.reports = nil
	return open
}

func TestKeysArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		dev := newFake()
		d.plug(dev)
		d.run(t)
		require.Empty(t, d.seen())
		require.Equal(t, []bool{true}, d.told())
		dev.in <- append(tap(1, key5), tap(2, key0)...)
		dev.in <- tap(3, enter)
		require.Equal(t, []entry.Key{entry.Digit(5), entry.Digit(0), entry.Confirm}, d.seen())
		s := d.pad.Status()
		require.True(t, s.Open)
		require.Equal(t, "Test Pad", s.Name)
		require.EqualValues(t, 3, s.Presses)
		require.EqualValues(t, 1, s.Opens)
		require.Empty(t, s.Lacks)
		require.NoError(t, s.Reason)
		require.False(t, s.Stuck(time.Now()))
		require.Empty(t, d.told())
	})
}

// TestAPulledPadComesBack: what waits when it is pulled, and what is pressed before it is opened again, is not delivered.
func TestAPulledPadComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		d.run(t)
		require.Equal(t, []bool{false}, d.told())
		require.ErrorIs(t, d.pad.Status().Reason, os.ErrNotExist)
		began := d.pad.Status().Since

		first := newFake()
		d.plug(first)
		time.Sleep(backoffMax)
		require.Equal(t, []bool{true}, d.told())
		first.in <- tap(1, key5)
		require.Equal(t, []entry.Key{entry.Digit(5)}, d.seen())

		hold := make(chan struct{})
		d.mu.Lock()
		d.hold = hold
		d.mu.Unlock()
		first.in <- append(tap(2, key0), append(tap(3, key0), tap(4, enter)...)...)
		synctest.Wait() // one is with its reader, two wait
		d.refuse(os.ErrNotExist)
		close(first.pulled)
		require.Equal(t, []bool{false}, d.told())
		require.ErrorIs(t, d.pad.Status().Reason, errUnplugged)
		time.Sleep(backoffMax)
		require.Equal(t, []bool{false}, d.told(), "it is not there now, which is another reason")
		s := d.pad.Status()
		require.False(t, s.Open)
		require.True(t, s.Since.After(began))
		require.EqualValues(t, 2, s.Lost)
		close(hold)
		require.Equal(t, []entry.Key{entry.Digit(0), entry.Gap}, d.seen())

		second := newFake()
		second.in <- tap(1, enter) // before anybody reads it
		second.closed[enter/8] |= 1 << (enter % 8)
		d.plug(second)
		time.Sleep(backoffMax)
		require.Equal(t, []bool{true}, d.told())
		second.in <- raw(event{at: 2 * time.Second, kind: 1, code: enter, value: 2}, event{at: 3 * time.Second, kind: 1, code: enter})
		require.Empty(t, d.seen(), "pressed before the pad was opened again")
		second.in <- tap(4, enter)
		require.Equal(t, []entry.Key{entry.Confirm}, d.seen())
		s = d.pad.Status()
		require.EqualValues(t, 2, s.Opens)
		require.EqualValues(t, 5, s.Presses, "the counters go on")
	})
}

func TestASlowReaderIsToldThatKeysWereLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		dev, hold := newFake(), make(chan struct{})
		d.plug(dev)
		d.hold = hold
		d.run(t)
		synctest.Wait()
		dev.in <- tap(1, key5)
		synctest.Wait() // with its reader
		for i := range 99 {
			dev.in <- tap(2+i, key0)
		}
		synctest.Wait()
		require.EqualValues(t, 99-31, d.pad.Status().Lost)
		close(hold)
		keys := d.seen()
		require.Len(t, keys, 1+31+1)
		require.Equal(t, entry.Digit(0), keys[31])
		require.Equal(t, entry.Gap, keys[32])
		dev.in <- tap(200, enter)
		require.Equal(t, []entry.Key{entry.Confirm}, d.seen())
	})
}

func TestAMouseIsNoKeypad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		mouse := newFake()
		mouse.name, mouse.has = "Optical Mouse", bits{}
		mouse.has[0x110/8] |= 7 // BTN_LEFT, BTN_RIGHT, BTN_MIDDLE
		d.plug(mouse)
		d.run(t)
		time.Sleep(time.Minute)
		require.Equal(t, []bool{false}, d.told(), "said once, tried on")
		s := d.pad.Status()
		require.ErrorIs(t, s.Reason, ErrNoKeys)
		require.Equal(t, `keypad /dev/input/test: "Optical Mouse" has no key for confirm, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9: not a keypad: `+
			"name the keypad's own device (ls -l /dev/input/by-id), or say in map which of its keys they are", s.LastError)
		require.Zero(t, s.Opens)

		pad := newFake()
		d.plug(pad)
		time.Sleep(backoffMax)
		require.Equal(t, []bool{true}, d.told())
		require.Empty(t, d.seen(), "nothing was lost: nothing was read")
	})
}

func TestAnOddPadWithAMap(t *testing.T) {
	m, err := ParseMap(map[string]string{"78": "confirm"}) // KPPLUS
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{Map: m})
		odd := newFake()
		odd.has = bits{}
		for code := uint16(71); code <= 83; code++ { // a number block without Enter
			odd.has[code/8] |= 1 << (code % 8)
		}
		d.plug(odd)
		d.run(t)
		synctest.Wait()
		odd.in <- append(tap(1, keyKP5), tap(2, 78)...)
		require.Equal(t, []entry.Key{entry.Digit(5), entry.Confirm}, d.seen())
		require.Equal(t, []entry.Key{entry.Cancel}, d.pad.Status().Lacks, "KPMINUS corrects, and KPASTERISK is not there")
		odd.in <- tap(3, 83)
		require.Empty(t, d.seen())
		require.EqualValues(t, 83, d.pad.Status().UnknownCode)
	})
}

func TestAPadThatAnotherProgramHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		dev := newFake()
		dev.own = ErrInUse
		d.plug(dev)
		d.run(t)
		synctest.Wait()
		require.ErrorIs(t, d.pad.Status().Reason, ErrInUse)
		require.False(t, d.pad.Status().Open)
		select {
		case <-dev.shut:
		default:
			t.Fatal("a device that is not used is closed")
		}
	})
}

// TestTheKernelDropsEvents: one Gap, the state is asked for, and what was read behind the mark is not counted twice.
func TestTheKernelDropsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		dev := newFake()
		d.plug(dev)
		d.run(t)
		dev.in <- tap(1, key5)
		require.Equal(t, []entry.Key{entry.Digit(5)}, d.seen())
		require.Equal(t, []bool{true}, d.told())
		dev.closed[key0/8] |= 1 << (key0 % 8)
		at := 5 * time.Second
		dev.in <- append(raw(event{at: at, code: 3}, event{at: at, kind: 1, code: enter, value: 1}, event{at: at}), tap(6, enter)...)
		require.Equal(t, []entry.Key{entry.Gap}, d.seen())
		require.Equal(t, []bool{true}, d.told(), "lost keys are reported")
		dev.in <- raw(event{at: 7 * time.Second, kind: 1, code: key0, value: 2}, event{at: 8 * time.Second, kind: 1, code: key0})
		require.Empty(t, d.seen())
		dev.in <- tap(9, key0)
		require.Equal(t, []entry.Key{entry.Digit(0)}, d.seen())
		require.EqualValues(t, 1, d.pad.Status().Overflows)
	})
}

func TestAKeyThatIsHeldForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		dev := newFake()
		d.plug(dev)
		d.run(t)
		synctest.Wait()
		dev.in <- raw(event{at: time.Second, kind: 1, code: key5, value: 1})
		require.Len(t, d.seen(), 1)
		time.Sleep(heldTooLong - time.Millisecond)
		require.False(t, d.pad.Status().Stuck(time.Now()))
		time.Sleep(time.Millisecond)
		require.True(t, d.pad.Status().Stuck(time.Now()))
		dev.in <- raw(event{at: time.Minute, kind: 1, code: key5})
		require.Empty(t, d.seen())
		require.False(t, d.pad.Status().Stuck(time.Now()))
	})
}

// TestADeviceThatFailsAtOnceIsNotTriedWithoutPause counts the openings of an hour.
func TestADeviceThatFailsAtOnceIsNotTriedWithoutPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		opens := 0
		d.pad.open = func(string) (device, error) {
			opens++
			dev := newFake()
			dev.in <- []byte{1, 2, 3} // no event
			return flushless{dev}, nil
		}
		d.run(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Less(t, opens, 1810)
		require.Greater(t, opens, 1700)
		require.ErrorContains(t, d.pad.Status().Reason, "3 bytes are not events of")
	})
}

// flushless is a device that keeps what was there before.
type flushless struct{ *fake }

func (flushless) Flush() error { return nil }

// TestAFloodIsReportedAtMostOnceASecond: a log that follows the reports stays readable.
func TestAFloodIsReportedAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Config{})
		dev := newFake()
		d.plug(dev)
		d.run(t)
		require.Equal(t, []bool{true}, d.told())
		for i := range 100 {
			at := time.Duration(i) * 10 * time.Second
			dev.in <- raw(event{at: at, code: 3}, event{at: at})
		}
		require.Equal(t, []bool{true}, d.told())
		require.EqualValues(t, 100, d.pad.Status().Overflows)
		require.Equal(t, []entry.Key{entry.Gap}, d.seen()[:1])
	})
}

func TestRunEnds(t *testing.T) {
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, Config{})
			if reads {
				d.plug(newFake())
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- d.pad.Run(ctx, d.press, nil) }()
			time.Sleep(time.Second)
			cancel()
			require.NoError(t, <-ended)
			require.Equal(t, reads, d.pad.Status().Opens == 1)
			require.False(t, d.pad.Status().Open)
			require.Empty(t, d.keys)
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	require.EqualError(t, translate(&os.PathError{Op: "open", Path: "/dev/input/event0", Err: unix.EACCES}),
		"open /dev/input/event0: permission denied: the program's user has to be in the group input")
	require.ErrorIs(t, translate(unix.EPERM), os.ErrPermission)
	require.EqualError(t, translate(io.EOF), "unplugged")
	require.Equal(t, ErrInUse, translate(unix.EBUSY))
	require.NoError(t, translate(nil))
}
