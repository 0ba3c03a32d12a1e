package paylink

import (
	"context"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

// The good ends of an undo.
const (
	reversed aapay.State = "REVERSED"
	refunded aapay.State = "REFUNDED"
)

const (
	pageSize  = 100
	manyPages = 1000           // then the list does not end
	clockSlip = time.Hour      // between the service's clock in one place and in another
	abandoned = 24 * time.Hour // a payment begun so long ago is not finished any more
)

// class says what a transaction's status means for an undo.
type class int

const (
	unclear class = iota // waits for the provider, is disputed, or says something new
	begun
	held
	paid
	back
	dead
)

func classOf(s paylinks.Status) class {
	switch s {
	case paylinks.Waiting, paylinks.Initiated:
		return begun
	case paylinks.Authorized, paylinks.Reserved, paylinks.Uncaptured:
		return held
	case paylinks.Confirmed, paylinks.PartiallyRefunded:
		return paid
	case paylinks.Refunded:
		return back
	case paylinks.Cancelled, paylinks.Declined, paylinks.Failed, paylinks.Expired, paylinks.Insecure:
		return dead
	}
	return unclear
}

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
		if _, err := s.o.Links.Delete(ctx, "", p.Link); err != nil && !refusal(err) && wire.CodeOf(err) != wire.NotFound {
			return "", false, err
		}
		if link, err = s.link(ctx, p); err != nil { // whatever the delete said
			return "", false, err
		}
	}
	list, err := s.payments(ctx, p)
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
			return s.giveBack(ctx, e, t, nil)
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
	case waits && calm < abandoned, !returned && calm < s.o.Settle:
		return "", false, nil
	}
	return reversed, false, nil
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

// refund gives part of a payment back.
func (s *Service) refund(ctx context.Context, e, p *entry) (end aapay.State, again bool, err error) {
	if e.Txn == 0 {
		list, err := s.payments(ctx, p)
		if err != nil {
			return "", false, err
		}
		var from *paylinks.Transaction
		for i, t := range list {
			switch classOf(t.Status) {
			case paid:
				if from != nil {
					return inDoubt, false, nil // which one did the register mean?
				}
				from = &list[i]
			case back:
				end = aapay.Failed // unless another is paid
			}
		}
		if from == nil {
			return end, false, nil
		}
		return s.giveBack(ctx, e, *from, &e.Amount)
	}
	t, err := s.o.Transactions.Read(ctx, e.Txn)
	if err != nil {
		return "", false, err
	}
	switch moved(e, t) {
	case all:
		return refunded, false, nil
	case nothing:
		return s.giveBack(ctx, e, t, &e.Amount)
	case running:
		return "", false, nil
	}
	return inDoubt, false, nil
}

// giveBack sends a refund after a snapshot. amount nil is all that is left.
func (s *Service) giveBack(ctx context.Context, e *entry, t paylinks.Transaction, amount *int64) (end aapay.State, again bool, err error) {
	switch {
	case e.Txn != t.ID:
		next := *e
		next.Txn, next.Word, next.Before = t.ID, string(t.Status), given(t)
		if err := s.o.DB.Write(ctx, func(tx store.Tx) error { return s.save(tx, &next) }); err != nil {
			return "", false, err
		}
		*e = next
	case s.calm(e.Reference) < s.o.Settle: // the request before may still be on its way
		return "", false, nil
	}
	s.stir(e.Reference)
	key := wire.Key(e.Reference + "." + number(t.ID))
	_, err = s.o.Transactions.Refund(ctx, key, t.ID, paylinks.RefundRequest{Amount: amount})
	if err == nil && amount != nil {
		return refunded, false, nil
	}
	if err == nil { // what is there now is read
		return "", true, nil
	}
	if !refusal(err) && wire.CodeOf(err) != wire.NotFound {
		return "", false, err
	}
	s.log.Warn("refund refused", "reference", e.Reference, "transaction", t.ID, "err", err)
	if t, err = s.o.Transactions.Read(ctx, t.ID); err != nil {
		return "", false, err
	}
	switch m := moved(e, t); {
	case m == running:
		return "", false, nil
	case amount == nil && classOf(t.Status) == back:
		return "", true, nil
	case m == all:
		return refunded, false, nil
	}
	return aapay.Failed, false, nil
}

// move is what happened to a transaction since the snapshot.
type move int

const (
	other   move = iota // something else, too
	nothing             // provably not our refund
	all                 // our refund and nothing else
	running             // the service is at it
)

// moved compares a transaction with the snapshot of a refund of part of it.
func moved(e *entry, t paylinks.Transaction) move {
	now := given(t)
	switch {
	case t.Status == paylinks.RefundPending:
		return running
	case e.Before >= 0 && now >= 0 && now-e.Before == e.Amount:
		return all
	case e.Before >= 0 && now >= 0 && now == e.Before:
		return nothing
	case e.Before >= 0 && now >= 0:
		return other
	case e.Word == string(paylinks.Confirmed) && t.Status == paylinks.Confirmed:
		return nothing
	case e.Word == string(paylinks.Confirmed) && (t.Status == paylinks.PartiallyRefunded && e.Amount < total(t) || t.Status == paylinks.Refunded && e.Amount == total(t)):
		return all
	}
	return other
}

// given is how much of a transaction went back, -1 if unknown.
func given(t paylinks.Transaction) int64 {
	if t.Invoice == nil || t.Invoice.RefundedAmount == nil {
		return -1
	}
	return *t.Invoice.RefundedAmount
}

func total(t paylinks.Transaction) int64 {
	if t.Invoice == nil {
		return 0
	}
	return t.Invoice.TotalAmount
}

// stir notes that something moves.
func (s *Service) stir(reference string) {
	s.mu.Lock()
	s.mark[reference] = time.Now()
	s.mu.Unlock()
}

// calm is for how long nothing has moved, as far as this run of the program knows.
func (s *Service) calm(reference string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, known := s.mark[reference]
	if !known {
		since = time.Now()
		s.mark[reference] = since
	}
	return time.Since(since)
}
