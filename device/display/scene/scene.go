package scene

import (
	"fmt"
	"image/color"
	"strings"
	"time"
	"unicode/utf8"

	"posagent/device/qr"
)

// Kind is what a screen is for at the moment.
type Kind uint8

// The kinds. A scene with a code that names no kind is of kind Code.
const (
	Message      Kind = iota // title, amount and text alone; the zero Scene is an empty screen
	Idle                     // a sale may begin
	Choice                   // the customer picks one of Options by its number
	Prompt                   // the customer types Entry
	Code                     // the customer scans the code; without one, it is no longer valid
	Waiting                  // the customer's app is awaited
	Paid                     // the sale ended, and the money moved
	NotPaid                  // the sale ended, and no money moved; Reason says how
	NoConnection             // the backend does not answer
	NotReady                 // no sale may begin; Text says why
	Moment                   // a sale begins, or its end is being asked for
	Starting                 // whether a sale may begin is not known yet
	kinds                    // how many there are
)

// Kinds are all kinds, for tests and pictures of every screen.
func Kinds() []Kind {
	list := make([]Kind, kinds)
	for i := range list {
		list[i] = Kind(i)
	}
	return list
}

// String returns the kind's name in a file name.
func (k Kind) String() string {
	names := [kinds]string{"message", "idle", "choice", "prompt", "code", "waiting", "paid", "not-paid", "no-connection", "not-ready", "moment", "starting"}
	if k >= kinds {
		return fmt.Sprintf("kind-%d", uint8(k))
	}
	return names[k]
}

// Reason is how a sale ended that was not paid.
type Reason uint8

// The reasons.
const (
	Unsaid Reason = iota
	Declined
	Cancelled
)

// MaxOptions is how many methods one choice shows: one key each. A caller with more shows them in turn.
const MaxOptions = 9

// Wanted is what is asked for where the scene has words of its own for it.
type Wanted uint8

// What can be asked for.
const (
	Labelled Wanted = iota // Entry.Label says it
	Consumer               // a number or code of who pays
	Sum                    // the amount
)

// Fault is what is wrong with what was typed.
type Fault uint8

// The faults.
const (
	NoFault   Fault = iota
	TooFew          // digits
	TooLittle       // of an amount
	TooMuch
	Again // it was lost and has to be typed again
)

// Entry is what is being typed.
type Entry struct {
	Wanted   Wanted
	Label    string // what is asked for, of Labelled
	Typed    string // so far, as it is shown; of a masked entry its length alone is used
	Min, Max int    // how many digits are wanted; 0 = not said
	Masked   bool   // bystanders must not read it
	Fault    Fault
}

// Origin is what a scene comes from, for a screen that has keys of its own. It is never drawn.
type Origin struct {
	Sale  string // Key of the payment that a person may cancel, or for which something is asked; "" = none
	Turn  uint64 // of the dialogue that asks; 0 = none does
	Pages int    // of a choice; below 2 there is nothing to turn
	// Answer says that a Message is answered by Confirm, Correct or Cancel.
	Answer bool
}

// Scene is all that stands on a screen. The zero value is an empty screen.
type Scene struct {
	Kind       Kind
	Title      string    // the method's label, or the merchant's name
	Amount     string    // as people read it, e.g. "12.50 EUR"
	Text       string    // what is going on, below the kind's own words
	PushText   string    // the method's own line to the customer (S1 2.5)
	Reason     Reason    // of NotPaid
	Options    []string  // of Choice: their labels, number 1 first, MaxOptions at most; "" = that number takes nothing
	Entry      Entry     // of Prompt
	Code       *qr.Code  // nil = no code on the screen
	From       time.Time // when the code came up; zero = no bar beside the countdown
	Until      time.Time // the code is taken off at this time; zero = no limit
	Background string    // #rgb or #rrggbb; anything else is ignored
	Sandbox    bool      // no real money: says so
	Language   string    // of our own words: the terminal's, like "de" or "de-CH"
	Chosen     string    // of the customer's choice, where one was made; it goes before Language
	Of         Origin
}

// At returns the scene as it stands at now: without a code that is no longer valid or has no place in it.
func (s Scene) At(now time.Time) Scene {
	if s.Kind == Message && s.Code != nil {
		s.Kind = Code
	}
	if s.Kind != Code || !s.Until.IsZero() && !now.Before(s.Until) {
		s.Code = nil
	}
	return s
}

// Part returns how much of the code's time is left, in thousandths; ok is false where it is not known.
func (s Scene) Part(now time.Time) (part int, ok bool) {
	total := s.Until.Sub(s.From)
	if s.Code == nil || s.From.IsZero() || s.Until.IsZero() || total <= 0 {
		return 0, false
	}
	left := min(max(0, s.Until.Sub(now)), total)
	return int(1000 * left.Milliseconds() / max(1, total.Milliseconds())), true
}

// Texts are the words of a scene in its language, clean, in the order in which they stand. Empty ones are left out.
type Texts struct {
	Banner   string // SANDBOX
	Title    string
	Amount   string // the number, a space, the currency; other spaces in it do not break a line
	Note     string // what the method asks the customer to do
	Label    string // of the value that is typed
	Value    string // what is typed, or a dot for each character of it, and a line where the next one comes
	Hint     string // how many digits are wanted, or what is wrong
	Options  []string
	Valid    string // how long the code is valid
	Room     string // as wide as Valid gets, with as many words: a place for it does not move while it counts down
	Headline string // what the kind says
	Detail   string
	TooSmall string // in place of a code that does not fit
}

// Texts returns the words of a scene that At returned. Without seconds they do not change as time passes.
func (s Scene) Texts(now time.Time, seconds bool) Texts {
	own := s.words()
	t := Texts{Title: Clean(s.Title), Amount: amount(s.Amount), Detail: Clean(s.Text), Note: Clean(s.PushText), TooSmall: own[tooSmall]}
	if s.Sandbox {
		t.Banner = own[sandbox]
	}
	switch s.Kind {
	case Idle:
		t.Headline = own[ready]
	case Choice:
		t.Headline = own[choose]
		for _, o := range s.Options[:min(len(s.Options), MaxOptions)] {
			t.Options = append(t.Options, Clean(o))
		}
	case Prompt:
		t.Label, t.Value, t.Hint = s.Entry.label(own), s.Entry.value(), s.Entry.hint(own)
	case Code:
		if s.Code == nil {
			t.Headline, t.Detail, t.Note = own[expired], own[ifScanned], ""
			break
		}
		t.Valid, t.Room = s.valid(own, now, seconds)
		if t.Note == "" && t.Detail == "" {
			t.Note = own[scan]
		}
	case Moment:
		t.Headline = own[moment]
	case Starting:
		t.Headline = own[starting]
	case Waiting:
		t.Headline = own[confirm]
	case Paid:
		t.Headline = own[paid]
	case NotPaid:
		t.Headline = own[notPaid]
		if why := [...]word{Declined: declined, Cancelled: cancelled}; t.Detail == "" && s.Reason > Unsaid && int(s.Reason) < len(why) {
			t.Detail = own[why[s.Reason]]
		}
	case NoConnection:
		t.Headline = own[noConnection]
		if t.Detail == "" {
			t.Detail = own[notNow]
		}
	case NotReady:
		t.Headline = own[notReady]
		if t.Detail == "" {
			t.Detail = own[notNow]
		}
	}
	return t
}

// amount cleans an amount and keeps its number in one piece.
func amount(s string) string {
	s = Clean(s)
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s
	}
	return strings.ReplaceAll(s[:i], " ", "\u00a0") + s[i:]
}

// label says what is asked for.
func (e Entry) label(own *[wordCount]string) string {
	switch e.Wanted {
	case Consumer:
		return own[number]
	case Sum:
		return own[sum]
	}
	return Clean(e.Label)
}

// maxTyped is how much of a value is shown: the end of a longer one.
const maxTyped = 64

// value is what a screen shows of an entry.
func (e Entry) value() string {
	shown := Clean(e.Typed)
	n := utf8.RuneCountInString(shown)
	if e.Masked {
		shown = strings.Repeat("•", n)
	}
	if n > maxTyped {
		shown = "…" + string([]rune(shown)[n-maxTyped:])
	}
	if e.Max <= 0 || n < e.Max {
		shown += "_"
	}
	return shown
}

// hint says what is wrong with what was typed, and how many digits are wanted.
func (e Entry) hint(own *[wordCount]string) string {
	wrong := [...]word{TooFew: tooFew, TooLittle: tooLittle, TooMuch: tooMuch, Again: again}
	count := ""
	switch {
	case e.Max <= 0 || e.Min > e.Max:
	case e.Min == e.Max:
		count = fmt.Sprintf("%s: %d", own[digits], e.Max)
	case e.Min <= 1:
		count = fmt.Sprintf("%s: 1-%d", own[digits], e.Max)
	default:
		count = fmt.Sprintf("%s: %d-%d", own[digits], e.Min, e.Max)
	}
	switch {
	case e.Fault == NoFault || int(e.Fault) >= len(wrong):
		return count
	case count == "":
		return own[wrong[e.Fault]]
	}
	return own[wrong[e.Fault]] + ". " + count
}

// valid says how long the code is valid: "valid for 27 s". It names no time of day: the box's clock may be
// wrong, and the customer has one of their own.
func (s Scene) valid(own *[wordCount]string, now time.Time, seconds bool) (says, room string) {
	switch {
	case s.Code == nil || s.Until.IsZero():
		return "", ""
	case !seconds:
		return own[valid], ""
	}
	n := (s.Until.Sub(now) + time.Second - 1) / time.Second
	text := func(n time.Duration) string { return fmt.Sprintf(own[validFor], fmt.Sprintf("%d s", n)) }
	return text(n), text(max(n, 999))
}

// Ground is the colour behind the texts: the method's own, else white.
func (s Scene) Ground() color.RGBA {
	if c, ok := Color(s.Background); ok {
		return c
	}
	return color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
}
