package keypad

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/device/keypad/entry"
)

// TestUsualKeys holds the map to linux/input-event-codes.h, by hand.
func TestUsualKeys(t *testing.T) {
	want := Map{
		1: entry.Cancel, 14: entry.Correct, 28: entry.Confirm, 55: entry.Cancel, 74: entry.Correct, 96: entry.Confirm, 103: entry.Up, 108: entry.Down,
		111: entry.Correct, 128: entry.Cancel, 223: entry.Cancel, 352: entry.Confirm, 355: entry.Correct, 522: entry.Correct, 523: entry.Confirm,
		2: entry.Digit(1), 3: entry.Digit(2), 4: entry.Digit(3), 5: entry.Digit(4), 6: entry.Digit(5), 7: entry.Digit(6), 8: entry.Digit(7), 9: entry.Digit(8), 10: entry.Digit(9), 11: entry.Digit(0),
		71: entry.Digit(7), 72: entry.Digit(8), 73: entry.Digit(9), 75: entry.Digit(4), 76: entry.Digit(5), 77: entry.Digit(6), 79: entry.Digit(1), 80: entry.Digit(2), 81: entry.Digit(3), 82: entry.Digit(0),
		512: entry.Digit(0), 513: entry.Digit(1), 514: entry.Digit(2), 515: entry.Digit(3), 516: entry.Digit(4), 517: entry.Digit(5), 518: entry.Digit(6), 519: entry.Digit(7), 520: entry.Digit(8), 521: entry.Digit(9),
		59: entry.F1, 60: entry.F1 + 1, 61: entry.F1 + 2, 62: entry.F1 + 3, 63: entry.F1 + 4, 64: entry.F1 + 5, 65: entry.F1 + 6, 66: entry.F1 + 7, 67: entry.F1 + 8, 68: entry.F1 + 9, 87: entry.F1 + 10, 88: entry.F12,
	}
	require.Equal(t, want, usual())
}

func TestMapOfAnOddPad(t *testing.T) {
	m, err := ParseMap(map[string]string{"98": "cancel", "83": "f1", "55": "none", "30": "0"})
	require.NoError(t, err)
	require.Equal(t, Map{98: entry.Cancel, 83: entry.F1, 55: entry.None, 30: entry.Digit(0)}, m)
	all := usual().with(m)
	require.Equal(t, entry.Cancel, all[98])
	require.NotContains(t, all, uint16(55))
	require.Equal(t, entry.Confirm, all[28])
	require.Len(t, usual(), 57, "the usual map is as it was")

	for text, said := range map[string]string{
		"":      `"" is no code of a key: want 1 to 767`,
		"0":     `"0" is no code of a key: want 1 to 767`,
		"768":   `"768" is no code of a key: want 1 to 767`,
		"65537": `"65537" is no code of a key: want 1 to 767`,
		"KEY_5": `"KEY_5" is no code of a key: want 1 to 767`,
		"-1":    `"-1" is no code of a key: want 1 to 767`,
	} {
		_, err := ParseMap(map[string]string{text: "5"})
		require.EqualError(t, err, said)
	}
	_, err = ParseMap(map[string]string{"98": "gap"})
	require.EqualError(t, err, `code 98: "gap" is no key: want 0 to 9, correct, confirm, cancel, up, down, f1 to f12 or none`)
}

func TestAMapThatTakesAKeyAway(t *testing.T) {
	_, err := New(Config{Path: "pad", Map: Map{28: entry.None, 96: entry.None, 0x160: entry.None, 0x20b: entry.None, 6: entry.None, 76: entry.None, 517: entry.None}})
	require.EqualError(t, err, "keypad: map leaves no key for confirm, 5")
	_, err = New(Config{})
	require.EqualError(t, err, "keypad: no device is named")
}

func TestNamesOfDevicesAreCleaned(t *testing.T) {
	require.Equal(t, "USB Pad[2J", clean(" USB\x1b Pad[2J\x00\xff\n"))
	require.Len(t, clean(strings.Repeat("x", 300)), 80)
}
