package entry

import (
	"fmt"
	"io"
	"strings"
)

// Kind is what is typed.
type Kind uint8

// The kinds.
const (
	Digits Kind = iota // an id: leading zeros count
	Amount             // minor units of a currency
)

// Limits of a prompt.
const (
	MaxDigits = 255             // what S1 2.4 allows a consumerId to be
	MaxAmount = 999_999_999_999 // minor units; what a register can ask for
)

// Prompt is what has to be typed.
type Prompt struct {
	Kind     Kind
	Min, Max int64 // Digits: how many; Amount: how much, in minor units
	Mask     bool  // the view shows stars; Digits only
}

// Note says why the last key did not do what was meant.
type Note uint8

// The notes.
const (
	Fine     Note = iota
	TooShort      // confirmed with fewer digits than Min
	TooLong       // a digit more than Max was not taken
	TooSmall      // confirmed with an amount below Min
	TooLarge      // a digit that would take the amount above Max was not taken
	Lost          // keys were lost: all of it has to be typed again
)

// View is what a screen shows of an entry.
type View struct {
	Phase Phase
	Text  string // Digits: what was typed, or stars; "" once it has ended
	Minor int64  // Amount: what was typed; 0 once it has ended
	Note  Note
}

// Value is what was typed and accepted. Its owner wipes it after use.
type Value struct {
	Digits []byte
	Minor  int64
}

// Wipe overwrites the value.
func (v *Value) Wipe() {
	clear(v.Digits)
	*v = Value{}
}

// Format implements fmt.Formatter: it never prints what was typed.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "typed") }

// MarshalText implements encoding.TextMarshaler, which loggers and JSON follow: it never writes what was typed.
func (v Value) MarshalText() ([]byte, error) { return []byte("typed"), nil }

// Entry is one value on its way.
type Entry struct {
	prompt Prompt
	phase  Phase
	note   Note
	typed  [MaxDigits]byte
	n      int
	minor  int64
	taken  bool
}

// New returns an empty entry. It fails when no value could satisfy the prompt.
func New(p Prompt) (*Entry, error) {
	switch {
	case p.Kind == Digits && (p.Min < 0 || p.Max < 1 || p.Min > p.Max || p.Max > MaxDigits):
		return nil, fmt.Errorf("prompt for %d to %d digits: want 0 or more, and at most %d", p.Min, p.Max, MaxDigits)
	case p.Kind == Amount && (p.Min < 1 || p.Min > p.Max || p.Max > MaxAmount):
		return nil, fmt.Errorf("prompt for an amount of %d to %d: want 1 or more, and at most %d", p.Min, p.Max, int64(MaxAmount))
	case p.Kind == Amount && p.Mask:
		return nil, fmt.Errorf("prompt for a masked amount: an amount is seen before it is paid")
	case p.Kind > Amount:
		return nil, fmt.Errorf("prompt of unknown kind %d", p.Kind)
	}
	return &Entry{prompt: p}, nil
}

// Press is a key of a person, or Gap.
func (e *Entry) Press(k Key) { e.step(eventOf(k), k) }

// Expire ends the entry: nothing was pressed for too long, or who asked does not wait any more.
func (e *Entry) Expire() { e.step(timeout, None) }

func (e *Entry) step(ev event, k Key) {
	if e.phase != Typing {
		return
	}
	s := table[ev]
	if s.do != ignore {
		e.note = Fine
	}
	switch s.do {
	case add:
		e.add(k)
	case remove:
		e.remove()
	case accept:
		if e.note = e.missing(); e.note != Fine {
			return
		}
	case restart:
		e.wipe()
		e.note = Lost
	case end:
		e.wipe()
	}
	e.phase = s.to
}

func (e *Entry) add(k Key) {
	d, _ := k.Digit()
	switch {
	case e.prompt.Kind == Amount:
		more := e.minor*10 + int64(d) // at most 10^13
		if more > e.prompt.Max {
			e.note = TooLarge
			return
		}
		e.minor = more
	case int64(e.n) == e.prompt.Max:
		e.note = TooLong
	default:
		e.typed[e.n] = '0' + byte(d)
		e.n++
	}
}

func (e *Entry) remove() {
	e.minor /= 10
	if e.n > 0 {
		e.n--
		e.typed[e.n] = 0
	}
}

// missing says why the value cannot be accepted.
func (e *Entry) missing() Note {
	switch {
	case e.prompt.Kind == Amount && e.minor < e.prompt.Min:
		return TooSmall
	case e.prompt.Kind == Digits && int64(e.n) < e.prompt.Min:
		return TooShort
	}
	return Fine
}

func (e *Entry) wipe() {
	clear(e.typed[:])
	e.n, e.minor = 0, 0
}

// View returns what a screen shows now.
func (e *Entry) View() View {
	v := View{Phase: e.phase, Note: e.note}
	switch {
	case e.phase != Typing:
	case e.prompt.Mask:
		v.Text = strings.Repeat("*", e.n)
	default:
		v.Text, v.Minor = string(e.typed[:e.n]), e.minor
	}
	return v
}

// Take returns what was accepted and wipes the entry's own copy. It returns false before the entry was accepted, and the
// second time.
func (e *Entry) Take() (Value, bool) {
	if e.phase != Accepted || e.taken {
		return Value{}, false
	}
	v := Value{Minor: e.minor}
	if e.prompt.Kind == Digits {
		v.Digits = append([]byte{}, e.typed[:e.n]...)
	}
	e.taken = true
	e.wipe()
	return v, true
}

// Format implements fmt.Formatter: it never prints what was typed.
func (e Entry) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "entry") }
