package device

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Marks are what the hardware of this box is known by, as digests under the names that people use. A
// copy of its card has another serial number, another card and another network card. What this user
// may not read is left out. root is "/"; tests name another.
func Marks(root string) map[string][]string {
	at := func(path string) string { return filepath.Join(root, path) }
	found := map[string][]string{}
	add := func(name, value string) {
		if value = plainSerial(value); value == "" {
			return
		}
		sum := sha256.Sum256([]byte(name + "\x00" + value))
		if digest := hex.EncodeToString(sum[:8]); !slices.Contains(found[name], digest) {
			found[name] = append(found[name], digest)
		}
	}
	for _, path := range []string{"proc/device-tree/serial-number", "sys/class/dmi/id/product_serial", "sys/class/dmi/id/board_serial", "sys/class/dmi/id/product_uuid"} {
		add("serial number", firstLine(at(path)))
	}
	add("serial number", processorSerial(at("proc/cpuinfo")))
	for _, disk := range glob(at("sys/block/*")) {
		if firstLine(filepath.Join(disk, "removable")) == "1" {
			continue
		}
		for _, name := range []string{"device/cid", "device/wwid", "device/serial", "wwid", "serial"} {
			add("card", firstLine(filepath.Join(disk, name)))
		}
	}
	for _, card := range glob(at("sys/class/net/*")) {
		_, err := os.Stat(filepath.Join(card, "device"))
		if burned := firstLine(filepath.Join(card, "addr_assign_type")); err != nil || strings.TrimSpace(burned) != "0" {
			continue // virtual, or an address that was drawn
		}
		add("network card", strings.ReplaceAll(firstLine(filepath.Join(card, "address")), ":", ""))
	}
	add("machine id", firstLine(at("etc/machine-id")))
	return found
}

// glob lists what a fixed pattern names.
func glob(pattern string) []string {
	list, err := filepath.Glob(pattern)
	if err != nil {
		return nil // the pattern is broken
	}
	return list
}
