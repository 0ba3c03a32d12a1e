package sessions

import (
	"context"
	"fmt"
	"strings"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/pages/words"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/money"
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

// do is what the bank does for the session's card and amount.
func (s *session) do() scenario.Do {
	row := ""
	if s.Card != nil {
		row = s.Card.Row
	}
	return scenario.CardDo(row, int32(s.Amount))
}

// begin makes the operation of a payment.
func (x *Sessions) begin(s *session, now int64) *operation {
	op := &operation{
		id: room.Name(8), order: s.order, session: s.id, kind: hosted.Capture, result: hosted.Pending, amount: s.Amount, at: now,
		Channel: hosted.Ecommerce, Method: hosted.Card, EndToEnd: room.Name(12), ThreeDS: "NO_3DS",
	}
	op.payment = op.id
	if s.Merchant {
		op.Channel = hosted.Backoffice
	}
	if s.Explicit || s.Action == hosted.Verify {
		op.kind = hosted.Authorization
	}
	if s.Other != "" {
		op.kind, op.Method, op.Circuit = hosted.Capture, hosted.APM, s.Other
	} else if c := s.Card; c != nil {
		op.Circuit, op.Instrument, op.Row, op.Country = c.Circuit, "***"+c.Last, c.Row, c.Country
	}
	s.Operation = op.id
	return op
}

// leaveFor sends the customer of a session to an alternative method.
func (x *Sessions) leaveFor(tx store.Tx, s *session, service string, now int64) error {
	to, ok := next(s.state, evOther)
	if !ok {
		return hosted.Refused(opField, hosted.SessionNotReady)
	}
	s.state, s.Other = to, service
	op := x.begin(s, now)
	if err := saveOperation(tx, op); err != nil {
		return err
	}
	return x.tell(tx, s, op, now)
}

// verdict is the bank's word: the result of a payment that is refused, "" = approved.
func (s *session) verdict(o *order) string {
	if s.Other == "" && s.Card != nil && s.Card.Row == scenario.Risk {
		return hosted.DeniedByRisk
	}
	switch do := s.do(); {
	case do == scenario.HardDecline, do == scenario.NoFunds, do == scenario.OldCard, do == scenario.SoftDecline && o.Tries == 0:
		return hosted.Declined
	case do == scenario.ReserveFails, do == scenario.CaptureFails && !s.Explicit && s.Action != hosted.Verify:
		return hosted.Failed
	}
	return ""
}

// settle gives a payment its result and moves its money.
func (x *Sessions) settle(tx store.Tx, s *session, o *order, op *operation, now int64) error {
	s.state, _ = next(s.state, evSettle)
	op.at, op.result = now, s.verdict(o)
	switch {
	case op.result == "" && o.payment != "": // another session was faster
		op.result = hosted.Failed
	case op.result != "":
		o.Tries++
	default:
		if err := x.approve(tx, s, o, op, now); err != nil {
			return err
		}
	}
	if err := saveOperation(tx, op); err != nil {
		return err
	}
	if err := saveOrder(tx, o); err != nil {
		return err
	}
	if err := x.tell(tx, s, op, now); err != nil {
		return err
	}
	return saveSession(tx, s)
}

// approve moves the money of a payment and keeps its card where that was agreed.
func (x *Sessions) approve(tx store.Tx, s *session, o *order, op *operation, now int64) error {
	op.Code = strings.ToUpper(room.Name(3))
	op.result = hosted.Executed
	if s.Action != hosted.Verify && s.Amount > 0 {
		if err := journal.Open(tx, Service, op.id, o.currency, s.Amount); err != nil {
			return err
		}
		if err := post(tx, op, books.Authorize, s.Amount); err != nil {
			return err
		}
		if op.kind == hosted.Authorization {
			op.result, op.due = hosted.Authorized, now+holdTime.Milliseconds()
			if s.do() == scenario.Lapse {
				op.due = now + lapseTime.Milliseconds()
			}
		} else if err := post(tx, op, books.Capture, s.Amount); err != nil {
			return err
		}
		o.payment = op.id
	}
	r := s.Recurrence
	if r == nil || s.Card == nil {
		return nil
	}
	c, err := findContract(tx, r.ContractID)
	if err != nil {
		return err
	}
	if c == nil {
		days, _ := r.ContractFrequency.Minor()
		c = &contract{Type: r.ContractType, Expiry: r.ContractExpiryDate, Days: int64(days)}
		if c.Type == "" {
			c.Type = hosted.CIT
		}
	}
	c.Card = *s.Card
	if r.Action != hosted.CardSubstitution {
		c.LastMS = now
	}
	return saveContract(tx, r.ContractID, c)
}

// end ends the payment of a session that is away, without money.
func (x *Sessions) end(tx store.Tx, s *session, result string, now int64) error {
	op, err := findOperation(tx, opField, s.Operation)
	if err != nil {
		return err
	}
	op.result, op.at = result, now
	if err := saveOperation(tx, op); err != nil {
		return err
	}
	return x.tell(tx, s, op, now)
}

// Cancel implements hosted.Sessions.
func (x *Sessions) Cancel(ctx context.Context, key wire.Key, id string) (hosted.SessionState, error) {
	out := hosted.SessionState{State: hosted.Abandoned}
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
		if away {
			done.Operation = s.Operation
			if err := x.end(tx, s, hosted.Canceled, now); err != nil {
				return "", err
			}
		}
		return "", saveSession(tx, s)
	})
	if err != nil || done.Operation == "" {
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

// returned goes on with a payment whose customer is back.
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

// amountOf is for people.
func (o *order) amountOf(l words.Tongue, n money.Minor) string {
	cur, _ := money.Lookup(o.currency)
	return money.FormatIn(l.Code(), n, cur)
}
