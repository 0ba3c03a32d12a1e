package counter

import (
	"posagent/device/keypad/entry"
)

// Face is what a screen shows of a dialogue. Words are the screen's, except the labels, which are
// the backend's.
type Face struct {
	Wanted   Wanted
	Sale     string // the sale's Key
	Method   string // label of the method, once it is known
	Amount   int64  // of the sale, in minor units; 0 = it is asked for, or will be
	Currency string

	// Of a choice.
	Items       []Item
	Page, Pages int // from 0

	// Of what is typed.
	Label    string     // of a prompt, the backend's
	Text     string     // as typed so far, or stars
	Minor    int64      // of an amount
	Min, Max int64      // digits, or minor units
	Note     entry.Note // why the last key did not do what was meant
	Back     bool       // the correction key, on nothing typed, asks the question before again
}

// Item is a method in a choice.
type Item struct {
	Key      int    // the digit that takes it
	Shortcut string // "f1", where it has one
	Label    string
}

// face is what is asked now.
func (d *dialogue) face() Face {
	f := Face{Sale: d.q.Sale, Amount: d.q.Amount, Currency: d.q.Currency}
	if d.ended() {
		return f
	}
	q := d.todo[d.at]
	f.Wanted = q.wanted
	if q.wanted == Method {
		f.Page, f.Pages = d.page, d.pages()
		digits := digitsOf(d.listed())
		for i, p := range d.listed() {
			it := Item{Key: digits[i], Label: p.Method.Label}
			if k, ok := shortcutOf(p.Method); ok {
				it.Shortcut = k.String()
			}
			f.Items = append(f.Items, it)
		}
		return f
	}
	f.Method = d.pick.Method.Label
	if f.Amount == 0 {
		f.Amount = d.answer.Amount
	}
	v := d.typing.View()
	f.Label, f.Text, f.Minor, f.Note = q.prompt.Label, v.Text, v.Minor, v.Note
	f.Min, f.Max, f.Back = q.typing.Min, q.typing.Max, d.at > 0
	return f
}
