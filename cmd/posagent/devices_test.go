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
		words, remedy := printerNotOpen(config.Config{Printer: config.Printer{Device: at}})(fmt.Errorf("%w: %w", printer.ErrNotOpen, c.err))
		require.Contains(t, words, c.want.words, name)
		require.Contains(t, remedy, c.want.remedy, name)
		require.NotContains(t, words+remedy, "context", name)
	}

	stuck := lineTrouble(line.Stats{Path: at, Opens: 3, Reason: fmt.Errorf("open %s: %w", at, line.ErrStuck)}, nil)
	require.Equal(t, ready.LineStuck, stuck.Cause, "its cable is in")
	pulled := lineTrouble(line.Stats{Path: at, Opens: 3, Reason: os.ErrNotExist}, nil)
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

// TestField2_P4TheTerminalItselfHasTheDevice: who waits for a device that the terminal has under another setting is told so, and both settings; never that another program
// has it. The kind, every pair of users: register lines, printer, screens, keypad and files are compared by config (TestField2_P4OneDeviceHasOneUser there); what is
// waited for as a serial line, another line or the printer, is told here, beside the console.
func TestField2_P4TheTerminalItselfHasTheDevice(t *testing.T) {
	dir := t.TempDir()
	device, link := filepath.Join(dir, "ttyUSB0"), filepath.Join(dir, "by-id")
	require.NoError(t, os.WriteFile(device, nil, 0o600))
	require.NoError(t, os.Symlink(device, link))
	cfg := config.Default()
	cfg.ECR.Serial, cfg.More = device, []config.ECR{{Serial: link}}
	cfg.Printer.Device = link

	waits := lineTrouble(line.Stats{Path: link, WaitingForLock: true, Reason: fmt.Errorf("open %s: %w", link, line.ErrOurs)}, sharersIn(cfg))
	said := ready.Say(waits, ready.Place{})
	require.Equal(t, "the register line "+link+" is in use by this terminal itself, as ecr.serial, printer.device and ecr[2].serial", said.Words)
	require.Contains(t, said.Remedy, "posagent config check")
	other := lineTrouble(line.Stats{Path: link, WaitingForLock: true, Reason: fmt.Errorf("open %s: %w", link, line.ErrInUse)}, sharersIn(cfg))
	require.Equal(t, ready.LineBusy, other.Cause)

	words, remedy := printerNotOpen(cfg)(fmt.Errorf("%w: %w", printer.ErrNotOpen, line.ErrOurs))
	require.Contains(t, words, "is in use by this terminal itself, as ecr.serial")
	require.Contains(t, remedy, "posagent config check names the settings")
	require.NotContains(t, words+remedy+said.Words+said.Remedy, "another program")

	cfg.More, cfg.Printer.Device = nil, ""
	require.Equal(t, "by another name of it", sharersIn(cfg)(link))
	out, err := os.Readlink("/proc/self/fd/1")
	require.NoError(t, err)
	if _, err := os.Stat(out); err == nil { // a file, a terminal or /dev/null: a pipe has no name
		cfg.ECR.Serial = out
		require.Equal(t, "as ecr.serial and its own console", sharersIn(cfg)(out))
	}
}
