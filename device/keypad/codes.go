package keypad

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"posagent/device/keypad/entry"
)

// Map says which key a code of the kernel is.
type Map map[uint16]entry.Key

// usual returns the keys of usual pads, by the codes of linux/input-event-codes.h.
func usual() Map {
	m := Map{
		14: entry.Correct, 111: entry.Correct, 0x163: entry.Correct, // BACKSPACE, DELETE, CLEAR
		28: entry.Confirm, 96: entry.Confirm, 0x160: entry.Confirm, // ENTER, KPENTER, OK
		1: entry.Cancel, 223: entry.Cancel, 128: entry.Cancel, // ESC, CANCEL, STOP
		103: entry.Up, 108: entry.Down,
		74: entry.Correct, 55: entry.Cancel, // KPMINUS, KPASTERISK: a number block has neither otherwise
		0x20a: entry.Correct, 0x20b: entry.Confirm, // NUMERIC_STAR, NUMERIC_POUND
		87: entry.F1 + 10, 88: entry.F12,
	}
	for i, code := range []uint16{82, 79, 80, 81, 75, 76, 77, 71, 72, 73} { // KP0 to KP9
		m[code] = entry.Digit(i)
	}
	for i := range 10 {
		m[uint16(2+(i+9)%10)] = entry.Digit(i) // KEY_1 to KEY_9, KEY_0
		m[uint16(0x200+i)] = entry.Digit(i)    // NUMERIC_0 to NUMERIC_9
		m[uint16(59+i)] = entry.F1 + entry.Key(i)
	}
	return m
}

// with returns the map with the keys of another in it; entry.None takes one away.
func (m Map) with(other Map) Map {
	all := maps.Clone(m)
	maps.Copy(all, other)
	maps.DeleteFunc(all, func(_ uint16, k entry.Key) bool { return k == entry.None })
	return all
}

// lacks returns which of the wanted keys no code of a device is.
func (m Map) lacks(has *bits, wanted []entry.Key) []entry.Key {
	found := map[entry.Key]bool{}
	for code, k := range m {
		found[k] = found[k] || has.has(code)
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(k entry.Key) bool { return found[k] })
}

// ParseMap reads a configuration's map: the code of a key as the kernel numbers it, and its name as entry.Parse knows it. A
// status says the code of a key that has none.
func ParseMap(text map[string]string) (Map, error) {
	m := Map{}
	for _, code := range slices.Sorted(maps.Keys(text)) {
		n, err := strconv.ParseUint(code, 10, 16)
		if err != nil || n == 0 || n > maxCode {
			return nil, fmt.Errorf("%q is no code of a key: want 1 to %d", code, maxCode)
		}
		k, err := entry.Parse(text[code])
		if err != nil {
			return nil, fmt.Errorf("code %s: %w", code, err)
		}
		m[uint16(n)] = k
	}
	return m, nil
}

// needed are the keys without which nothing can be typed, useful those that a person misses.
func needed() []entry.Key {
	keys := []entry.Key{entry.Confirm}
	for i := range 10 {
		keys = append(keys, entry.Digit(i))
	}
	return keys
}

func useful() []entry.Key { return []entry.Key{entry.Correct, entry.Cancel} }

// list names keys for people; a digit by its figure, as this is about the pad and not about what was typed.
func list(keys []entry.Key) string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		name := k.String()
		if d, ok := k.Digit(); ok {
			name = strconv.Itoa(d)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
