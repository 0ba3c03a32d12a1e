package prompts

import (
	"slices"

	"posagent/agent/checkout"
	"posagent/device/keypad/entry"
	"posagent/ecr"
)

// Face is what a screen shows of a dialogue. Words are the screen's, except the labels, which are
// the backend's.
type Face struct {
	Wanted   Wanted
	Sale     string // the sale's Key
	Kind     ecr.Kind
	Turn     uint64 // of the counter: each key that is pressed is one, and each question; from 1
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
	Label    string // of the method, with how it is started where it is listed twice
	Default  bool   // Confirm takes it
}

// labelOf names a pick; of a method that is offered twice, by code and by hand, it says which in a way that no language needs.
func (d *dialogue) labelOf(p checkout.Pick) string {
	twice := slices.ContainsFunc(d.q.Offers, func(o checkout.Pick) bool { return o.Method.Name == p.Method.Name && o.Trigger != p.Trigger })
	switch {
	case !twice:
		return p.Method.Label
	case p.Manual():
		return p.Method.Label + " (123)"
	}
	return p.Method.Label + " (QR)"
}

// face is what is asked now.
func (d *dialogue) face() Face {
	f := Face{Sale: d.q.Sale, Kind: d.q.Kind, Amount: d.q.Amount, Currency: d.q.Currency}
	if d.ended() {
		return f
	}
	q := d.todo[d.at]
	f.Wanted = q.wanted
	if q.wanted == Method {
		f.Page, f.Pages = d.page, d.pages()
		digits, first := digitsOf(d.listed()), d.page*perPage
		for i, p := range d.listed() {
			it := Item{Key: digits[i], Label: d.labelOf(p), Default: first+i == d.q.Default}
			if k, ok := shortcutOf(p.Method); ok {
				it.Shortcut = k.String()
			}
			f.Items = append(f.Items, it)
		}
		return f
	}
	f.Method = d.labelOf(d.pick)
	if f.Amount == 0 {
		f.Amount = d.answer.Amount
	}
	v := d.typing.View()
	f.Label, f.Text, f.Minor, f.Note = q.prompt.Label, v.Text, v.Minor, v.Note
	f.Min, f.Max, f.Back = q.typing.Min, q.typing.Max, d.at > 0
	return f
}
