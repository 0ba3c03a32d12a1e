package paylink

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"posagent/schemes/aapay"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/store"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// refund gives part of a payment back.
func (s *Service) refund(ctx context.Context, e, p *entry) (end aapay.State, again bool, err error) {
	if e.Txn == 0 {
		list, _, err := s.payments(ctx, p)
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
		if yes, err := s.unknown(ctx, e, *from); yes || err != nil {
			e.why = "the journal was replaced, and more was given back of the payment than it knows of, perhaps under this id: compare the account's portal"
			return inDoubt, false, err
		}
		return s.giveBack(ctx, e, p, *from, &e.Amount)
	}
	t, m, err := s.moved(ctx, e, p)
	if err != nil {
		return "", false, err
	}
	switch m {
	case all:
		return refunded, false, nil
	case nothing:
		switch {
		case e.Refused && s.calm(e.Reference) < s.o.Settle:
			return "", false, nil
		case e.Refused: // and still none has moved
			return aapay.Failed, false, nil
		case !e.Told:
			return s.giveBack(ctx, e, p, t, &e.Amount)
		case s.calm(e.Reference) < s.o.Settle:
			return "", false, nil
		}
		e.why = "the refund was answered as done, perhaps with another's answer: no reading shows it"
		return inDoubt, false, nil
	case running:
		return "", false, nil
	}
	if e.Told && m == other { // something has moved
		return refunded, false, nil
	}
	return inDoubt, false, nil
}

// told notes that a refund was answered as done. Where the answer names nothing of the request it may be that to another refund of the
// same transaction: a reading has to show an effect (law II), and where it shows none the refund is not sent again.
func (s *Service) told(ctx context.Context, e, p *entry) (end aapay.State, again bool, err error) {
	next := *e
	next.Told = true
	if err := s.o.DB.Write(ctx, func(tx store.Tx) error { return s.save(tx, &next) }); err != nil {
		return "", false, err
	}
	*e = next
	if _, m, err := s.moved(ctx, e, p); err != nil || m != all && m != other {
		return "", false, nil // it is read on
	}
	return refunded, false, nil
}

// giveBack sends a refund after a snapshot. amount nil is all that is left.
func (s *Service) giveBack(ctx context.Context, e, p *entry, t paylinks.Transaction, amount *int64) (end aapay.State, again bool, err error) {
	first := e.Txn != t.ID
	switch {
	case first:
		next := *e
		if err := s.o.DB.Write(ctx, func(tx store.Tx) error {
			next.Txn, next.Word, next.Before, next.Counted = t.ID, string(t.Status), given(t), nil
			ended, _, err := s.beside(tx, e, t.ID)
			if err != nil {
				return err
			}
			known := int64(0)
			for _, u := range ended {
				known += u.Amount
				next.Counted = append(next.Counted, u.Reference)
			}
			if known > 0 && t.Status == paylinks.Confirmed { // data that lag: what went back before is no effect of this one
				next.Word = string(paylinks.PartiallyRefunded)
			}
			if next.Before >= 0 {
				next.Before = max(next.Before, known)
			}
			return s.save(tx, &next)
		}); err != nil {
			return "", false, err
		}
		*e = next
	case s.calm(e.Reference) < s.o.Settle: // the request before may still be on its way
		return "", false, nil
	}
	key := wire.Key(e.Reference + "." + number(t.ID))
	s.stir(e.Reference)
	asking, echo := wire.WithEcho(ctx)
	done, err := s.o.Transactions.Refund(asking, key, t.ID, paylinks.RefundRequest{Amount: amount})
	s.stir(e.Reference) // the wait that proves counts from when the call was given up
	yes := err == nil && amount != nil && gaveBack(done.Status)
	switch {
	case yes && echo.Named():
		return refunded, false, nil
	case yes:
		return s.told(ctx, e, p)
	}
	if err == nil { // what is there now is read
		return "", true, nil
	}
	if !refusal(err) && wire.CodeOf(err) != wire.NotFound {
		return "", false, err
	}
	s.log.Warn("refund refused", "reference", e.Reference, "transaction", t.ID, "err", err)
	t, m, err := s.moved(ctx, e, p)
	switch {
	case err != nil:
		return "", false, err
	case m == running:
		return "", false, nil
	case amount == nil && classOf(t.Status) == back:
		return "", true, nil
	case m == all:
		return refunded, false, nil
	case m != nothing && amount != nil && !first: // an attempt before this one may have had its effect
		return inDoubt, false, nil
	case amount != nil && !first: // another site may have said no, whose data lag: it counts once a later reading agrees
		next := *e
		next.Refused = true
		if err := s.o.DB.Write(ctx, func(tx store.Tx) error { return s.save(tx, &next) }); err != nil {
			return "", false, err
		}
		*e = next
		return "", false, nil
	}
	return aapay.Failed, false, nil
}

// gaveBack says whether the word of a refund's answer says that the money went back, or nothing else. Of one that the service is at
// (refund_pending), or that it turned down after all, the transaction tells.
func gaveBack(word paylinks.Status) bool {
	switch word {
	case "", paylinks.Refunded, paylinks.PartiallyRefunded, paylinks.Confirmed:
		return true
	}
	return false
}

// givenHere is how much of a transaction this journal knows to have given back, by other refunds than e.
func (s *Service) givenHere(r store.Reader, e *entry, txn int64) (sum int64, err error) {
	ended, _, err := s.beside(r, e, txn)
	for _, u := range ended {
		sum += u.Amount
	}
	return sum, err
}

// beside are the other refunds of a transaction in this journal: those that have ended with their effect, and those of which that is not
// known yet.
func (s *Service) beside(r store.Reader, e *entry, txn int64) (ended, open []entry, err error) {
	list, err := s.load(r, byOriginal, e.Original)
	for _, u := range list {
		switch {
		case u.Type != aapay.Refund || u.Txn != txn || u.Reference == e.Reference:
		case u.End == refunded:
			ended = append(ended, u)
		case u.End == "":
			open = append(open, u)
		}
	}
	return ended, open, err
}

// move is what happened to a transaction since the snapshot.
type move int

const (
	other   move = iota // something else, too
	nothing             // provably not our refund
	all                 // our refund, and nothing that this journal does not know
	either              // our refund, or another one of this journal
	running             // the service is at it
)

// moved reads the transaction of a refund of part of it, and compares it with the snapshot.
func (s *Service) moved(ctx context.Context, e, p *entry) (t paylinks.Transaction, m move, err error) {
	if t, err = s.transaction(ctx, p, e.Txn); err != nil {
		return t, other, err
	}
	var since besides
	err = s.o.DB.Read(ctx, func(r store.Reader) error {
		since = besides{}
		ended, open, err := s.beside(r, e, e.Txn)
		for _, u := range append(ended, open...) {
			if slices.Contains(e.Counted, u.Reference) {
				continue
			}
			if since.amounts = append(since.amounts, u.Amount); u.Told || u.End != "" {
				since.sure += u.Amount
			}
		}
		return err
	})
	return t, compare(e, t, since), err
}

// besides is what other refunds of this journal have given back since a snapshot, or may have.
type besides struct {
	amounts []int64
	sure    int64 // the sum of those that were answered as done
}

// compare judges a reading. What others did since the snapshot may show in it, or not yet: it shows the effect of this refund where it
// cannot be without, and none where it cannot be with it. One that was answered as done goes before those that were not.
func compare(e *entry, t paylinks.Transaction, since besides) move {
	now := given(t)
	numbers, alone := e.Before >= 0 && now >= 0, len(since.amounts) == 0
	more := now - e.Before
	switch with, without := numbers && sumOf(since.amounts, more-e.Amount), numbers && sumOf(since.amounts, more); {
	case t.Status == paylinks.RefundPending:
		return running
	case with && !without:
		return all
	case without && !with, !numbers && e.Word == string(paylinks.Confirmed) && t.Status == paylinks.Confirmed:
		return nothing
	case !alone && e.Told && (numbers && more-since.sure >= e.Amount || !numbers && since.sure == 0):
		return all
	case !alone && (with || e.Told || !numbers):
		return either
	case !numbers && e.Word == string(paylinks.Confirmed) && (t.Status == paylinks.PartiallyRefunded && e.Amount < total(t) || t.Status == paylinks.Refunded && e.Amount == total(t)):
		return all
	}
	return other
}

// sumOf says whether some of the amounts, or none, come to a sum.
func sumOf(amounts []int64, sum int64) bool {
	sums := map[int64]bool{0: true}
	for _, a := range amounts {
		for s := range maps.Clone(sums) {
			if s+a <= sum {
				sums[s+a] = true
			}
		}
	}
	return sums[sum]
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
