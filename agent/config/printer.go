package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// The kinds of a printer's device.
const (
	PrinterSerial = "serial"
	PrinterUSB    = "usb"
	PrinterFile   = "file"
)

// DeviceKind is the kind of the device: Kind, or what the device's name says.
func (p Printer) DeviceKind() string {
	switch {
	case p.Kind != "":
		return p.Kind
	case strings.HasPrefix(p.Device, "/dev/usb/"), strings.HasPrefix(p.Device, "/dev/usblp"):
		return PrinterUSB
	case strings.HasPrefix(p.Device, "/dev/"), strings.HasPrefix(p.Device, "usb:"):
		return PrinterSerial
	}
	return PrinterFile
}

func (c Config) printer(k *check) {
	p := c.Printer
	k.oneOf("printer.kind", p.Kind, "", PrinterSerial, PrinterUSB, PrinterFile)
	switch named := usbName.MatchString(p.Device) && len(p.Device) <= maxUSBName; {
	case p.Device == "":
	case !isPath(p.Device) && !(named && p.DeviceKind() == PrinterSerial):
		k.fail("printer.device", "%q is neither an absolute path nor usb:VID:PID[:SERIAL] of a serial converter (lsusb shows VID:PID)", p.Device)
	case p.Device == c.ECR.Serial:
		k.fail("printer.device", "%q is the register's line, [ecr] serial: name the printer's own", p.Device)
	case p.DeviceKind() == PrinterFile && strings.HasPrefix(filepath.Clean(p.Device), "/dev/"):
		k.fail("printer.device", "%q is no plain file: take kind = \"file\" out", p.Device)
	}
	if !slices.Contains(bauds, p.Baud) {
		k.fail("printer.baud", "%d is none of %v", p.Baud, bauds)
	}
	k.oneOf("printer.profile", p.Profile, "58mm", "80mm", "80mm-42")
	if p.Columns != 0 && (p.Columns < 24 || p.Columns > 64) {
		k.fail("printer.columns", "%d is neither 0 nor 24 to 64", p.Columns)
	}
	k.oneOf("printer.status", p.Status, "", "none", "realtime", "full", "inorder", "asb")
	for _, what := range p.Prints {
		k.oneOf("printer.prints", what, "customer", "merchant", "end_of_day")
	}
}
