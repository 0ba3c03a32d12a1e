package paylinks

import (
	"context"
	"fmt"
	"strconv"

	"posagent/schemes/backend/room"
	"posagent/schemes/wire"
	"posagent/store"
)

// Look is what a link's page says about it.
type Look string

// The looks.
const (
	Open       Look = "open"       // may be paid
	Processing Look = "processing" // a customer pays, the provider has not decided
	Asked      Look = "challenge"  // the card's bank asks the cardholder (3-D Secure)
	Paid       Look = "paid"
	Held       Look = "held" // reserved or pre-authorized, charged later
	Returned   Look = "refunded"
	Turned     Look = "declined" // open, and the last who tried was turned down
	Expired    Look = "expired"
)

// Slip is a link as its customer sees it.
type Slip struct {
	ID         int64  `json:"id"`
	Hash       string `json:"hash"`
	Reference  string `json:"referenceId"`
	State      Look   `json:"state"`
	Amount     int64  `json:"amount"` // hundredths; what was charged, once the link is paid
	Currency   string `json:"currency"`
	Subscribed bool   `json:"subscribed"` // it will be charged again
	mayStop    bool
	asked      int64  // the payment that the bank asks about
	card       string // masked, of the payment that is being made
	acted      bool   // this very act began a payment
}

// free says that the link may be paid now.
func (p Slip) free() bool { return p.State == Open || p.State == Turned }

// The acts of a customer.
const (
	actPay     = "pay"
	actDecline = "decline"
	actStop    = "stop"   // ends a subscription
	actAnswer  = "answer" // to the question of the card's bank
)

// Pay lets the customer of a link pay by wallet, as the link's row has it. ref is a hash, an id or a referenceId.
//  1. the slip as it stands now; paying what is paid or being paid changes nothing;
//  2. wire.NotFound: no such link, or it was deleted;
//  3. wire.Conflict: expired, or ref names more than one link.
func (s *Links) Pay(ctx context.Context, ref string) (Slip, error) {
	return s.play(ctx, named, ref, actPay, attempt{Lang: languages[0]}, nil)
}

// Decline lets the customer refuse: a declined transaction, and the link stays open. Outcomes as for Pay; wire.Conflict
// when it is taken.
func (s *Links) Decline(ctx context.Context, ref string) (Slip, error) {
	return s.play(ctx, named, ref, actDecline, attempt{Lang: languages[0]}, nil)
}

// Stop ends a subscription. Outcomes as for Pay; wire.Conflict when it is none, or too late.
func (s *Links) Stop(ctx context.Context, ref string) (Slip, error) {
	return s.play(ctx, named, ref, actStop, attempt{}, nil)
}

// named finds the one link that is not deleted and has ref as its hash, id or reference. What two of them have names neither.
func named(r store.Reader, ref string) (*link, error) {
	id, err := strconv.ParseInt(ref, 10, 64)
	if err != nil || number(id) != ref {
		id = 0 // no link has it
	}
	where, args := `WHERE deleted_ms IS NULL AND (hash = ? OR id = ? OR reference = ? AND reference <> '')`, []any{ref, id, ref}
	if own, more := room.Own(r, linkResource, "links_link.id"); own != "" {
		where, args = where+" AND "+own, append(args, more...)
	}
	list, err := linkTable.All(r, where+` ORDER BY id LIMIT 2`, args...)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read link: %w", err)
	case len(list) == 0:
		return nil, wire.Errorf(wire.NotFound, opPay, "no such link")
	case len(list) > 1:
		return nil, wire.Errorf(wire.Conflict, opPay, "more than one link is called so: name the hash that ends the link's address")
	}
	return &list[0], nil
}

// shown finds the link whose page a customer has before him: by its hash alone, since another link's reference may be that hash.
func shown(r store.Reader, hash string) (*link, error) {
	l, err := linkWhere(r, byHash, hash)
	if err == nil && (l == nil || l.Deleted != 0) {
		return nil, wire.Errorf(wire.NotFound, opPay, "no such link")
	}
	return l, err
}

// play performs an act on the link that find finds, in one commit; first, when not nil, may refuse it there.
func (s *Links) play(ctx context.Context, find func(r store.Reader, ref string) (*link, error), ref, what string, a attempt, first func(store.Tx) error) (Slip, error) {
	var out Slip
	err := s.DB.Write(ctx, func(tx store.Tx) error {
		now := s.Now().UnixMilli()
		if first != nil {
			if err := first(tx); err != nil {
				return err
			}
		}
		l, err := find(tx, ref)
		if err != nil {
			return err
		}
		if err := s.advance(tx, l, now); err != nil {
			return err
		}
		o, err := s.options(tx, l)
		if err != nil {
			return err
		}
		seen, err := s.look(tx, l, o, now)
		if err != nil {
			return err
		}
		if err := s.perform(tx, l, o, seen, what, a, now); err != nil {
			return err
		}
		out, err = s.look(tx, l, o, now)
		out.acted = what != actStop && seen.free() || what == actAnswer && seen.State == Asked
		return err
	})
	if err != nil {
		return Slip{}, wire.AsError(opPay, err)
	}
	s.Poke()
	return out, nil
}

func (s *Links) perform(tx store.Tx, l *link, o *options, seen Slip, what string, a attempt, now int64) error {
	free := seen.free()
	if what == actAnswer && seen.State == Asked && a.Shown != seen.asked {
		return wire.Errorf(wire.Forbidden, opPay, "the question was about another attempt") // the link is held by one that nobody answered for
	}
	switch {
	case what == actStop && seen.mayStop:
		l.Next = 0
		if err := s.emitEnd(tx, l, o); err != nil {
			return err
		}
		return saveLink(tx, l)
	case what == actPay && free:
		if a.Brand == "" {
			a.Brand = o.walletBrand()
		}
		return s.start(tx, l, o, a, now)
	case what == actDecline && free:
		a.Verdict = evDecline
		return s.start(tx, l, o, a, now)
	case what == actAnswer && seen.State == Asked:
		return s.answer(tx, l, o, a, now)
	case what == actPay && seen.State != Expired && seen.State != Returned, what == actStop && o.Subscription && !seen.Subscribed:
		return nil // once more is not twice
	}
	return wire.Errorf(wire.Conflict, opPay, "the link is %s", seen.State)
}

// look says how a link stands that was advanced to now.
func (s *Links) look(r store.Reader, l *link, o *options, now int64) (Slip, error) {
	out := Slip{ID: l.ID, Hash: l.Hash, Reference: l.Reference, State: Open, Amount: l.Hundredths, Currency: l.Currency}
	t, err := s.holder(r, l)
	if err != nil {
		return Slip{}, err
	}
	switch {
	case t == nil && l.expired(now):
		out.State = Expired
	case t == nil:
		last, err := txnWhere(r, `link = ? ORDER BY id DESC LIMIT 1`, l.ID)
		if err != nil {
			return Slip{}, err
		}
		if last != nil && (last.Status == Declined || last.Status == Failed) {
			out.State = Turned
		}
	case t.asked():
		out.State, out.asked, out.card = Asked, t.ID, t.Card
	case t.Status == Waiting:
		out.State = Processing
	case t.Status == Refunded:
		out.State, out.Amount = Returned, t.amount()
	case t.Status == Confirmed, t.Status == Partly:
		out.State, out.Amount = Paid, t.amount()
	default:
		out.State = Held
	}
	if t != nil && o.Subscription && l.Next != 0 {
		out.Subscribed, out.mayStop = true, o.stoppable(t.Created, now)
	}
	return out, nil
}

// Show reads a link's slip by its hash only: who knows it may see it.
func (s *Links) Show(ctx context.Context, hash string) (Slip, error) {
	v, err := s.view(ctx, hash)
	return v.slip, err
}

// view is a link as its page needs it.
type view struct {
	slip    Slip
	options *options
}

// view reads a link by its hash at the present moment.
func (s *Links) view(ctx context.Context, hash string) (v view, err error) {
	now := s.Now().UnixMilli()
	err = s.touch(ctx, now, func(r store.Reader) (*link, error) { return shown(r, hash) }, func(r store.Reader, l *link) (err error) {
		if v.options, err = s.options(r, l); err != nil {
			return err
		}
		v.slip, err = s.look(r, l, v.options, now)
		return err
	})
	if err != nil {
		return view{}, wire.AsError(opPay, err)
	}
	return v, nil
}

// touch finds a link and uses it as it stands at now: from a snapshot where nothing is due, else after what is due.
func (s *Links) touch(ctx context.Context, now int64, find func(store.Reader) (*link, error), use func(store.Reader, *link) error) error {
	return room.Touch(ctx, s.DB, room.Timed[*link]{
		Find: find,
		Due: func(r store.Reader, l *link) (bool, error) {
			t, err := s.holder(r, l)
			return l.Next != 0 && l.Next <= now || t != nil && t.Next != 0 && t.Next <= now, err
		},
		Advance: func(tx store.Tx, l *link) error { return s.advance(tx, l, now) },
	}, use)
}
