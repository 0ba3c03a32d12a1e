package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// filter is what of the kernel is let through.
type filter struct {
	families []uint32        // of addresses
	calls    map[uint32]bool // numbers of system calls; nil = every one
	refused  unix.Errno      // what others get
}

// settings are the values of a key of a unit, in its order.
func settings(unit, key string) (values []string) {
	for line := range strings.Lines(unit) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

// knownFamilies are the address families that a unit may name.
var knownFamilies = map[string]uint32{
	"AF_UNIX": unix.AF_UNIX, "AF_INET": unix.AF_INET, "AF_INET6": unix.AF_INET6, "AF_NETLINK": unix.AF_NETLINK, "AF_PACKET": unix.AF_PACKET,
}

func familiesOf(unit string) (list []uint32, err error) {
	values := settings(unit, "RestrictAddressFamilies")
	if len(values) != 1 {
		return nil, fmt.Errorf("the unit has %d lines of RestrictAddressFamilies, want one", len(values))
	}
	for name := range strings.FieldsSeq(values[0]) {
		family, known := knownFamilies[name]
		if !known {
			return nil, fmt.Errorf("the unit names the address family %q, which is not known here", name)
		}
		list = append(list, family)
	}
	return list, nil
}

// fewest is what a set of a service has at least: with fewer, the list was not read.
const fewest = 100

// callsOf reads SystemCallFilter and SystemCallErrorNumber.
func (f *filter) callsOf(unit string) error {
	allowed := map[string]bool{}
	for _, value := range settings(unit, "SystemCallFilter") {
		names, without := strings.CutPrefix(value, "~")
		for name := range strings.FieldsSeq(names) {
			all, err := expanded(name)
			if err != nil {
				return err
			}
			for one := range all {
				if without {
					delete(allowed, one)
				} else {
					allowed[one] = true
				}
			}
		}
	}
	if number := settings(unit, "SystemCallErrorNumber"); !slices.Equal(number, []string{"EPERM"}) {
		return fmt.Errorf("SystemCallErrorNumber is %q, and only EPERM is known here", number)
	}
	numbers, err := callNumbers()
	if err != nil {
		return err
	}
	f.refused, f.calls = unix.EPERM, map[uint32]bool{}
	for name := range allowed { // a name without a number is of another processor
		if n, ok := numbers[name]; ok {
			f.calls[n] = true
		}
	}
	if len(f.calls) < fewest {
		return fmt.Errorf("of %d names that the unit lets through, %d have a number: want at least %d", len(allowed), len(f.calls), fewest)
	}
	return nil
}

// expanded are the system calls of a set, or the one that is named.
func expanded(name string) (map[string]bool, error) {
	if !strings.HasPrefix(name, "@") {
		return map[string]bool{name: true}, nil
	}
	out, err := exec.Command("systemd-analyze", "syscall-filter", "--no-pager", name).Output()
	if err != nil {
		return nil, fmt.Errorf("systemd-analyze syscall-filter %s: %w (install: apt-get install systemd)", name, err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		word := strings.TrimSpace(line)
		if word == "" || word == name || strings.HasPrefix(word, "#") {
			continue
		}
		more, err := expanded(word)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, more)
	}
	return all, nil
}

// callNumbers are the numbers of this processor's system calls by their names, from the list of golang.org/x/sys.
func callNumbers() (map[string]uint32, error) {
	dir, err := goSays("list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "unix", "zsysnum_linux_"+runtime.GOARCH+".go"))
	if err != nil {
		return nil, err
	}
	numbers := map[string]uint32{}
	for _, m := range regexp.MustCompile(`(?m)^\s+SYS_([A-Z0-9_]+)\s+= (\d+)$`).FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.ParseUint(m[2], 10, 32)
		if err != nil {
			return nil, err
		}
		numbers[strings.ToLower(m[1])] = uint32(n)
	}
	return numbers, nil
}

// Offsets of the facts that a filter sees, and its answers.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16 // the lower half of the first argument

	letThrough = 0x7fff0000
	failWith   = 0x00050000 // and the number of the error
)

// natives are this processor's numbers for SystemCallArchitectures=native.
var natives = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "arm": unix.AUDIT_ARCH_ARM, "386": unix.AUDIT_ARCH_I386}

// program is the filter as the kernel takes it: the families first, then one pair of steps for each call.
func (f filter) program() ([]unix.SockFilter, error) {
	native, known := natives[runtime.GOARCH]
	if !known {
		return nil, errors.New("no filter is known for " + runtime.GOARCH)
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	equal := func(k uint32, skipIf, skipElse int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(skipIf), Jf: uint8(skipElse), K: k}
	}
	steps := []unix.SockFilter{
		load(atArch), equal(native, 1, 0), answer(failWith | uint32(unix.EPERM)),
		load(atNumber), equal(unix.SYS_SOCKET, 0, len(f.families)+2), load(atFirst),
	}
	for i, family := range f.families {
		steps = append(steps, equal(family, len(f.families)-i, 0))
	}
	steps = append(steps, answer(failWith|uint32(unix.EAFNOSUPPORT)), load(atNumber))
	if f.calls == nil {
		return append(steps, answer(letThrough)), nil
	}
	for _, n := range slices.Sorted(maps.Keys(f.calls)) {
		steps = append(steps, equal(n, 0, 1), answer(letThrough))
	}
	return append(steps, answer(failWith|uint32(f.refused))), nil
}
