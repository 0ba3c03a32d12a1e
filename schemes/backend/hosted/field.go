package hosted

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"posagent/schemes/backend/pages"
	"posagent/schemes/backend/pages/words"
	"posagent/schemes/backend/scenario"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// The errorCode values that a field tells its platform, as the real service's script does.
const (
	hfInvalid = "HF0001"
	hfExpired = "HF0003" // the session is over
	hfBrand   = "HF0005"
	hfPast    = "HF0006"
	hfTrouble = "HF0007"
)

// fault is why a field is not good; no code: it is. It never repeats what stands in the field.
type fault struct {
	code string
	what words.Word
}

// judge reads one field. It gives what is to be kept of it.
func judge(id, value string, now time.Time) (fault, func(*session, *hosted.CustomerInfo)) {
	value = strings.TrimSpace(value)
	bad := func(code string, what words.Word) (fault, func(*session, *hosted.CustomerInfo)) {
		return fault{code, what}, nil
	}
	switch id {
	case cardNumber:
		pan := wire.NewPAN(strings.NewReplacer(" ", "", "-", "").Replace(value))
		if !pan.Valid() {
			return bad(hfInvalid, words.BadNumber)
		}
		row, known := scenario.CardOf(pan.Reveal())
		if !known {
			return bad(hfBrand, words.Test)
		}
		return fault{}, func(s *session, _ *hosted.CustomerInfo) {
			c := s.plastic()
			c.Row, c.Country, c.BIN, c.Last = row.Name, "ITA", pan.Reveal()[:6], pan.Masked()[len(pan.Masked())-4:]
			for _, name := range circuits() {
				if name[1] == row.Brand {
					c.Circuit = name[0]
				}
			}
		}
	case expiryDate:
		at, over, ok := pages.Expiry(value)
		if !ok {
			return bad(hfInvalid, words.BadExpiry)
		}
		if !now.Before(over) {
			return bad(hfPast, words.BadExpiry)
		}
		return fault{}, func(s *session, _ *hosted.CustomerInfo) {
			c := s.plastic()
			c.Year, c.Month = int32(at.Year()), int32(at.Month())
		}
	case securityCode:
		if len(value) < 3 || len(value) > 4 || strings.Trim(value, "0123456789") != "" {
			return bad(hfInvalid, words.BadCode)
		}
	case holderName:
		if value == "" || !wire.PlainText(value, 255) || wire.MaskPANs(value) != value {
			return bad(hfInvalid, words.BadName)
		}
		return fault{}, func(_ *session, c *hosted.CustomerInfo) { c.CardHolderName = value }
	case holderEmail:
		user, host, ok := strings.Cut(value, "@")
		if !ok || user == "" || !strings.Contains(host, ".") || !wire.PlainText(value, 255) || strings.ContainsAny(value, " <>,;") {
			return bad(hfInvalid, words.BadEmail)
		}
		return fault{}, func(_ *session, c *hosted.CustomerInfo) { c.CardHolderEmail = value }
	}
	return fault{}, func(*session, *hosted.CustomerInfo) {} // a code is judged and forgotten
}

func (s *session) plastic() *card {
	if s.Card == nil {
		s.Card = &card{}
	}
	return s.Card
}

// field takes what a customer filled in. state is the session's if it changed. Errors: wire.NotFound, wire.Conflict with the
// session's reason, and whatever spend returns.
func (x *Sessions) field(ctx context.Context, sid, id, value string, spend func(store.Tx) error) (f fault, state State, err error) {
	err = x.guarded(ctx, sid, spend, func(tx store.Tx, s *session, now int64) error {
		if s.state != Collecting && s.state != Ready || !slices.Contains(cardFields(), id) || s.Recurrence != nil && s.Recurrence.Action == hosted.SubsequentPayment {
			return hosted.Refused(opField, hosted.SessionNotReady)
		}
		was := s.state
		var keep func(*session, *hosted.CustomerInfo)
		f, keep = judge(id, value, time.UnixMilli(now))
		at := slices.Index(s.Got, id)
		switch {
		case keep == nil && at >= 0:
			s.Got = slices.Delete(s.Got, at, at+1)
			s.state, _ = next(s.state, evSpoilt)
		case keep != nil:
			if err := x.keep(tx, s, keep); err != nil {
				return err
			}
			if at < 0 {
				s.Got = append(s.Got, id)
			}
			if len(s.Got) == len(cardFields()) {
				s.state, _ = next(s.state, evFilled)
			}
		}
		if s.state != was {
			state = s.state
		}
		return saveSession(tx, s)
	})
	return f, state, err
}

// keep stores what a field was for.
func (x *Sessions) keep(tx store.Tx, s *session, keep func(*session, *hosted.CustomerInfo)) error {
	o, err := findOrder(tx, opField, s.order)
	if err != nil {
		return err
	}
	had, err := x.customer(tx, o)
	if err != nil {
		return err
	}
	var c hosted.CustomerInfo
	if had != nil {
		c = *had
	}
	keep(s, &c)
	text, err := json.Marshal(kept{&c})
	if err == nil {
		o.private, err = x.DB.Seal(tx, orderCell(o.id), text)
	}
	if err != nil {
		return fmt.Errorf("seal customer: %w", err)
	}
	return saveOrder(tx, o)
}

// choose is the customer choosing how to pay.
func (x *Sessions) choose(ctx context.Context, sid, id string, spend func(store.Tx) error) error {
	return x.guarded(ctx, sid, spend, func(tx store.Tx, s *session, now int64) error {
		if s.state != Choosing {
			return hosted.Refused(opField, hosted.SessionNotReady)
		}
		if id != payWithCard {
			if err := x.leaveFor(tx, s, id, now); err != nil {
				return err
			}
			return saveSession(tx, s)
		}
		s.state, _ = next(s.state, evCard)
		return saveSession(tx, s)
	})
}

// guarded lets a customer do something in a live session, in one commit with the form's token. A refusal is kept out of the
// commit's own error, so that an expiry is stored.
func (x *Sessions) guarded(ctx context.Context, sid string, spend func(store.Tx) error, do func(tx store.Tx, s *session, now int64) error) error {
	var refusal error
	err := x.DB.Write(ctx, func(tx store.Tx) error {
		refusal = nil
		now := x.Now().UnixMilli()
		s, err := x.live(tx, opField, sid, now)
		if err == nil && spend != nil {
			err = spend(tx)
		}
		if err == nil {
			err = do(tx, s, now)
		}
		if wire.CodeOf(err) == wire.Conflict {
			refusal, err = err, nil
		}
		return err
	})
	x.Poke()
	if err == nil {
		err = refusal
	}
	if err != nil {
		return wire.AsError(opField, err)
	}
	return nil
}
