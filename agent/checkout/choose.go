package checkout

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"posagent/ecr"
	"posagent/schemes/methods"
)

// Wish is what a payment needs of a method.
type Wish struct {
	CardType int     // the register's choice; 0 = none
	Method   string  // likewise, a definition's name; "" = none
	Choice   string  // the customer's choice on the display, a definition's name; "" = none
	NoAmount bool    // the amount is still to come
	Prompter bool    // a person can answer prompts at the terminal
	Exclude  []int32 // paymentProviderIds that are not offered here

	// What the register has sent already.
	Consumer string           // the consumer's id: only methods that take one by hand are offered
	Answers  map[int32]string // to prompts, by the query's id
}

// Pick is a method with the trigger it will be started by.
type Pick struct {
	Method  methods.Definition
	Back    bool // it is a refund or reversal
	Trigger methods.Trigger
	Prompts []methods.Prompt // what has to be answered before

	Sent []int32 // prompts that the register has answered
	Told bool    // it has sent the consumer's id
}

// Manual says that a payment needs the consumer's id.
func (p Pick) Manual() bool { return p.Trigger == methods.Manual && !p.Back }

// Asks says that a person has to be asked before it can start.
func (p Pick) Asks() bool { return p.AsksConsumer() || len(p.Open()) > 0 }

// Open are the prompts that the register has not answered.
func (p Pick) Open() []methods.Prompt {
	return slices.DeleteFunc(slices.Clone(p.Prompts), func(q methods.Prompt) bool { return slices.Contains(p.Sent, q.ID) })
}

// AsksConsumer says that the consumer's id is asked for by itself.
func (p Pick) AsksConsumer() bool {
	_, shared := p.ConsumerPrompt()
	return p.Manual() && !shared && !p.Told
}

// Offer lists the methods that can serve a payment, the one to take first: the register's card type and the customer's choice
// narrow the list, priority orders it. An empty list means that the terminal has nothing to offer.
func Offer(defs []methods.Definition, w Wish) []Pick {
	var out []Pick
	byWallet := w.Method != "" && !slices.ContainsFunc(defs, func(d methods.Definition) bool { return d.Name == w.Method })
	for _, d := range defs {
		own := w
		if byWallet && d.WalletID == w.Method {
			own.Method = d.Name
		}
		if !offered(d, own) {
			continue
		}
		out = append(out, picks(d, own)...)
	}
	slices.SortStableFunc(out, func(a, b Pick) int { return cmp.Compare(a.Method.Priority, b.Method.Priority) })
	return out
}

func offered(d methods.Definition, w Wish) bool {
	switch {
	case !methods.Supports(d, methods.Payment), !methods.Undoable(d): // a payment that cannot be undone is not begun
		return false
	case slices.Contains(w.Exclude, d.PaymentProviderID):
		return false
	case w.Method != "" && d.Name != w.Method:
		return false
	case w.Method == "" && w.CardType != 0 && ecr.CardType(d.Name) != w.CardType:
		return false
	case w.Method == "" && w.CardType == 0 && w.Choice != "" && d.Name != w.Choice:
		return false
	}
	return !w.NoAmount || methods.StartsWithoutAmount(d)
}

// MaxAnswer is how many characters an answer to a prompt may have (S1 2.4).
const MaxAnswer = 255

// picks are the triggers of a method that can be served: the default first, then QR.
func picks(d methods.Definition, w Wish) (out []Pick) {
	order := []methods.Trigger{methods.QR, methods.Manual}
	if d.DefaultTrigger != nil && *d.DefaultTrigger == methods.Manual {
		slices.Reverse(order)
	}
	for _, t := range order {
		if !methods.HasTrigger(d, t) {
			continue
		}
		p := Pick{Method: d, Trigger: t, Prompts: methods.Prompts(d, methods.Payment, t)}.after(w)
		switch {
		case w.Consumer != "" && !p.Told:
		case !p.Asks(), w.Prompter && p.Answerable():
			out = append(out, p)
		}
	}
	return out
}

// after is the pick once what the register has sent is known. What does not fit a prompt does not answer it.
func (p Pick) after(w Wish) Pick {
	for _, q := range p.Prompts {
		own, shared := p.ConsumerPrompt()
		if a, ok := w.Answers[q.ID]; ok && (a != "" || !shared || q.ID != own.ID) && CheckAnswers([]methods.Prompt{q}, map[int32]string{q.ID: a}) == nil {
			p.Sent = append(p.Sent, q.ID)
		}
	}
	if w.Consumer == "" || !p.Manual() || utf8.RuneCountInString(w.Consumer) > MaxAnswer {
		return p
	}
	q, shared := p.ConsumerPrompt()
	switch {
	case !shared:
		p.Told = true
	case CheckAnswers([]methods.Prompt{q}, map[int32]string{q.ID: w.Consumer}) == nil:
		p.Told, p.Sent = true, append(p.Sent, q.ID)
	}
	return p
}

// Back is how a method gives money back, by a refund or reversal: the trigger is the one that the flow of its prompts names, by hand where
// it names both or none (S1 2.4, 2.5).
func Back(d methods.Definition, typ methods.TransactionType, w Wish) Pick {
	named := func(t methods.Trigger) bool {
		return slices.ContainsFunc(d.TxnQueryFlow, func(f methods.QueryFlow) bool {
			return f.TransactionType == typ && (slices.Contains(f.Triggers, t) || len(f.Triggers) == 0 && t == methods.Manual)
		})
	}
	p := Pick{Method: d, Back: true, Trigger: methods.Manual}
	if named(methods.QR) && !named(methods.Manual) {
		p.Trigger = methods.QR
	}
	p.Prompts = methods.Prompts(d, typ, p.Trigger)
	return p.after(w)
}

// Answerable says that each prompt has an answer that fits.
func (p Pick) Answerable() bool {
	return !slices.ContainsFunc(p.Open(), func(q methods.Prompt) bool { return q.Min > MaxAnswer || q.Max < q.Min })
}

// Default is the pick that is taken where nobody chooses: the first of the method that the register named, or, where it named none, or
// several by one card type, the first that asks nothing. The list must not be empty.
func Default(offers []Pick, named bool) int {
	if named && !slices.ContainsFunc(offers, func(p Pick) bool { return p.Method.Name != offers[0].Method.Name }) {
		return 0
	}
	return max(0, slices.IndexFunc(offers, func(p Pick) bool { return !p.Asks() }))
}

// ConsumerPrompt is the prompt whose answer is the consumer's id as well: the first one of a pick that is started by hand. ok is false
// where the id is asked for by itself, or not at all.
func (p Pick) ConsumerPrompt() (q methods.Prompt, ok bool) {
	if !p.Manual() || len(p.Prompts) == 0 {
		return methods.Prompt{}, false
	}
	return p.Prompts[0], true
}

// CheckAnswers says whether every prompt has an answer of an allowed length, in characters.
func CheckAnswers(prompts []methods.Prompt, answers map[int32]string) error {
	for _, p := range prompts {
		if n := utf8.RuneCountInString(answers[p.ID]); n < int(p.Min) || n > min(int(p.Max), MaxAnswer) {
			return fmt.Errorf("%s: %d characters, want %d to %d", p.Label, n, p.Min, min(p.Max, MaxAnswer))
		}
	}
	return nil
}

// TermsOf are the terms of a payment by a pick. unit, patience and progress are those of LimitsOf.
func TermsOf(p Pick, unit string, patience time.Duration, progress bool) Terms {
	d := p.Method
	t := Terms{
		Kind: ecr.Payment, QR: p.Trigger == methods.QR,
		CanReverse: methods.Supports(d, methods.Reversal), CanRefund: methods.Supports(d, methods.Refund),
		Limits: LimitsOf(d, unit, patience, progress),
	}
	for _, c := range d.OKCodes {
		if c.Type == methods.Payment {
			t.OKWords = append(t.OKWords, c.Value)
		}
	}
	return t
}
