package paylink

import (
	"context"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// abandoned is how old a payment that was begun is when it is not finished any more.
const abandoned = 24 * time.Hour

// advance takes the next steps of an undo, as far as they go now.
func (s *Service) advance(ctx context.Context, e *entry) error {
	s.mu.Lock()
	taken := s.busy[e.Reference]
	s.busy[e.Reference] = true
	s.mu.Unlock()
	if taken {
		return nil
	}
	defer func() {
		s.mu.Lock()
		delete(s.busy, e.Reference)
		s.mu.Unlock()
	}()
	var p *entry
	err := s.o.DB.Read(ctx, func(r store.Reader) (err error) {
		p, err = s.one(r, byReference, e.Original)
		return err
	})
	if err == nil && p != nil && p.intended() && p.Instance == s.o.Instance { // its link may be there
		p, err = s.make(ctx, p)
	}
	switch {
	case err != nil:
		return unavailable(err)
	case p != nil && p.Link == 0 && p.End == aapay.Rejected && e.Type == aapay.Reversal:
		return s.finish(ctx, e, reversed)
	case p == nil || p.Link == 0 && p.Instance == s.o.Instance:
		return wire.Errorf(wire.Internal, op, "the payment of %s is not in the journal", e.Reference)
	case p.Instance != s.o.Instance:
		return wire.Errorf(wire.Internal, op, "the link is of the account %s", p.Instance)
	}
	step := s.reverse
	if e.Type == aapay.Refund {
		step = s.refund
	}
	for range 4 {
		end, again, err := step(ctx, e, p)
		switch {
		case err != nil:
			return unavailable(err)
		case end == inDoubt:
			e.End = end // not stored: asked again it may be clear
			return nil
		case end != "":
			return s.finish(ctx, e, end)
		case !again:
			return nil
		}
	}
	return nil
}

// finish journals the end of an undo and what it means for the payment.
func (s *Service) finish(ctx context.Context, e *entry, end aapay.State) error {
	done := *e
	done.End = end
	if e.Txn != 0 && end != aapay.Failed {
		done.Account = aapay.Commit
	}
	err := s.o.DB.Write(ctx, func(tx store.Tx) error {
		if end == reversed {
			p, err := s.one(tx, byReference, e.Original)
			if err != nil || p == nil {
				return err
			}
			if p.End == "" {
				p.End = aapay.Cancelled
			}
			if e.Txn != 0 {
				p.End, p.Account = aapay.Finalized, aapay.Rollback
			}
			if err := s.save(tx, p); err != nil {
				return err
			}
		}
		return s.save(tx, &done)
	})
	if err != nil {
		return unavailable(err)
	}
	*e = done
	s.mu.Lock()
	delete(s.mark, e.Reference)
	s.mu.Unlock()
	return nil
}

// reverse takes a payment back: the link is deleted until it is final, then read, and what was paid on it is refunded.
func (s *Service) reverse(ctx context.Context, e, p *entry) (end aapay.State, again bool, err error) {
	link, err := s.link(ctx, p)
	if err != nil {
		return "", false, err
	}
	if payable(link) {
		if err := s.deleting(ctx, p); err != nil {
			return "", false, err
		}
		if _, err := s.o.Links.Delete(ctx, "", p.Link); err != nil && !refusal(err) && wire.CodeOf(err) != wire.NotFound {
			return "", false, err
		}
		if link, err = s.link(ctx, p); err != nil { // whatever the delete said
			return "", false, err
		}
	}
	list, others, err := s.payments(ctx, p)
	if err != nil {
		return "", false, err
	}
	open, waits, returned := link != nil, false, false
	for _, t := range list {
		switch kind := classOf(t.Status); {
		case kind == dead:
		case kind == begun:
			waits = true
		case kind == back:
			returned = true
		case kind == paid:
			return s.giveBack(ctx, e, p, t, nil)
		case kind == held:
			open = true
			if _, err := s.o.Transactions.Delete(ctx, "", t.ID); err != nil && !refusal(err) && wire.CodeOf(err) != wire.NotFound {
				return "", false, err
			}
		default:
			open = true
		}
	}
	if returned && link != nil && link.Status == paylinks.Confirmed {
		open = false
	}
	if open {
		s.stir(e.Reference)
		return "", false, nil
	}
	calm := s.calm(e.Reference)
	switch {
	case link == nil && !p.Deleted: // it was there, and was not deleted from here: that it is not found proves nothing
		if calm < s.o.Settle {
			return "", false, nil
		}
		return inDoubt, false, nil
	case waits && calm < abandoned, !returned && calm < s.o.Settle:
		return "", false, nil
	}
	for _, t := range others {
		if kind := classOf(t.Status); kind != dead && kind != back {
			e.why = "a link that was made before the journal was replaced has the same reference, and somebody has paid it or is paying it: compare the account's portal"
			return inDoubt, false, nil
		}
	}
	return reversed, false, nil
}

// deleting notes that a link is deleted from here, before the delete is sent: "not found" after it is the delete's effect.
func (s *Service) deleting(ctx context.Context, p *entry) error {
	if p.Deleted {
		return nil
	}
	next := *p
	next.Deleted = true
	if err := s.o.DB.Write(ctx, func(tx store.Tx) error { return s.save(tx, &next) }); err != nil {
		return err
	}
	*p = next
	return nil
}

// payable says whether a customer might still pay a link.
func payable(link *paylinks.Link) bool {
	if link == nil {
		return false
	}
	switch link.Status {
	case paylinks.Confirmed, paylinks.Authorized, paylinks.Reserved:
		return false
	}
	return true
}
