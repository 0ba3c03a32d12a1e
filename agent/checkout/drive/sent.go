package drive

import (
	"maps"
	"slices"

	"posagent/agent/checkout"
	"posagent/ecr"
	"posagent/schemes/methods"
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

// ambiguous says that a customer's code fits several methods and the register named none of them.
func ambiguous(req ecr.Request, offers []checkout.Pick) bool {
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
