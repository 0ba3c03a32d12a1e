package hosted

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"posagent/schemes/backend/books"
	"posagent/schemes/backend/books/journal"
	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// Times.
const (
	holdTime  = 7 * 24 * time.Hour
	lapseTime = 5 * time.Second // scenario.Lapse
	clearTime = time.Minute     // until a refund has arrived
	failTime  = 2 * time.Second // until one fails
)

// do is what the bank does for the session's card and amount.
func (s *session) do() scenario.Do {
	row := ""
	if s.Card != nil {
		row = s.Card.Row
	}
	return scenario.CardDo(row, int32(s.Amount))
}

// load reads a session, which expires where its time is over.
func (x *Sessions) load(tx store.Tx, op, id string, now int64) (*session, error) {
	s, err := findSession(tx, op, id)
	if err != nil {
		return nil, err
	}
	if s.due() == nil || now < s.ends {
		return s, nil
	}
	away := s.state == Away
	s.state, _ = next(s.state, evExpire)
	if away {
		if err := x.end(tx, s, hosted.Failed, now); err != nil {
			return nil, err
		}
	}
	return s, saveSession(tx, s)
}

// live is load for a session that still answers; else the Conflict that says why not.
func (x *Sessions) live(tx store.Tx, op, id string, now int64) (*session, error) {
	s, err := x.load(tx, op, id, now)
	if err != nil {
		return nil, err
	}
	if why := s.state.refusal(); why != "" {
		return nil, hosted.Refused(op, why)
	}
	return s, nil
}

// write plays a keyed write: body guards the key, act fills reply (a pointer) or refuses, and says how its reply is spoilt.
func (x *Sessions) write(ctx context.Context, op, about string, key wire.Key, body, reply any, act func(tx store.Tx, now int64) (scenario.Do, error)) error {
	text, err := json.Marshal(body)
	if err != nil {
		return wire.AsError(op, err)
	}
	return x.Once(ctx, room.Keyed{Op: op, About: about, Key: key, BadKey: hosted.BadKey, Body: text}, reply, act)
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
	owner, err := room.Owner(tx, orderResource, s.order)
	if err == nil && c == nil {
		err = room.Give(tx, contractResource, r.ContractID, owner)
	}
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

// agree judges the recurrence of a new session.
func (s *session) agree(tx store.Tx, now int64) error {
	r := s.Recurrence
	c, err := findContract(tx, r.ContractID)
	by, owner := room.By(tx).Merchant, ""
	if err == nil && by == "" { // a customer on a page is no merchant: the order has one
		by, err = room.Owner(tx, orderResource, s.order)
	}
	if err == nil {
		owner, err = room.Owner(tx, contractResource, r.ContractID)
	}
	refused := hosted.Refused(opBuild, hosted.BadContract)
	today := time.UnixMilli(now).UTC().Format(time.DateOnly)
	switch {
	case err != nil:
		return err
	case c != nil && by != "" && owner != by: // another merchant's: its id is taken, and its card pays nothing here
		return refused
	case r.Action == hosted.ContractCreation:
		if c != nil || r.ContractExpiryDate != "" && r.ContractExpiryDate[:10] < today {
			return refused
		}
		return nil
	case c == nil, c.Expiry != "" && c.Expiry[:10] < today:
		return refused
	case r.Action == hosted.CardSubstitution:
		return nil
	case r.ContractType != "" && r.ContractType != c.Type,
		c.Type == hosted.Scheduled && now < c.LastMS+c.Days*24*int64(time.Hour/time.Millisecond):
		return refused
	}
	s.Card, s.Merchant, s.state = &c.Card, c.Type != hosted.CIT, Ready
	return nil
}
