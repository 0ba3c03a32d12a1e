package drive

import (
	"maps"
	"slices"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive/journal"
	"posagent/ecr"
	"posagent/schemes/methods"
	"posagent/schemes/wire"
	"posagent/store"
)

// wish is what a request needs of a method. person says that somebody can answer at the terminal.
func (d *Drive) wish(req ecr.Request, person bool) checkout.Wish {
	return checkout.Wish{
		CardType: req.CardType, Method: req.Method, NoAmount: req.Amount == 0, Prompter: person, Exclude: d.cfg.Exclude,
		Consumer: req.ConsumerID, Answers: req.Answers,
	}
}

// noOffer says why a payment with an amount finds no method. The texts do not quote what the
// register has sent of the customer.
func (d *Drive) noOffer(defs []methods.Definition, req ecr.Request) error {
	open := d.wish(req, true)
	open.Consumer = ""
	all := checkout.Offer(defs, open)
	switch {
	case len(all) == 0 && req.Method != "":
		return refuse(ecr.NoMethod, "the payment method %.40q is not offered here", req.Method)
	case req.ConsumerID == "" || len(all) == 0:
		return refuse(ecr.NoMethod, "no payment method fits")
	}
	for _, p := range all {
		if q, ok := p.ConsumerPrompt(); ok {
			return refuse(ecr.NoMethod, "the customer's code does not fit: %s takes %d to %d characters", p.Method.Label, max(1, q.Min), min(q.Max, checkout.MaxAnswer))
		}
	}
	return refuse(ecr.NoMethod, "no payment method takes the customer's code")
}

// severalFit says that a customer's code fits several methods and the register named none of them.
func severalFit(req ecr.Request, offers []checkout.Pick) bool {
	return req.ConsumerID != "" && slices.ContainsFunc(offers, func(p checkout.Pick) bool { return p.Method.Name != offers[0].Method.Name })
}

// sent is what the register has answered of a pick itself.
func sent(req ecr.Request, p checkout.Pick) Answer {
	ans := Answer{Answers: map[int32]string{}}
	for _, id := range p.Sent {
		ans.Answers[id] = req.Answers[id]
	}
	q, shared := p.ConsumerPrompt()
	switch {
	case p.Told:
		if ans.ConsumerID = req.ConsumerID; shared {
			ans.Answers[q.ID] = req.ConsumerID
		}
	case shared:
		ans.ConsumerID = ans.Answers[q.ID]
	}
	return ans
}

// join adds what the register has sent to what a person has answered.
func (ans *Answer) join(of Answer) {
	if ans.Answers == nil {
		ans.Answers = map[int32]string{}
	}
	maps.Copy(ans.Answers, of.Answers)
	if of.ConsumerID != "" {
		ans.ConsumerID = of.ConsumerID
	}
}

// goOn settles the line's unconfirmed sales: the register's next financial command says what it
// knows. What it names it knows, on whichever line that was sold.
func (a *accepting) goOn(tx store.Tx, rows []*journal.Row) error {
	d := a.d
	known, err := a.known(tx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Quarantined || r.State.Phase != checkout.Unconfirmed || r.Line != a.req.Line && r.Key != known {
			continue
		}
		e := checkout.Event{Name: checkout.NextCommand}
		till := r.State.Till
		if till.Reference != "" && till.Reference == a.req.Reference && a.req.Kind == ecr.Payment {
			e.Sync = checkout.Again
		}
		if last := a.req.LastReceipt; last != nil {
			before, err := journal.ReceiptBefore(tx, r)
			if err != nil {
				return err
			}
			switch *last {
			case r.Receipt:
				e.Sync = checkout.Same
			case before, r.Receipt - 1:
				e.Sync = checkout.Before
			}
		}
		if r.Key == known {
			e.Sync = checkout.Same
		}
		e.SameAmount = a.req.Kind == ecr.Payment && a.req.Amount == r.Amount && a.req.Currency == r.Currency
		if e.Sync != checkout.Same && d.sales.Held(r.Key) { // what it knows it was told, whatever became of the telling
			continue
		}
		s, err := d.j.Transit(tx, r, e)
		if err != nil {
			return err
		}
		a.steps = append(a.steps, s)
	}
	return nil
}

// left finds the payment whose answer left as the terminal died, where a register asks for the same
// purchase under another id: it joins, and is told what has become of it. "" = none.
func (a *accepting) left(rows []*journal.Row) wire.Key {
	for _, r := range rows {
		if !r.Quarantined && r.State.Left && r.State.Phase == checkout.Unconfirmed && r.Line == a.req.Line && a.req.Kind == ecr.Payment &&
			a.req.Reference != "" && r.State.Till.Reference == a.req.Reference && r.Amount == a.req.Amount && r.Currency == a.req.Currency {
			return r.Key
		}
	}
	return ""
}

// known returns the payment that a refund or reversal names by what only its approval carried: its
// receipt, trace or transaction. The register that names it so has heard of it. "" = none.
func (a *accepting) known(tx store.Tx) (wire.Key, error) {
	if asked := askedFor(a.req); a.req.Kind == ecr.Payment || asked == "" || asked == "L" {
		return "", nil
	}
	return a.meant(tx)
}
