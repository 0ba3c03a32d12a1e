package hosted

import (
	"context"
	"fmt"

	"posagent/schemes/backend/pages/words"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Finalize implements hosted.Sessions.
func (x *Sessions) Finalize(ctx context.Context, key wire.Key, id string, amount hosted.Text) (out hosted.SessionState, err error) {
	var done struct{}
	body := [2]string{id, string(amount)}
	err = x.write(ctx, opFinalize, id, key, body, &done, func(tx store.Tx, now int64) (scenario.Do, error) {
		return x.finalize(tx, id, amount, now)
	})
	if err != nil {
		return out, err
	}
	return x.State(ctx, id)
}

func (x *Sessions) finalize(tx store.Tx, id string, amount hosted.Text, now int64) (scenario.Do, error) {
	s, err := x.live(tx, opFinalize, id, now)
	if err != nil {
		return "", err
	}
	o, err := findOrder(tx, opFinalize, s.order)
	if err != nil {
		return "", err
	}
	total, _ := o.Order.Amount.Minor()
	n, ok := amount.Minor()
	switch {
	case amount != "" && (!ok || n == 0):
		return "", &wire.Error{Code: wire.Invalid, Reason: hosted.AmountNotNumeric, Op: opFinalize, Msg: "amount: want a whole number of smallest units"}
	case amount != "" && n > total:
		return "", &wire.Error{Code: wire.Invalid, Reason: hosted.AmountAboveOrder, Op: opFinalize, Msg: "amount: above the order's"}
	case s.state == Complete, s.state == Away:
		return "", nil // under way: how it stands is the answer
	case s.state != Ready:
		return "", hosted.Refused(opFinalize, hosted.SessionNotReady)
	case o.payment != "":
		return "", hosted.Refused(opFinalize, hosted.OrderPaid)
	}
	if amount != "" {
		s.Amount = n
	}
	if s.Recurrence != nil { // what was agreed may have changed since
		state := s.state
		if err := s.agree(tx, now); err != nil {
			return "", err
		}
		s.state = state
	}
	op := x.begin(s, now)
	do := s.do()
	if !s.Merchant && (s.Ask || do == scenario.Challenge || do == scenario.ChallengeBad) {
		s.state, _ = next(s.state, evAsk)
		if err := saveOperation(tx, op); err != nil {
			return "", err
		}
		if err := x.tell(tx, s, op, now); err != nil {
			return "", err
		}
		return "", saveSession(tx, s)
	}
	if err := x.settle(tx, s, o, op, now); err != nil {
		return "", err
	}
	if spoilt := o.Spoilt || !do.Spoils(); spoilt {
		return "", nil
	}
	o.Spoilt = true
	return do, saveOrder(tx, o)
}

// Cancel implements hosted.Sessions.
func (x *Sessions) Cancel(ctx context.Context, key wire.Key, id string) (hosted.SessionState, error) {
	out := hosted.SessionState{State: hosted.Complete}
	var done struct{ Operation string }
	err := x.write(ctx, opCancel, id, key, id, &done, func(tx store.Tx, now int64) (scenario.Do, error) {
		s, err := x.live(tx, opCancel, id, now)
		if err != nil {
			return "", err
		}
		away := s.state == Away
		to, ok := next(s.state, evAbandon)
		if !ok {
			return "", hosted.Refused(opCancel, hosted.SessionComplete)
		}
		s.state = to
		if !away { // nothing was under way: the operation says that it was cancelled
			if err := saveOperation(tx, x.begin(s, now)); err != nil {
				return "", err
			}
		}
		done.Operation = s.Operation
		if err := x.end(tx, s, hosted.Canceled, now); err != nil {
			return "", err
		}
		return "", saveSession(tx, s)
	})
	if err != nil {
		return out, err
	}
	err = x.DB.Read(ctx, func(r store.Reader) error {
		o, err := findOperation(r, opCancel, done.Operation)
		if err != nil {
			return err
		}
		shown, err := x.operation(r, o)
		out.Operation = &shown
		return err
	})
	return out, err
}

// The answers of a customer who is away.
const (
	sayYes    = "yes"
	sayNo     = "no"
	sayCancel = "cancel"
)

// answer is the customer answering the bank's challenge, or the alternative method.
func (x *Sessions) answer(ctx context.Context, id, said string, spend func(store.Tx) error) error {
	err := x.DB.Write(ctx, func(tx store.Tx) error {
		now := x.Now().UnixMilli()
		s, err := x.load(tx, opField, id, now)
		if err == nil && spend != nil {
			err = spend(tx)
		}
		if err != nil || s.state != Away {
			return err
		}
		bad := s.Other == "" && s.do() == scenario.ChallengeBad
		if said == sayYes && !bad {
			return x.returned(tx, s, now)
		}
		result := hosted.ThreeDSFailed
		if said != sayYes && s.Other != "" {
			result = hosted.Declined
		}
		if said == sayCancel {
			result = hosted.Canceled
		}
		s.state, _ = next(s.state, evSettle)
		if err := x.end(tx, s, result, now); err != nil {
			return err
		}
		return saveSession(tx, s)
	})
	x.Poke()
	if err != nil {
		return wire.AsError(opField, err)
	}
	return nil
}

// returned goes on with a payment whose customer is back. What was agreed when he was sent away is judged again: another
// session may have made the contract, substituted its card or taken its next payment since. settle looks at the order.
func (x *Sessions) returned(tx store.Tx, s *session, now int64) error {
	op, err := findOperation(tx, opField, s.Operation)
	if err != nil {
		return err
	}
	o, err := findOrder(tx, opField, s.order)
	if err != nil {
		return err
	}
	if s.Other == "" {
		op.result, op.at, op.ThreeDS = hosted.ThreeDSValidated, now, "FULL_SECURE"
		if err := x.tell(tx, s, op, now); err != nil {
			return err
		}
	}
	if s.Recurrence != nil {
		again := *s
		err := again.agree(tx, now)
		if err == nil && s.Recurrence.Action == hosted.SubsequentPayment && *again.Card != *s.Card {
			err = hosted.Refused(opField, hosted.BadContract) // the question was about the card of before
		}
		if wire.CodeOf(err) == wire.Conflict || wire.CodeOf(err) == wire.Invalid {
			s.state, _ = next(s.state, evSettle)
			if err := x.end(tx, s, hosted.Failed, now); err != nil {
				return err
			}
			return saveSession(tx, s)
		}
		if err != nil {
			return err
		}
	}
	return x.settle(tx, s, o, op, now)
}

// Fill lets a customer fill in the card fields, after choosing the card. It is what the fields do, for callers without a
// browser. Errors: wire.NotFound, wire.Conflict, and wire.Invalid for a number that is no test card's.
func (x *Sessions) Fill(ctx context.Context, sessionID string, pan wire.PAN, year, month int32) error {
	if err := x.choose(ctx, sessionID, payWithCard, nil); err != nil && wire.CodeOf(err) != wire.Conflict {
		return err
	}
	for _, f := range [][2]string{
		{cardNumber, pan.Reveal()}, {expiryDate, fmt.Sprintf("%02d/%02d", month, year%100)}, {securityCode, "123"}, {holderName, "A Customer"}, {holderEmail, "customer@shop.example"},
	} {
		fault, _, err := x.field(ctx, sessionID, f[0], f[1], nil)
		if err != nil {
			return err
		}
		if fault.code != "" {
			return badParameter(opField, f[0], words.All()[0].Say(fault.what))
		}
	}
	return nil
}

// Answer lets a customer who is away pass what is asked there, or not.
func (x *Sessions) Answer(ctx context.Context, sessionID string, pass bool) error {
	said := sayNo
	if pass {
		said = sayYes
	}
	return x.answer(ctx, sessionID, said, nil)
}
