package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"posagent/device/node"
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

// pageNames are the code pages that a receipt can be printed in, as device/printer names them.
var pageNames = []string{"PC437", "PC737", "PC850", "PC852", "PC858", "PC865", "PC866", "WPC1250", "WPC1251", "WPC1252", "WPC1253", "WPC1254", "WPC1257",
	"ISO8859-2", "ISO8859-15"}

// CodePage is a code page of a printer.
type CodePage struct {
	Name   string
	Number byte // of ESC t
}

// CodePages are the pages that Pages names. It fails at the first that is none, or is named twice.
func (p Printer) CodePages() (list []CodePage, err error) {
	for _, s := range p.Pages {
		name, number, _ := strings.Cut(s, " ")
		n, err := strconv.ParseUint(number, 10, 8)
		if err != nil || !slices.Contains(pageNames, name) {
			return nil, fmt.Errorf("%q is no code page like \"PC858 19\": want a name of %s, and its number 0 to 255", s, strings.Join(pageNames, ", "))
		}
		if slices.ContainsFunc(list, func(c CodePage) bool { return c.Name == name || c.Number == byte(n) }) {
			return nil, fmt.Errorf("%q has a name or a number that stands before it", s)
		}
		list = append(list, CodePage{name, byte(n)})
	}
	return list, nil
}

func (c Config) printer(k *check) {
	p := c.Printer
	k.oneOf("printer.kind", p.Kind, "", PrinterSerial, PrinterUSB, PrinterFile)
	switch named := node.IsUSB(p.Device); {
	case p.Device == "":
	case !isPath(p.Device) && !(named && p.DeviceKind() == PrinterSerial):
		k.fail("printer.device", "%q is neither an absolute path nor usb:VID:PID[:SERIAL] of a serial converter (lsusb shows VID:PID)", p.Device)
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
	k.oneOf("printer.codes", p.Codes, "picture", "own", "text")
	k.oneOf("printer.status", p.Status, "", "none", "realtime", "full", "inorder", "asb")
	if _, err := p.CodePages(); err != nil {
		k.fail("printer.pages", "%v", err)
	}
	for _, what := range p.Prints {
		k.oneOf("printer.prints", what, "customer", "merchant", "end_of_day")
	}
}
