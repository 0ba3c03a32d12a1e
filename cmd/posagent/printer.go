package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"posagent/agent/config"
	"posagent/agent/counter/printqueue"
	"posagent/device/line"
	"posagent/device/node"
	"posagent/device/printer"
	"posagent/ecr/receipt"
)

// receiptPrinter is the printer that the configuration names, nil where it names none. It opens nothing.
func receiptPrinter(cfg config.Config) (*printer.Printer, error) {
	c := cfg.Printer
	if c.Device == "" {
		return nil, nil
	}
	prof, err := printer.Named(c.Profile)
	if err == nil && c.Status != "" {
		prof.Status, err = printer.StatusNamed(c.Status)
	}
	pages, wrong := c.CodePages()
	codes, bad := printer.CodeModeNamed(c.Codes)
	if err = errors.Join(err, wrong, bad); err != nil {
		return nil, fmt.Errorf("config: printer: %w", err)
	}
	prof.Kanji, prof.Codes = c.SingleByte, codes
	if len(pages) > 0 {
		prof.Pages = nil
	}
	for _, one := range pages {
		prof.Pages = append(prof.Pages, printer.Page{Name: one.Name, Number: one.Number})
	}
	if c.Columns != 0 {
		prof.Columns = c.Columns
	}
	to := printer.Config{Profile: prof, Torn: receipt.WordsFor(cfg.Terminal.Language).CutOff}
	switch c.DeviceKind() {
	case config.PrinterUSB:
		to.Open = printer.Device(c.Device)
	case config.PrinterFile:
		to.Open, to.Profile.Status, to.Sure = printer.File(c.Device), printer.NoStatus, true // a file answers nothing
	default:
		to.Open = line.New(line.Config{Path: c.Device, Baud: c.Baud, StopBits: 1}).Open
	}
	p, err := printer.New(to)
	if err != nil {
		return nil, fmt.Errorf("config: printer: %w", err)
	}
	return p, nil
}

// printerNotOpen says why the printer of the configuration does not open, and what a person does.
func printerNotOpen(cfg config.Config) func(error) (reason, remedy string) {
	c, sharers := cfg.Printer, sharersIn(cfg)
	return func(err error) (reason, remedy string) {
		switch {
		case errors.Is(err, line.ErrOurs):
			return c.Device + " is in use by this terminal itself, " + sharers(c.Device),
				"give [printer] device a device of its own (posagent config check names the settings that share one), then start posagent again"
		case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
			return c.Device + " is not there", "switch the printer on and check its cable, what waits is printed by itself; ls -l " + filepath.Dir(c.Device) + " lists the devices, set [printer] device to one of them"
		case errors.Is(err, os.ErrPermission):
			return c.Device + " may not be opened by this user", grant(c.Device)
		case errors.Is(err, line.ErrInUse), errors.Is(err, unix.EBUSY):
			return c.Device + " is in use by another program", "fuser -v " + c.Device + " names it; stop it: what waits is printed by itself"
		case errors.Is(err, line.ErrNotTTY):
			return c.Device + " is no serial line", `set [printer] kind = "usb" for the device of a USB printer, kind = "file" for a plain file, or device to a serial line; then start posagent again`
		case errors.Is(err, printer.ErrNotDevice):
			return c.Device + " is no device of a USB printer", `set [printer] kind = "serial" for a serial line, kind = "file" for a plain file, or device to one of /dev/usb; then start posagent again`
		case errors.Is(err, line.ErrNoData):
			return c.Device + " takes no data", "switch the printer off and on, or unplug its converter and plug it in again: what waits is printed by itself"
		}
		return err.Error(), "dmesg | tail shows what the system says of " + c.Device + "; check [printer] device and kind"
	}
}

func printsOf(cfg config.Config) printqueue.Prints {
	has := func(what string) bool { return slices.Contains(cfg.Printer.Prints, what) }
	return printqueue.Prints{Customer: has("customer"), Merchant: has("merchant"), EndOfDay: has("end_of_day")}
}

// sharersIn tells what of the terminal uses a device: the settings that name it, by whatever name, and its own output.
func sharersIn(cfg config.Config) func(device string) string {
	return func(device string) string {
		users := cfg.Naming(device)
		if node.Same(device, "/proc/self/fd/1") || node.Same(device, "/proc/self/fd/2") {
			users = append(users, "its own console")
		}
		if len(users) < 2 {
			return "by another name of it"
		}
		return "as " + strings.Join(users[:len(users)-1], ", ") + " and " + users[len(users)-1]
	}
}
