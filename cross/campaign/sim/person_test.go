package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/aapay"
	"posagent/schemes/methods"
	"posagent/schemes/money"
	"posagent/schemes/wire"
)

// attended says whether a person is at the terminal on a day. Nobody is on two days of five, which are the days as they were before
// terminals could ask: those of onceFailed among them.
func attended(seed uint64) bool { return seed%5 != 2 && seed%5 != 4 }

// personal decides what the person does on a day, and when the keypad is away.
func (w *world) personal() {
	if !w.person {
		return
	}
	w.odds.person = w.rng.Float64() * 0.7
	for range w.rng.IntN(3) {
		long := w.exp(5*time.Minute, time.Hour)
		w.after(w.between(0, opening), func() {
			w.padAway = true
			w.note("pad", "is unplugged", 0)
			w.after(long, func() { w.padAway = false; w.note("pad", "is back", 0) })
		})
	}
}

// offers are the ways a payment may go, after drive's choose; none = it is refused with the code.
func (d *desk) offers(req ecr.Request) (list []checkout.Pick, no ecr.Code) {
	person := d.w.person && !d.w.padAway
	list = checkout.Offer(catalogue, checkout.Wish{Prompter: person, NoAmount: req.Amount == 0})
	switch {
	case req.Amount == 0 && (!person || !req.AskAmount), req.Amount == 0 && len(list) == 0:
		return nil, ecr.AmountWrong
	case len(list) == 0:
		return nil, ecr.NoMethod
	}
	return list, ""
}

// ask is the dialogue at the terminal, after drive's ask: the person answers, cancels, types too little or walks away, and the confirm
// key may repeat.
func (d *desk) ask(key wire.Key, id int64, pick checkout.Pick, req ecr.Request) {
	w := d.w
	w.stats.Questions++
	after := w.exp(12*time.Second, 3*time.Minute)
	amount := req.Amount
	if amount == 0 {
		amount = money.Minor(1000 + w.rng.Int64N(9000))
	}
	answers := map[int32]string{}
	for _, q := range pick.Prompts {
		answers[q.ID] = strings.Repeat("7", int(q.Min)+w.rng.IntN(int(q.Max-q.Min)+1))
	}
	x := w.rng.Float64()
	switch {
	case w.calm || x >= w.odds.person:
	case x < w.odds.person/3:
		w.note("person", "walks away", id)
		return
	case x < 2*w.odds.person/3 || len(pick.Prompts) == 0:
		w.note("person", "will cancel", id)
		d.t.after(after, func() { d.insist(key, checkout.Event{Name: checkout.GaveUp, Text: "cancelled"}) })
		return
	default:
		answers[pick.Prompts[0].ID] = ""
	}
	d.t.after(after, func() { d.chosen(key, id, pick, amount, answers, req) })
	if w.hit(w.odds.person) {
		d.t.after(after+w.exp(200*time.Millisecond, time.Minute), func() { d.chosen(key, id, pick, amount+100, answers, req) })
	}
}

// chosen stores the answers with the body that they lead to, in the commit that starts the sale, after drive's chosen.
func (d *desk) chosen(key wire.Key, id int64, pick checkout.Pick, amount money.Minor, answers map[int32]string, req ecr.Request) {
	w := d.w
	if err := checkout.CheckAnswers(pick.Prompts, answers); err != nil {
		w.note("person", "types what does not fit", id)
		d.insist(key, checkout.Event{Name: checkout.GaveUp, Text: err.Error()})
		return
	}
	var s step
	d.t.write(func() error {
		next := *d.row(key) // a refusal leaves nothing of it behind
		next.amount, next.params, next.answered = amount, nil, true
		for _, q := range pick.Prompts {
			next.params = append(next.params, aapay.KeyValue{Key: strconv.Itoa(int(q.ID)), Value: answers[q.ID]})
		}
		terms := checkout.TermsOf(pick, methods.UnitMinutes, checkout.Patience, req.Progress)
		effects, err := d.transit(&next, checkout.Event{Name: checkout.Chosen, Terms: &terms})
		if err != nil {
			return err
		}
		*d.row(key) = next
		s = step{next, effects, d.nextSeq()}
		w.note("person", fmt.Sprintf("has answered: %d", amount), id)
		return nil
	}, func(err error) {
		if err == nil {
			d.perform(s)
			return
		}
		w.note("person", "has answered in vain: "+err.Error(), id)
		if err == errStore { // the real one gives the sale up as well
			d.insist(key, checkout.Event{Name: checkout.GaveUp, Text: err.Error()})
		}
	})
}

// judgeAsked holds what a person was asked for against what the backend was sent (MONEY D.2).
func (w *world) judgeAsked(r *row) {
	t := w.bank.refs[r.ref]
	switch {
	case !r.asks:
	case !r.answered && t != nil:
		w.fail("sale %d was sent before its question was answered", r.id)
	case t == nil:
	case t.amount != r.amount:
		w.fail("sale %d over %d was sent with %d", r.id, r.amount, t.amount)
	default:
		w.stats.Answered++
	}
}

// prompted holds the answers of a payment against what its method asks for.
func (b *bank) prompted(req aapay.Request, d methods.Definition, sale int64) {
	given := map[string]string{}
	for _, p := range req.Params {
		given[p.Key] = p.Value
	}
	if req.Trigger != aapay.TriggerManual {
		return
	}
	for _, q := range methods.Prompts(d, methods.Payment, methods.Manual) {
		if n := len(given[strconv.Itoa(int(q.ID))]); n < int(q.Min) || n > int(q.Max) {
			b.w.fail("sale %d was sent with %d characters for %s, want %d to %d", sale, n, q.Label, q.Min, q.Max)
		}
	}
}
