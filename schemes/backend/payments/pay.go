package payments

import (
	"context"

	"posagent/schemes/backend/scenario"
	"posagent/schemes/payments"
	"posagent/schemes/wire"
	"posagent/store"
)

// after says what comes next.
type after string

const (
	nextPay       after = "pay"       // the form, with step.Reason
	nextChallenge after = "challenge" // the 3-D Secure page
	nextDone      after = "done"
	nextClosed    after = "closed" // over: step.Reason
)

// step is what an act of the customer came to.
type step struct {
	Next   after
	Reason string // of payments' catalogue, why it was refused; "" otherwise
	Return string // where to go when done, may be ""

	attempt int64 // that the bank asks about
}

// view is what the page shows.
type view struct {
	ID          string
	State       State
	Next        after // what the page is at
	Reason      string
	Type        string // payments.MerchantHosted or ProviderHosted
	Merchant    string
	Amount      int32 // minor units, without a fee
	Fee         int32 // minor units, of what was chosen
	Currency    string
	Number      string // the merchant's own
	Checkout    string // checkoutText
	Description string
	Basket      []payments.BasketItem
	Config      payments.PayPageConfiguration
	Methods     []choice // what may be chosen, in order
	Return      string
	Masked      string // of the card being asked about or paid with
	Method      string
	Attempt     int64 // that the bank asks about
}

// stand says where the page of p is at.
func (p *payment) stand() step {
	s := step{Reason: p.Reason}
	switch p.state {
	case Fresh:
		s.Next = nextPay
	case Challenged:
		s.Next, s.attempt = nextChallenge, p.Attempt
	case Ready, Reserved, Charged, Lapsed:
		s = step{Next: nextDone, Return: p.Order.Return}
	default:
		s.Next = nextClosed
		if _, s.Reason = next(p.state, Reserve); p.Reason != "" {
			s.Reason = p.Reason
		}
	}
	return s
}

// look reads what the page shows, or wire.NotFound. A payment that needs no page is done, or closed.
func (c *Cards) look(ctx context.Context, id string) (view, error) {
	p, err := c.peek(ctx, opPage, id, func(*payment, store.Reader) error { return nil })
	if err != nil {
		return view{}, err
	}
	at := p.stand()
	v := view{
		ID: id, State: p.state, Next: at.Next, Reason: at.Reason, Type: p.Type, Merchant: c.Merchant, Amount: p.Amount, Fee: p.Fee, Currency: p.Currency,
		Number: p.Number, Checkout: p.Order.Checkout, Description: p.Order.Description, Basket: p.Order.Basket, Methods: p.choices(), Return: p.Order.Return,
		Attempt: at.attempt,
	}
	if p.Order.Config != nil {
		v.Config = *p.Order.Config
	}
	if p.Means != nil {
		v.Masked, v.Method = p.Means.Masked, p.Means.Method
	}
	return v, nil
}

// act lets the customer do something, in one commit with the form's token.
func (c *Cards) act(ctx context.Context, id string, spend func(store.Tx) error, do func(tx store.Tx, p *payment, now int64) error) (s step, err error) {
	err = c.DB.Write(ctx, func(tx store.Tx) error {
		now := c.Now().UnixMilli()
		p, err := c.load(tx, opPage, id, now)
		if err == nil && spend != nil {
			err = spend(tx)
		}
		if err == nil {
			err = do(tx, p, now)
		}
		if reason := wire.ReasonOf(err); reason != "" && wire.CodeOf(err) == wire.Conflict {
			p.Reason, err = reason, nil
		}
		if err != nil {
			return err
		}
		s = p.stand()
		return save(tx, p)
	})
	c.Poke()
	if err != nil {
		return step{}, wire.AsError(opPage, err)
	}
	return s, nil
}

// pay is the customer pressing pay. Errors: wire.NotFound; wire.Invalid names what of the form is wrong; whatever spend
// returns; a refused card is a step, not an error.
func (c *Cards) pay(ctx context.Context, id string, g given, spend func(store.Tx) error) (step, error) {
	if g.Card != nil && !g.Card.PAN.Valid() {
		return step{}, wire.Errorf(wire.Invalid, opPage, "pan: want 13 to 19 digits with a good check digit")
	}
	return c.act(ctx, id, spend, func(tx store.Tx, p *payment, now int64) error {
		if p.state != Fresh && p.state != Challenged {
			return nil // paid already: a repeated submit changes nothing
		}
		p.Reason, p.IP = "", g.IP
		p.Attempt++
		m, err := c.identify(tx, p, g, now)
		if err != nil {
			return err
		}
		p.Means, p.Fee = m.means, m.fee
		if err := c.press(tx, p, now); err != nil {
			return err
		}
		p.Flow = ""
		switch do := p.do(); {
		case m.PayType != card:
		case p.Exemption == payments.ScaForce3DS, (do == scenario.Challenge || do == scenario.ChallengeBad) && !p.scaExempt():
			p.state, _ = next(p.state, Ask)
			return nil
		case p.scaExempt():
			p.Flow = "A"
		}
		return c.paid(tx, p, now)
	})
}

// scaExempt says that an exemption spares the cardholder the challenge.
func (p *payment) scaExempt() bool {
	return p.Exemption == payments.ScaDelegated || p.Exemption == payments.ScaLowValue && p.Amount <= lowValue
}

// lowValue is the most a LowValue exemption covers, in minor units.
const lowValue = 3000

// answer is the customer answering the challenge about one attempt. wire.Forbidden: another attempt, with another card or
// fee, has taken its place since the question was shown, and nobody has answered for that one.
func (c *Cards) answer(ctx context.Context, id string, attempt int64, passed bool, spend func(store.Tx) error) (step, error) {
	return c.act(ctx, id, spend, func(tx store.Tx, p *payment, now int64) error {
		if p.state != Challenged {
			return nil
		}
		if attempt != p.Attempt {
			return wire.Errorf(wire.Forbidden, opPage, "the question was about another attempt")
		}
		if !passed || p.do() == scenario.ChallengeBad {
			p.state, _ = next(p.state, Fail)
			err := c.refuse(tx, p, p.Amount, refused(opPage, payments.AuthenticationFailed), now)
			p.afresh()
			return err
		}
		p.Flow, p.Reason = "Y", ""
		return c.paid(tx, p, now)
	})
}

// leave is the customer giving up.
func (c *Cards) leave(ctx context.Context, id string, spend func(store.Tx) error) (step, error) {
	return c.act(ctx, id, spend, func(_ store.Tx, p *payment, _ int64) error {
		if to, reason := next(p.state, Leave); reason == "" {
			p.state = to
		}
		if p.state == Terminated {
			p.PageMS = 0
		}
		return nil
	})
}

// paid goes on once the customer has done everything: what processing says, and the end of the checkout.
func (c *Cards) paid(tx store.Tx, p *payment, now int64) error {
	p.state, _ = next(p.state, Identify)
	if err := c.process(tx, p, now); err != nil {
		if wire.CodeOf(err) == wire.Conflict { // another try, perhaps with another card
			p.afresh()
		}
		return err
	}
	p.PageMS = 0
	if err := c.keepToken(tx, p, now); err != nil {
		return err
	}
	return c.tellCheckout(tx, p, now)
}

// afresh forgets what a failed attempt was paid with, and the fee of it: nobody has agreed to that for another one.
func (p *payment) afresh() { p.state, p.Means, p.Fee = Fresh, nil, 0 }

// Pay lets a customer pay at the page with this card, and pass whatever challenge comes. It is what the page does, for
// callers without a browser. Outcomes: nil; wire.NotFound: no such page; wire.Invalid; wire.Conflict with a reason: refused.
func (c *Cards) Pay(ctx context.Context, id string, with payments.CardDetails) error {
	s, err := c.pay(ctx, id, given{Card: &with}, nil)
	if err == nil && s.Next == nextChallenge {
		s, err = c.answer(ctx, id, s.attempt, true, nil)
	}
	if err == nil && s.Next != nextDone {
		err = refused(opPage, s.Reason)
	}
	return err
}
