package printer_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
	"posagent/device/line"
	"posagent/device/printer"
	"posagent/device/printer/printertest"
	"posagent/ecr/ecrtest/lines"
)

// serial is a printer at a pseudo terminal that device/line opens.
type serial struct {
	*printertest.Printer
	t      *testing.T
	dir    string
	cable  *lines.Cable
	served sync.WaitGroup
}

func newSerial(t *testing.T, prof printer.Profile) *serial {
	t.Helper()
	s := &serial{t: t, dir: t.TempDir(), Printer: printertest.New(printertest.Config{Columns: prof.Columns, Dots: prof.Dots,
		RealTime: prof.Status&printer.RealTime != 0, InOrder: prof.Status&printer.InOrder != 0, Kanji: prof.Kanji, Stops: true})}
	t.Cleanup(func() {
		s.pull()
		s.served.Wait()
	})
	return s
}

// plug makes a cable; the printer is at its far end if it is switched on.
func (s *serial) plug(on bool) {
	s.t.Helper()
	var err error
	s.cable, err = lines.Plug(s.dir)
	require.NoError(s.t, err)
	near, err := lines.OpenRaw(s.cable.Device) // a pseudo terminal that nobody has open hangs up, a serial line does not
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = near.Close() })
	if on {
		s.on()
	}
}

func (s *serial) on() {
	far := s.cable.Far
	s.served.Go(func() { s.Serve(far) })
}

func (s *serial) pull() {
	if s.cable != nil {
		s.cable.Pull()
	}
}

func (s *serial) printer(prof printer.Profile, change func(*line.Config)) *printer.Printer {
	s.t.Helper()
	cfg := line.Config{Path: s.dir + "/ttyUSB7", Baud: 115200, LockDir: s.t.TempDir()}
	if change != nil {
		change(&cfg)
	}
	p, err := printer.New(printer.Config{Profile: prof, Open: line.New(cfg).Open, Torn: torn, Answer: need.Limit(), Bound: 4 * need.Limit()})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestSerialPrinter prints every example over a serial line, with a printer that answers.
func TestSerialPrinter(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{32, 48} {
		prof := profile(t, columns)
		s := newSerial(t, prof)
		s.plug(true)
		p := s.printer(prof, nil)
		require.NoError(t, p.Check(t.Context()))
		want := ""
		for _, name := range []string{"customer", "merchant", "decline", "letters", "end-of-day"} {
			require.NoError(t, p.Print(t.Context(), examples[name]), name)
			want += printed(t, prof, examples[name]).Listing()
		}
		need.Until(t, "the printer has done its work", s.Idle)
		require.Equal(t, want, s.Listing())
		require.Empty(t, s.Strange())
	}
}

// TestSerialPaperOut: the paper ends within a document on a real line, and comes back.
func TestSerialPaperOut(t *testing.T) {
	t.Parallel()
	prof := profile(t, 48)
	s := newSerial(t, prof)
	s.plug(true)
	p := s.printer(prof, nil)
	require.NoError(t, p.Print(t.Context(), examples["decline"]))
	s.PaperOutAfter(3000)
	err := p.Print(t.Context(), slip("one"))
	require.ErrorIs(t, err, printer.ErrUnknownEnd)
	require.ErrorIs(t, err, printer.ErrPaperOut)
	err = p.Print(t.Context(), slip("two"))
	require.ErrorIs(t, err, printer.ErrPaperOut)
	require.NotErrorIs(t, err, printer.ErrUnknownEnd)
	s.Set(printertest.PaperOut, false)
	require.NoError(t, p.Print(t.Context(), slip("two")))
	require.True(t, strings.HasSuffix(s.Listing(), torn+"\n=== cut\n"+printed(t, prof, slip("two")).Listing()), s.Listing())
	require.NotContains(t, s.Listing(), "end of one")
	require.Empty(t, s.Strange())
	require.Equal(t, printer.Stats{Open: true, Printed: 2, Failed: 2, Torn: 1}, p.Stats())
}

// TestSerialCableIsPulled within a document, and plugged in again: the device is opened again.
func TestSerialCableIsPulled(t *testing.T) {
	prof := profile(t, 48)
	s := newSerial(t, prof)
	s.plug(true)
	p := s.printer(prof, nil)
	done := make(chan error, 1)
	s.BusyAfter(2500)
	go func() { done <- p.Print(t.Context(), slip("one")) }()
	need.Until(t, "the printer has stopped", func() bool { return s.Worked() == 2500 })
	s.pull()
	err := <-done
	require.ErrorIs(t, err, printer.ErrUnknownEnd)
	require.ErrorIs(t, err, printer.ErrOffline)
	require.False(t, p.Stats().Open)

	s.PowerCycle()
	s.BusyAfter(-1)
	s.served.Wait()
	left := s.Listing()
	require.NotContains(t, left, "end of one")
	s.plug(true)
	require.NoError(t, p.Print(t.Context(), slip("two")))
	require.Equal(t, left+"b |                "+torn+"\n=== cut\n"+printed(t, prof, slip("two")).Listing(), s.Listing())
	require.Empty(t, s.Strange())
}

// TestSerialPrinterIsOff: the system takes bytes for a printer that is switched off until its own memory is full. Without status commands
// that is all that is noticed; the next document after power-on is whole.
func TestSerialPrinterIsOff(t *testing.T) {
	t.Parallel()
	prof := profile(t, 48)
	prof.Status = printer.NoStatus
	s := newSerial(t, prof)
	s.plug(false)
	p := s.printer(prof, func(c *line.Config) { c.WriteTimeout = 2 * time.Second })
	var err error
	for range 100 {
		if err = p.Print(t.Context(), slip("one")); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, printer.ErrStuck)
	s.on()
	need.Until(t, "a document is printed", func() bool { return p.Print(t.Context(), slip("two")) == nil })
	whole := printed(t, prof, slip("two")).Listing()
	need.Until(t, "the whole document is on the paper", func() bool { return strings.HasSuffix(s.Listing(), whole) }) // looking keeps the paper from moving
}

// TestSerialDeviceThatIsNotThere: Print waits for it as long as for an answer.
func TestSerialDeviceThatIsNotThere(t *testing.T) {
	prof := profile(t, 48)
	s := newSerial(t, prof)
	p, err := printer.New(printer.Config{Profile: prof, Answer: 50 * time.Millisecond, Open: line.New(line.Config{Path: s.dir + "/ttyUSB7", LockDir: t.TempDir()}).Open})
	require.NoError(t, err)
	err = p.Print(t.Context(), slip("one"))
	require.ErrorIs(t, err, printer.ErrOffline)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, printer.ErrUnknownEnd)
	file := s.dir + "/ttyUSB7"
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorIs(t, p.Check(t.Context()), line.ErrNotTTY)
}
