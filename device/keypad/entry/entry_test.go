package entry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func typing(t *testing.T, p Prompt, digits string) *Entry {
	t.Helper()
	e, err := New(p)
	require.NoError(t, err)
	for _, d := range digits {
		e.Press(Digit(int(d - '0')))
	}
	return e
}

func TestAmountIsTypedInMinorUnits(t *testing.T) {
	e := typing(t, Prompt{Kind: Amount, Min: 100, Max: 99_999}, "")
	for _, step := range []struct {
		key   Key
		minor int64
		note  Note
	}{
		{Digit(0), 0, Fine}, // a leading zero is nothing
		{Digit(1), 1, Fine},
		{Confirm, 1, TooSmall},
		{Digit(2), 12, Fine},
		{Digit(5), 125, Fine},
		{Digit(0), 1250, Fine},
		{Digit(0), 12_500, Fine},
		{Digit(0), 12_500, TooLarge}, // 125000 is above the maximum
		{Correct, 1250, Fine},
		{Confirm, 0, Fine}, // accepted: the view shows nothing any more
	} {
		e.Press(step.key)
		require.Equal(t, step.minor, e.View().Minor)
		require.Equal(t, step.note, e.View().Note)
		require.Empty(t, e.View().Text)
	}
	v, ok := e.Take()
	require.True(t, ok)
	require.EqualValues(t, 1250, v.Minor)
	require.Nil(t, v.Digits)
}

func TestTheLargestAmount(t *testing.T) {
	e := typing(t, Prompt{Kind: Amount, Min: 1, Max: MaxAmount}, "9999999999999999999999999999")
	require.Equal(t, int64(999_999_999_999), e.View().Minor)
	require.Equal(t, TooLarge, e.View().Note)
	e.Press(Confirm)
	v, ok := e.Take()
	require.True(t, ok)
	require.Equal(t, int64(999_999_999_999), v.Minor)
}

func TestLeadingZerosOfAnIdCount(t *testing.T) {
	e := typing(t, Prompt{Min: 4, Max: 4}, "0041")
	e.Press(Confirm)
	v, ok := e.Take()
	require.True(t, ok)
	require.Equal(t, []byte("0041"), v.Digits)
	require.Zero(t, v.Minor)
}

func TestNothingMayBeAnAnswer(t *testing.T) {
	e := typing(t, Prompt{Min: 0, Max: 8}, "")
	e.Press(Confirm)
	v, ok := e.Take()
	require.True(t, ok)
	require.Equal(t, []byte{}, v.Digits)
}

func TestMaskedDigitsAreNotShown(t *testing.T) {
	e := typing(t, Prompt{Min: 1, Max: 8, Mask: true}, "4711")
	require.Equal(t, "****", e.View().Text)
	e.Press(Confirm)
	v, _ := e.Take()
	require.Equal(t, []byte("4711"), v.Digits)
}

// TestWhatWasTypedIsOverwritten: taken, cancelled, timed out, lost.
func TestWhatWasTypedIsOverwritten(t *testing.T) {
	for name, finish := range map[string]func(e *Entry){
		"cancelled": func(e *Entry) { e.Press(Cancel) },
		"timed out": func(e *Entry) { e.Expire() },
		"lost keys": func(e *Entry) { e.Press(Gap) },
		"taken":     func(e *Entry) { e.Press(Confirm); e.Take() },
		"corrected": func(e *Entry) {
			for range 4 {
				e.Press(Correct)
			}
		},
	} {
		e := typing(t, Prompt{Min: 1, Max: 8}, "4711")
		require.Equal(t, byte('4'), e.typed[0])
		finish(e)
		require.Equal(t, [MaxDigits]byte{}, e.typed, name)
		require.Zero(t, e.n, name)
	}
	for name, finish := range map[string]func(e *Entry){
		"cancelled": func(e *Entry) { e.Press(Cancel) },
		"taken":     func(e *Entry) { e.Press(Confirm); e.Take() },
	} {
		e := typing(t, Prompt{Kind: Amount, Min: 1, Max: 9999}, "4711")
		finish(e)
		require.Zero(t, e.minor, name)
	}
}

func TestAValueIsTakenOnce(t *testing.T) {
	e := typing(t, Prompt{Min: 1, Max: 8}, "4711")
	_, ok := e.Take()
	require.False(t, ok, "not accepted yet")
	e.Press(Confirm)
	v, ok := e.Take()
	require.True(t, ok)
	again, ok := e.Take()
	require.False(t, ok)
	require.Nil(t, again.Digits)
	digits := v.Digits
	v.Wipe()
	require.Equal(t, []byte{0, 0, 0, 0}, digits)
	require.Nil(t, v.Digits)
}

func TestNothingPrintsWhatWasTyped(t *testing.T) {
	e := typing(t, Prompt{Min: 1, Max: 8}, "4711")
	var log bytes.Buffer
	text, data := slog.New(slog.NewTextHandler(&log, nil)), slog.New(slog.NewJSONHandler(&log, nil))
	all := []any{e, *e, Digit(4), []Key{Digit(4), Digit(7)}}
	e2 := typing(t, Prompt{Min: 1, Max: 8}, "4711")
	e2.Press(Confirm)
	v, ok := e2.Take()
	require.True(t, ok)
	for _, one := range append(all, v, &v) {
		for _, verb := range []string{"%v", "%+v", "%s", "%q"} {
			fmt.Fprintf(&log, verb+"\n", one)
		}
		text.Info("key", "what", one)
		data.Info("key", "what", one)
		out, err := json.Marshal(one)
		require.NoError(t, err)
		log.Write(out)
	}
	fmt.Fprintf(&log, "%#v %#v", v, e)
	require.NotContains(t, log.String(), "4711")
	require.NotContains(t, log.String(), "52 55 49 49", "the bytes of it, as decimals")
	require.NotContains(t, log.String(), "NDcxMQ", "the bytes of it, in base64")
	require.NotContains(t, log.String(), `x05`, "the number of a key")
	require.Contains(t, log.String(), "[digit digit]")
}

func TestPromptsThatNoValueSatisfies(t *testing.T) {
	for _, p := range []Prompt{
		{Kind: Digits},
		{Kind: Digits, Min: -1, Max: 4},
		{Kind: Digits, Min: 5, Max: 4},
		{Kind: Digits, Min: 1, Max: 256},
		{Kind: Amount},
		{Kind: Amount, Min: 0, Max: 10},
		{Kind: Amount, Min: 11, Max: 10},
		{Kind: Amount, Min: 1, Max: 1_000_000_000_000},
		{Kind: Amount, Min: 1, Max: 10, Mask: true},
		{Kind: 2, Min: 1, Max: 10},
	} {
		_, err := New(p)
		require.Error(t, err, "%+v", p)
	}
	_, err := New(Prompt{Min: 1, Max: 256})
	require.EqualError(t, err, "prompt for 1 to 256 digits: want 0 or more, and at most 255")
}

func TestNamesOfKeys(t *testing.T) {
	for name, want := range map[string]Key{
		"0": Digit(0), "9": Digit(9), "correct": Correct, "confirm": Confirm, "cancel": Cancel, "up": Up, "down": Down,
		"f1": F1, "f2": F1 + 1, "f12": F12, "none": None,
	} {
		k, err := Parse(name)
		require.NoError(t, err)
		require.Equal(t, want, k, name)
		if _, digit := k.Digit(); !digit {
			require.Equal(t, name, k.String())
		}
	}
	for _, name := range []string{"", "gap", "F1", "f0", "f13", "f01", "f+1", "10", "enter", "digit", "unknown", "０"} {
		_, err := Parse(name)
		require.ErrorContains(t, err, "is no key: want 0 to 9", name)
	}
	require.Equal(t, None, Digit(-1))
	require.Equal(t, None, Digit(10))
	require.Equal(t, "unknown", Key(200).String())
	require.Len(t, map[Key]bool{None: true, Digit0: true, Digit9: true, Correct: true, Confirm: true, Cancel: true, Up: true, Down: true, F1: true, F12: true, Gap: true}, 11)
}

// TestAnyKeys presses anything: what is accepted is what a person saw, and within the bounds.
func TestAnyKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(0, 6).Draw(t, "min")
		p := Prompt{Min: low, Max: rapid.Int64Range(max(low, 1), 8).Draw(t, "max")}
		e, err := New(p)
		require.NoError(t, err)
		seen, ended := "", false
		for _, k := range rapid.SliceOfN(rapid.Uint16Range(0, 40), 0, 60).Draw(t, "keys") {
			before := e.View()
			e.Press(Key(k))
			v := e.View()
			if ended {
				require.Equal(t, before, v, "nothing changes after the end")
			}
			if v.Phase == Typing {
				seen = v.Text
				require.LessOrEqual(t, int64(len(seen)), p.Max)
			} else {
				ended = true
			}
		}
		v, ok := e.Take()
		require.Equal(t, e.View().Phase == Accepted, ok)
		if ok {
			require.Equal(t, seen, string(v.Digits))
			require.GreaterOrEqual(t, int64(len(v.Digits)), p.Min)
		}
	})
}
