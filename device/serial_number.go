package device

import (
	"os"
	"strings"
)

// maxSerial is the longest serial number that is told, in bytes.
const maxSerial = 64

// SerialNumber is the number by which a box is known to its operator: the one that its maker wrote into the hardware (device tree,
// processor, mainboard), else a part of the machine's id, else its name. It has letters, digits, dots, dashes and underscores.
func SerialNumber() string {
	for _, read := range []func() string{
		func() string { return firstLine("/proc/device-tree/serial-number") },
		func() string { return processorSerial("/proc/cpuinfo") },
		func() string { return firstLine("/sys/class/dmi/id/product_serial") },
		func() string {
			if id := plainSerial(firstLine("/etc/machine-id")); len(id) >= 12 {
				return "m-" + id[:12]
			}
			return ""
		},
		func() string { name, _ := os.Hostname(); return name }, // "" where it has none
	} {
		if s := plainSerial(read()); s != "" {
			return s
		}
	}
	return "box"
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

// processorSerial is the number that the processor has burned in; many have only zeros.
func processorSerial(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "Serial" && strings.Trim(value, " 0\t\n") != "" {
			return value
		}
	}
	return ""
}

// plainSerial keeps of a text what a serial number has.
func plainSerial(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r == '.', r == '-', r == '_':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.Trim(s, " \t\x00\n"))
	s = strings.Trim(s, "._-")
	for _, placeholder := range []string{"tobefilled", "to-be-filled", "default-string", "not-specified", "not-applicable", "none", "system-serial", "chassis-serial", "0123456789", "123456789"} {
		if strings.HasPrefix(strings.ToLower(s), placeholder) {
			return "" // a maker's blank: a whole fleet would have one number
		}
	}
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s[:min(len(s), maxSerial)]
}
