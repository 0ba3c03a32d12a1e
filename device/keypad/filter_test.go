package keypad

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/keypad/entry"
)

// The codes of linux/input-event-codes.h that the tests use.
const (
	key5      = 6
	key0      = 11
	keyKP5    = 76
	backspace = 14
	enter     = 28
	keyQ      = 16 // nothing here
)

// pad plays contacts, in milliseconds.
type pad struct {
	f    *filter
	keys []entry.Key
}

func newPad() *pad { return &pad{f: newFilter(usual(), defaultBounce)} }

func (p *pad) event(ms int, kind, code uint16, value int32) (resync bool) {
	k, resync := p.f.feed(event{at: time.Hour + time.Duration(ms)*time.Millisecond, kind: kind, code: code, value: value}, time.Time{})
	if k != entry.None {
		p.keys = append(p.keys, k)
	}
	return resync
}

func (p *pad) down(ms int, code uint16)   { p.event(ms, 1, code, 1) }
func (p *pad) up(ms int, code uint16)     { p.event(ms, 1, code, 0) }
func (p *pad) repeat(ms int, code uint16) { p.event(ms, 1, code, 2) }

func TestAPressIsOneKey(t *testing.T) {
	p := newPad()
	p.down(0, key5)
	p.event(0, 4, 4, 0x7005d) // MSC_SCAN, which pads send along
	p.event(0, 0, 0, 0)
	p.up(80, key5)
	p.down(200, keyKP5)
	p.up(280, keyKP5)
	p.down(400, enter)
	p.down(430, key0) // before the other was released
	p.up(450, enter)
	p.up(490, key0)
	require.Equal(t, []entry.Key{entry.Digit(5), entry.Digit(5), entry.Confirm, entry.Digit(0)}, p.keys)
	require.Equal(t, counts{presses: 4}, p.f.counts)
}

func TestAHeldKeyIsOnePress(t *testing.T) {
	p := newPad()
	p.down(0, key5)
	for ms := 250; ms < 5000; ms += 33 {
		p.repeat(ms, key5)
	}
	p.up(5000, key5)
	require.Equal(t, []entry.Key{entry.Digit(5)}, p.keys)
	p.down(5200, enter)
	p.repeat(5450, enter)
	require.Equal(t, []entry.Key{entry.Digit(5), entry.Confirm}, p.keys)
}

func TestCorrectRepeatsWhileItIsHeld(t *testing.T) {
	p := newPad()
	p.down(0, backspace)
	p.repeat(250, backspace)
	p.repeat(283, backspace)
	p.repeat(290, backspace) // too soon for a repeat
	p.repeat(316, backspace)
	require.Len(t, p.keys, 4)
	p.repeat(9999, backspace)
	require.Len(t, p.keys, 5)
	for ms := 10_000; ms < 60_000; ms += 33 { // nobody holds it so long
		p.repeat(ms, backspace)
	}
	p.up(60_000, backspace)
	p.repeat(60_500, backspace) // released: nothing repeats
	require.Equal(t, []entry.Key{entry.Correct, entry.Correct, entry.Correct, entry.Correct, entry.Correct}, p.keys)
}

func TestABounceIsTheSamePress(t *testing.T) {
	p := newPad()
	p.down(0, key5)
	p.up(3, key5)
	p.down(5, key5)
	p.up(9, key5)
	p.down(12, key5) // the contact is still now
	p.up(120, key5)
	p.down(124, key5) // and bounces while it opens
	p.up(126, key5)
	require.Equal(t, []entry.Key{entry.Digit(5)}, p.keys)
	require.EqualValues(t, 3, p.f.counts.bounced)
	p.down(127, keyKP5) // another contact of the same digit is no bounce
	p.up(150, keyKP5)
	p.down(160, key5) // 34 ms after its last edge
	require.Equal(t, []entry.Key{entry.Digit(5), entry.Digit(5), entry.Digit(5)}, p.keys)
	p.down(161, key5) // down without having been up
	require.Len(t, p.keys, 3)
}

func TestABouncedCorrectStillRepeats(t *testing.T) {
	p := newPad()
	p.down(0, backspace)
	p.up(2, backspace)
	p.down(4, backspace)
	p.repeat(254, backspace)
	require.Equal(t, []entry.Key{entry.Correct, entry.Correct}, p.keys)
}

func TestTheKey00OfSomePads(t *testing.T) {
	press := func(p *pad) {
		p.down(0, key0)
		p.up(8, key0)
		p.down(16, key0)
		p.up(24, key0)
	}
	p := newPad()
	press(p)
	require.Len(t, p.keys, 1, "30 ms take it for a bounce")
	p = &pad{f: newFilter(usual(), 3*time.Millisecond)}
	press(p)
	require.Len(t, p.keys, 2)
}

// TestAStuckContactFloods: its first presses cannot be told from a person's; then there is a Gap, which voids them, and no more.
func TestAStuckContactFloods(t *testing.T) {
	p := newPad()
	for ms := 0; ms < 600_000; ms += 50 {
		p.down(ms, key5)
		p.up(ms+5, key5)
	}
	want := []entry.Key{}
	for range 8 {
		want = append(want, entry.Digit(5))
	}
	require.Equal(t, append(want, entry.Gap), p.keys)
	require.EqualValues(t, 8, p.f.counts.presses)
	require.EqualValues(t, 12_000-8, p.f.counts.flooded)
}

func TestTheOtherKeysWorkBesideAStuckOne(t *testing.T) {
	p := newPad()
	for ms := 0; ms < 2000; ms += 100 {
		p.down(ms, key5)
		p.up(ms+50, key5)
	}
	p.keys = nil
	p.down(2000, enter)
	p.up(2080, enter)
	p.down(2100, key5)
	p.up(2150, key5)
	require.Equal(t, []entry.Key{entry.Confirm}, p.keys)
	p.down(3200, key5) // quiet for a second: it counts again
	require.Equal(t, []entry.Key{entry.Confirm, entry.Digit(5)}, p.keys)
}

func TestAFastPersonIsNoFlood(t *testing.T) {
	p := newPad()
	for i := range 40 { // 7 a second, of one key
		p.down(i*143, key0)
		p.up(i*143+70, key0)
	}
	require.Len(t, p.keys, 40)
	require.Zero(t, p.f.counts.flooded)
}

// TestDroppedEvents: between SYN_DROPPED and the end of its packet nothing counts, and a contact that closed unseen is no press.
func TestDroppedEvents(t *testing.T) {
	p := newPad()
	p.down(0, backspace)
	require.False(t, p.event(100, 0, 3, 0))
	p.down(100, key5)
	p.up(110, key5)
	p.down(120, enter)
	require.True(t, p.event(120, 0, 0, 0))
	require.Equal(t, []entry.Key{entry.Correct}, p.keys)
	require.EqualValues(t, 1, p.f.counts.overflows)

	closed := &bits{}
	closed[enter/8] |= 1 << (enter % 8)
	closed[backspace/8] |= 1 << (backspace % 8)
	p.f.resync(closed, time.Time{})
	p.down(200, enter) // it was down already
	p.repeat(450, enter)
	p.repeat(450, backspace) // whether it was released between is not known
	p.up(500, enter)
	p.up(500, backspace)
	require.Equal(t, []entry.Key{entry.Correct}, p.keys, "nothing is invented")
	p.down(600, enter)
	p.down(700, key5)
	require.Equal(t, []entry.Key{entry.Correct, entry.Confirm, entry.Digit(5)}, p.keys)
}

func TestAClockThatGoesBackLosesNothing(t *testing.T) {
	p := newPad()
	p.down(10_000, key5)
	p.up(10_080, key5)
	p.down(-3_000_000, key5)
	p.up(-2_999_920, key5)
	require.Equal(t, []entry.Key{entry.Digit(5), entry.Digit(5)}, p.keys)
}

func TestKeysThatAreNothingHere(t *testing.T) {
	p := newPad()
	p.down(0, keyQ)
	p.repeat(250, keyQ)
	p.up(300, keyQ)
	p.event(400, 2, 0, 5)      // REL_X of a mouse
	p.event(400, 1, key5, 7)   // no value of a key
	p.event(400, 1, 0xffff, 1) // no code at all
	require.Empty(t, p.keys)
	require.Equal(t, counts{unknown: 2, unknownCode: 0xffff}, p.f.counts)
	require.True(t, p.f.held().IsZero())
}
