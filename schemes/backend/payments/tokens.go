package payments

import (
	"context"
	"errors"
	"time"

	"posagent/schemes/backend/room"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/tokens"
	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
	"posagent/store"
)

// Tokens is the tokenization service of the bank.
type Tokens struct{ c *Cards }

var _ tokens.Service = Tokens{}

// Tokens gives the tokenization service.
func (c *Cards) Tokens() Tokens { return Tokens{c} }

// Create implements tokens.Service.
func (s Tokens) Create(ctx context.Context, key wire.Key, req tokens.CreateRequest) (out tokens.Created, err error) {
	if err := check.Request(opToken, req); err != nil {
		return out, err
	}
	bound := req
	if req.CardDetails != nil {
		d := *req.CardDetails
		d.ValidationCode = ""
		bound.CardDetails = &d
	}
	body, err := wire.Encode(bound)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: opToken, Msg: "request cannot be stored"}
	}
	err = s.write(ctx, room.Keyed{Op: opToken, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (*token, error) {
		t := &token{Order: req.OrderDescription}
		if d := req.CardDetails; d != nil {
			var err error
			if t.Means, err = s.c.tokenCard(tx, opToken, d.PAN, d.ExpiryYear, d.ExpiryMonth, now); err != nil {
				return nil, err
			}
		}
		return t, t.insert(tx, s.c, req.TokenSecret, now)
	})
	return out, err
}

// tokenCard is cardMeans with the reasons of the tokenization service.
func (c *Cards) tokenCard(tx store.Tx, op string, pan wire.PAN, year, month int32, now int64) (*means, error) {
	m, _, err := c.cardMeans(tx, op, pan, year, month, now)
	var e *wire.Error
	if errors.As(err, &e) && e.Code == wire.Conflict {
		return nil, tokens.Refused(op, e.Reason, e.Msg) // both services call them CardExpired and CardNotAccepted
	}
	return m, err
}

// write plays a keyed write that answers with a tokenization's id.
func (s Tokens) write(ctx context.Context, k room.Keyed, out *tokens.Created, act func(tx store.Tx, now int64) (*token, error)) error {
	return s.c.Once(ctx, k, out, func(tx store.Tx, now int64) (scenario.Do, error) {
		t, err := act(tx, now)
		if err != nil {
			return "", err
		}
		out.TokenizationID = t.id
		if do := scenario.CardDo(t.row(), 0); t.fresh && do.Spoils() {
			return do, nil
		}
		return "", nil
	})
}

// CreateRecurring implements tokens.Service.
func (s Tokens) CreateRecurring(ctx context.Context, key wire.Key, req tokens.RecurringRequest) (out tokens.Created, err error) {
	const op = "tokens.recurring"
	if err := check.Request(op, req); err != nil {
		return out, err
	}
	body, err := wire.Encode(req)
	if err != nil {
		return out, &wire.Error{Code: wire.Invalid, Op: op, Msg: "request cannot be stored"}
	}
	err = s.write(ctx, room.Keyed{Op: op, Key: key, Body: body}, &out, func(tx store.Tx, now int64) (*token, error) {
		if req.RecurringExpiryDate != "" && req.RecurringExpiryDate < time.UnixMilli(now).UTC().Format(time.DateOnly) {
			return nil, tokens.Refused(op, tokens.ArrangementExpired, "recurringExpiryDate is past")
		}
		t := &token{
			Recurring: req.RecurringType, Limit: req.Amount, Currency: req.CurrencyCode, Until: req.RecurringExpiryDate, Days: req.RecurringFrequency,
			Order: req.OrderDescription,
		}
		if t.Recurring == "" {
			t.Recurring = tokens.Subscription
		}
		return t, t.insert(tx, s.c, req.TokenSecret, now)
	})
	return out, err
}

// Verify implements tokens.Service. A tokenization without a card gets the sandbox's first test card from its simulated
// customer.
func (s Tokens) Verify(ctx context.Context, key wire.Key, id string) (out tokens.Created, err error) {
	const op = "tokens.verify"
	if err := tokens.CheckID(id); err != nil {
		return out, err
	}
	err = s.write(ctx, room.Keyed{Op: op, About: id, Key: key}, &out, func(tx store.Tx, now int64) (*token, error) {
		t, err := findToken(tx, id)
		if err != nil {
			return nil, err
		}
		if t.Means == nil {
			year := int32(time.UnixMilli(now).UTC().Year() + 3)
			if t.Means, err = s.c.tokenCard(tx, op, wire.NewPAN(scenario.Cards()[0].PAN), year, 12, now); err != nil {
				return nil, err
			}
		}
		switch do := scenario.CardDo(t.Means.Row, 0); {
		case do == scenario.OldCard, past(t.Means.Year, t.Means.Month, now):
			return nil, tokens.Refused(op, tokens.CardExpired, "card expired")
		case do == scenario.HardDecline, do == scenario.ReserveFails:
			return nil, tokens.Refused(op, tokens.CardNotAccepted, "refused by the card's bank")
		}
		t.fresh, t.Verified = !t.Verified, true
		return t, t.save(tx)
	})
	return out, err
}

// Token implements tokens.Service.
func (s Tokens) Token(ctx context.Context, id string) (out tokens.TokenReply, err error) {
	const op = "tokens.token"
	if err := tokens.CheckID(id); err != nil {
		return out, err
	}
	err = s.c.DB.Read(ctx, func(r store.Reader) error {
		t, err := findToken(r, id)
		switch {
		case err != nil:
			return err
		case t.Means == nil:
			return tokens.Refused(op, tokens.CardMissing, "no card yet")
		case past(t.Means.Year, t.Means.Month, s.c.Now().UnixMilli()):
			return tokens.Refused(op, tokens.CardExpired, "card expired")
		}
		out.Token, err = s.c.reveal(r, t)
		return err
	})
	if err != nil {
		return tokens.TokenReply{}, wire.AsError(op, err)
	}
	return out, nil
}
