package prompts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/device/keypad/entry"
	"posagent/schemes/methods"
)

// Wanted is what a person is asked for.
type Wanted string

// What can be asked for, in this order.
const (
	Method   Wanted = "method"   // which of several
	Amount   Wanted = "amount"   // where the register named none
	Consumer Wanted = "consumer" // id, number or code of who pays
	Prompted Wanted = "prompt"   // what the method asks (S1 2.5, queries)
)

// question is one of them.
type question struct {
	wanted Wanted
	prompt methods.Prompt // of Prompted
	typing entry.Prompt   // of all but Method
}

// mostAmount is the largest amount a sale may have, in minor units (drive).
const mostAmount = entry.MaxAmount

// errUnasked is the error of a dialogue that ends without an answer, as is drive.ErrCancelled.
var errUnasked = errors.New("cannot be asked at this terminal")

// dialogue is what is asked of one sale. It does no I/O and has no clock.
type dialogue struct {
	q       drive.Question
	pick    checkout.Pick
	todo    []question
	at      int // in todo; len(todo) = answered
	page    int // of the methods
	typing  *entry.Entry
	touched bool // a key was pressed
	answer  drive.Answer
	err     error // the dialogue has ended without an answer
}

// perPage is how many methods one page of the choice has: a digit key each.
const perPage = 9

// newDialogue begins with the first question that is open.
func newDialogue(q drive.Question) *dialogue {
	d := &dialogue{q: q, pick: q.Offers[0]}
	d.answer.Answers = map[int32]string{}
	if len(q.Offers) > 1 {
		d.todo = []question{{wanted: Method}}
	} else {
		d.choose(q.Offers[0])
	}
	d.open()
	return d
}

// choose plans what has to be asked once the method is known.
func (d *dialogue) choose(p checkout.Pick) {
	d.pick, d.answer.Method, d.answer.Trigger = p, p.Method.Name, p.Trigger
	if d.q.NeedAmount {
		d.todo = append(d.todo, question{wanted: Amount, typing: entry.Prompt{Kind: entry.Amount, Min: 1, Max: mostAmount}})
	}
	own, shared := p.ConsumerPrompt()
	if p.AsksConsumer() {
		d.todo = append(d.todo, question{wanted: Consumer, typing: entry.Prompt{Kind: entry.Digits, Min: 1, Max: entry.MaxDigits}})
	}
	for _, a := range p.Open() {
		least := int64(a.Min)
		if shared && a.ID == own.ID {
			least = max(1, least)
		}
		d.todo = append(d.todo, question{wanted: Prompted, prompt: a, typing: entry.Prompt{
			Kind: entry.Digits, Min: least, Max: min(int64(a.Max), entry.MaxDigits),
		}})
	}
}

// ended says that nothing is asked any more.
func (d *dialogue) ended() bool { return d.err != nil || d.at == len(d.todo) }

// open begins the question that is next.
func (d *dialogue) open() {
	d.typing = nil
	if d.ended() || d.todo[d.at].wanted == Method {
		return
	}
	e, err := entry.New(d.todo[d.at].typing)
	if err != nil {
		d.err = fmt.Errorf("%s %s: %w: %w", d.pick.Method.Name, d.todo[d.at].prompt.Label, errUnasked, err)
		return
	}
	d.typing = e
}

// press takes a key. After the end it does nothing.
func (d *dialogue) press(k entry.Key) {
	d.touched = true
	switch {
	case d.ended():
	case d.typing == nil:
		d.pressChoice(k)
	case k == entry.Correct && d.empty():
		d.back()
	default:
		d.typing.Press(k)
		d.follow()
	}
}

func (d *dialogue) empty() bool {
	v := d.typing.View()
	return v.Text == "" && v.Minor == 0
}

// follow goes on where the entry has ended.
func (d *dialogue) follow() {
	switch d.typing.View().Phase {
	case entry.Accepted:
		v, _ := d.typing.Take()
		switch q := d.todo[d.at]; q.wanted {
		case Amount:
			d.answer.Amount = v.Minor
		case Consumer:
			d.answer.ConsumerID = string(v.Digits)
		case Prompted:
			d.answer.Answers[q.prompt.ID] = string(v.Digits)
		}
		v.Wipe()
		d.at++
		d.open()
	case entry.Typing:
	default:
		d.err = drive.ErrCancelled
	}
}

// back asks the question before again. The first one stays.
func (d *dialogue) back() {
	if d.at == 0 {
		return
	}
	if d.at--; d.todo[d.at].wanted == Method {
		d.todo = d.todo[:1]
		d.answer = drive.Answer{Answers: map[int32]string{}}
	}
	d.open()
}

// pages is how many pages the choice has.
func (d *dialogue) pages() int { return (len(d.q.Offers) + perPage - 1) / perPage }

// listed are the methods of the page.
func (d *dialogue) listed() []checkout.Pick {
	first := d.page * perPage
	return d.q.Offers[first:min(first+perPage, len(d.q.Offers))]
}

func (d *dialogue) pressChoice(k entry.Key) {
	list := d.listed()
	n, digit := k.Digit()
	switch {
	case k == entry.Cancel:
		d.err = drive.ErrCancelled
	case k == entry.Up:
		d.page = max(0, d.page-1)
	case k == entry.Down:
		d.page = min(d.pages()-1, d.page+1)
	case k == entry.Confirm && d.page == d.q.Default/perPage:
		d.take(d.q.Offers[d.q.Default])
	case k == entry.Confirm:
		d.take(list[0])
	case digit && slices.Contains(digitsOf(list), n):
		d.take(list[slices.Index(digitsOf(list), n)])
	case !digit:
		if p, ok := d.shortcut(k); ok {
			d.take(p)
		}
	}
}

func (d *dialogue) take(p checkout.Pick) {
	d.choose(p)
	d.at++
	d.open()
}

// takeDefault answers with the default where nobody has pressed a key. It does nothing where the default asks for more.
func (d *dialogue) takeDefault() {
	p := d.q.Offers[d.q.Default]
	if d.touched || d.ended() || d.typing != nil || d.q.NeedAmount || p.Asks() {
		return
	}
	d.take(p)
}

// shortcut finds the one method whose shortcut key (S1 2.5, triggerParams) is k.
func (d *dialogue) shortcut(k entry.Key) (found checkout.Pick, ok bool) {
	for _, p := range d.q.Offers {
		if s, has := shortcutOf(p.Method); has && s == k {
			if ok {
				return checkout.Pick{}, false // two methods have it
			}
			found, ok = p, true
		}
	}
	return found, ok
}

// shortcutOf is the function key that picks a method, where it has one.
func shortcutOf(d methods.Definition) (entry.Key, bool) {
	k := keyOf(d)
	return k, k >= entry.F1 && k <= entry.F12
}

// keyOf is a method's shortcut key (S1 2.5, triggerParams), entry.None where a pad has no such key.
func keyOf(d methods.Definition) entry.Key {
	if d.TriggerParams == nil || d.TriggerParams.Qr == nil {
		return entry.None
	}
	k, err := entry.Parse(strings.ToLower(strings.TrimSpace(d.TriggerParams.Qr.ShortcutKey)))
	if err != nil {
		return entry.None
	}
	return k
}

// digitsOf are the digits that take the methods of a page: the one that is a method's shortcut key, and for the others those that are
// free, in order. Of two with one digit the first has it.
func digitsOf(list []checkout.Pick) []int {
	digits := make([]int, len(list))
	for i, p := range list {
		if n, ok := keyOf(p.Method).Digit(); ok && n >= 1 && !slices.Contains(digits, n) {
			digits[i] = n
		}
	}
	next := 1
	for i := range digits {
		for digits[i] == 0 {
			if !slices.Contains(digits, next) {
				digits[i] = next
			}
			next++
		}
	}
	return digits
}
