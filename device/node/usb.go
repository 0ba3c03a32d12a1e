package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxUSBName is the longest such name in bytes.
const maxUSBName = len("usb:0000:0000:") + 126

// usbName is the form of a line that is named by its USB converter: usb:VID:PID, or usb:VID:PID:SERIAL where the
// box has several of one make. VID and PID are four hexadecimal digits each, SERIAL is what the converter says of itself.
// A pattern that counted the letters itself would hold memory for each of them.
var usbName = regexp.MustCompile(`^usb:([0-9A-Fa-f]{4}):([0-9A-Fa-f]{4})(?::([!-~]+))?$`)

// ErrAmbiguous says that several USB converters match a name. Which of them is the register cannot be guessed.
var ErrAmbiguous = errors.New("several devices match")

// IsUSB reports whether a name is that of a USB converter.
func IsUSB(name string) bool { return len(name) <= maxUSBName && usbName.MatchString(name) }

// Path returns the device file behind a configured name as it is now, without links. A converter that was pulled and plugged in
// again may come back under another number, and its old number may be another device's: a line that is named
// by its converter follows it. sys is where the kernel describes devices, "" = /sys. It fails with os.ErrNotExist when there is
// no such device, and with ErrAmbiguous.
func Path(sys, name string) (string, error) {
	if !IsUSB(name) {
		return filepath.EvalSymlinks(name)
	}
	m := usbName.FindStringSubmatch(name)
	if sys == "" {
		sys = "/sys"
	}
	ttys, err := filepath.Glob(filepath.Join(sys, "class/tty/*"))
	if err != nil {
		return "", err
	}
	var found []string
	for _, tty := range ttys {
		if usbMatches(sys, tty, m[1], m[2], m[3]) {
			found = append(found, "/dev/"+filepath.Base(tty))
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no USB converter %s is plugged in: %w", strings.TrimPrefix(name, "usb:"), os.ErrNotExist)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%w: %s (add the serial number: usb:VID:PID:SERIAL)", ErrAmbiguous, strings.Join(found, ", "))
}

// usbMatches says whether the device above a tty is the converter that is wanted; no serial number matches any.
func usbMatches(sys, tty, vendor, product, serial string) bool {
	dir, err := filepath.EvalSymlinks(filepath.Join(tty, "device"))
	if err != nil {
		return false // a console, a pseudo terminal
	}
	root, err := filepath.EvalSymlinks(sys)
	if err != nil {
		return false
	}
	for ; len(dir) > len(root); dir = filepath.Dir(dir) { // the tty hangs on an interface of the USB device
		id := attribute(dir, "idVendor")
		if id == "" {
			continue
		}
		return strings.EqualFold(id, vendor) && strings.EqualFold(attribute(dir, "idProduct"), product) &&
			(serial == "" || attribute(dir, "serial") == serial)
	}
	return false
}

// attribute returns a value of sysfs, "" where there is none.
func attribute(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
