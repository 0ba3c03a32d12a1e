package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"posagent/agent/config"
	"posagent/agent/ready"
	"posagent/agent/view"
	"posagent/device/display"
	"posagent/device/keypad"
	"posagent/device/line"
	"posagent/device/printer"
)

// What a device package knows reaches the person, with the setting, the plug or the command that helps. The kind: each error of the
// printer's two openers, a register line that takes no data, a key that is stuck or unknown, and a screen of each sort.
func TestField2_P5TheCauseIsNotLostOnTheWay(t *testing.T) {
	const at = "/dev/thing"
	type said struct{ words, remedy string }
	late := func(err error) error { return fmt.Errorf("open %s: %w (%w)", at, err, context.DeadlineExceeded) }
	for name, c := range map[string]struct {
		err  error
		want said
	}{
		"held by another program":  {late(line.ErrInUse), said{"in use by another program", "fuser -v " + at}},
		"held, of USB":             {late(unix.EBUSY), said{"in use by another program", "fuser -v " + at}},
		"not there":                {late(os.ErrNotExist), said{"is not there", "ls -l /dev"}},
		"pulled, of USB":           {late(unix.ENODEV), said{"is not there", "ls -l /dev"}},
		"no rights":                {os.ErrPermission, said{"may not be opened by this user", ""}},
		"no serial line":           {line.ErrNotTTY, said{"is no serial line", `kind = "usb"`}},
		"no USB printer":           {fmt.Errorf("%s: %w", at, printer.ErrNotDevice), said{"is no device of a USB printer", `kind = "serial"`}},
		"takes no data":            {line.ErrStuck, said{"takes no data", "plug it in again"}},
		"anything else is said so": {errors.New("odd"), said{"odd", "dmesg | tail"}},
	} {
		words, remedy := printerNotOpen(config.Printer{Device: at})(fmt.Errorf("%w: %w", printer.ErrNotOpen, c.err))
		require.Contains(t, words, c.want.words, name)
		require.Contains(t, remedy, c.want.remedy, name)
		require.NotContains(t, words+remedy, "context", name)
	}

	stuck := lineTrouble(line.Stats{Path: at, Opens: 3, Reason: fmt.Errorf("open %s: %w", at, line.ErrStuck)})
	require.Equal(t, ready.LineStuck, stuck.Cause, "its cable is in")
	pulled := lineTrouble(line.Stats{Path: at, Opens: 3, Reason: os.ErrNotExist})
	require.Equal(t, ready.LinePulled, pulled.Cause)

	require.Equal(t, ready.PadFailed, padTrouble(at, keypad.ErrInUse).Cause)
	require.Equal(t, "Pad: 5 press(es), 3 of keys that mean nothing here, the last with the number 98 ([keypad] map)",
		view.Keypad{Name: "Pad", Presses: 5, Unknown: 3, UnknownCode: 98}.String())

	place := ready.Place{}
	for kind, want := range map[screenKind]string{consoleScreen: "Ctrl-Q", fileScreen: "file system", panelScreen: "its driver"} {
		s := ready.Say(*watchedScreen{path: at, kind: kind}.trouble(fmt.Errorf("%s: %w", at, display.ErrStuck)), place)
		require.Contains(t, s.Words, "takes no pictures")
		require.Contains(t, s.Remedy, want)
	}
	full := watchedScreen{path: "/srv/p.png", kind: fileScreen}
	for errno, want := range map[error]string{unix.ENOSPC: "df -h /srv", unix.EROFS: "remount,rw", unix.EACCES: "let the terminal's user write there"} {
		s := ready.Say(*full.trouble(fmt.Errorf("show on /srv/p.png: %w", errno)), place)
		require.Contains(t, s.Words, errno.Error())
		require.NotContains(t, s.Words, "show on")
		require.Contains(t, s.Remedy, want)
	}
}

// TestAnOpeningThatIsGivenUpSaysWhy: how long it was waited for is no cause.
func TestAnOpeningThatIsGivenUpSaysWhy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := line.New(line.Config{Path: filepath.Join(t.TempDir(), "none"), Baud: 9600, StopBits: 1}).Open(ctx)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
